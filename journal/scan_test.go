package journal

import (
	"iter"
	"slices"
	"testing"

	"github.com/oklog/ulid/v2"
)

func collect(t *testing.T, seq iter.Seq2[Record, error]) (ids []ulid.ULID) {
	t.Helper()
	for rec, err := range seq {
		must(t, err)
		ids = append(ids, rec.ID)
	}
	return ids
}

func TestScans(t *testing.T) {
	path := newFile(t)
	ids := fill(t, path, 9) // even: changes, odd: calls
	every := func(from, step int) (out []ulid.ULID) {
		for i := from; i < len(ids); i += step {
			out = append(out, ids[i])
		}
		return out
	}
	reversed := func(s []ulid.ULID) []ulid.ULID { slices.Reverse(s); return s }
	must(t, view(path, func(tx *Tx) error {
		for _, c := range []struct {
			name string
			seq  iter.Seq2[Record, error]
			want []ulid.ULID
		}{
			{"all", tx.All(zero, zero), ids},
			{"all after", tx.All(ids[3], zero), ids[4:]},
			{"all through", tx.All(zero, ids[3]), ids[:4]},
			{"all between", tx.All(ids[1], ids[6]), ids[2:7]},
			{"all after a gap", tx.All(Successor(ids[1]), zero), ids[2:]},
			{"all through a gap", tx.All(zero, Successor(ids[1])), ids[:2]},
			{"all after the end", tx.All(ids[8], zero), nil},
			{"changes", tx.Records(Changes, zero, zero), every(0, 2)},
			{"calls", tx.Records(Calls, zero, zero), every(1, 2)},
			{"changes between", tx.Records(Changes, ids[1], ids[5]), []ulid.ULID{ids[2], ids[4]}},
			{"changes after one", tx.Records(Changes, ids[2], zero), every(4, 2)},
			{"calls backward", tx.Backward(Calls, zero), reversed(every(1, 2))},
			{"calls backward before", tx.Backward(Calls, ids[5]), []ulid.ULID{ids[3], ids[1]}},
			{"calls backward before a gap", tx.Backward(Calls, ids[4]), []ulid.ULID{ids[3], ids[1]}},
			{"calls backward past the end", tx.Backward(Calls, Successor(ids[8])), reversed(every(1, 2))},
			{"backward before the first", tx.Backward(Changes, ids[0]), nil},
		} {
			if got := collect(t, c.seq); !slices.Equal(got, c.want) {
				t.Errorf("%s: got %v, want %v", c.name, got, c.want)
			}
			for range c.seq { // stopping early must not run on
				break
			}
		}
		return nil
	}))
	empty := newFile(t)
	must(t, view(empty, func(tx *Tx) error {
		for _, seq := range []iter.Seq2[Record, error]{tx.All(zero, zero), tx.Records(Calls, zero, zero), tx.Backward(Changes, zero), tx.Backward(Changes, ids[0])} {
			if got := collect(t, seq); got != nil {
				t.Errorf("an empty journal yields %v", got)
			}
		}
		return nil
	}))
}

// A transaction sees what it has appended.
func TestScanSeesOwnAppends(t *testing.T) {
	path := newFile(t)
	ids := fill(t, path, 2)
	must(t, update(path, func(tx *Tx) error {
		id, err := add(tx, Calls, epoch, "new")
		must(t, err)
		if got := collect(t, tx.All(zero, zero)); !slices.Equal(got, append(ids, id)) {
			t.Errorf("got %v", got)
		}
		rec, ok, err := tx.Record(id)
		if err != nil || !ok || rec.Lane != Calls {
			t.Errorf("%v %v %v", rec, ok, err)
		}
		return nil
	}))
}
