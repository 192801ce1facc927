package journal

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/oklog/ulid/v2"
	"go.etcd.io/bbolt"
)

// tamper writes to the file behind the journal's back.
func tamper(t *testing.T, path string, fn func(tx *bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	must(t, err)
	must(t, db.Update(fn))
	must(t, db.Close())
}

func TestVerifyNamesTheFirstBadEvent(t *testing.T) {
	// Records 0, 2, 4 … lie in changes, 1, 3, 5 … in calls; 8 and 9 are the heads.
	edit := func(l Lane, n int, change func(v []byte) []byte) func(*testing.T, *bbolt.Tx, []ulid.ULID) {
		return func(t *testing.T, tx *bbolt.Tx, ids []ulid.ULID) {
			b := tx.Bucket([]byte(l.String()))
			must(t, b.Put(ids[n][:], change(bytes.Clone(b.Get(ids[n][:])))))
		}
	}
	drop := func(l Lane, n int) func(*testing.T, *bbolt.Tx, []ulid.ULID) {
		return func(t *testing.T, tx *bbolt.Tx, ids []ulid.ULID) {
			must(t, tx.Bucket([]byte(l.String())).Delete(ids[n][:]))
		}
	}
	lastByte := func(v []byte) []byte { v[len(v)-1] ^= 1; return v }
	for name, c := range map[string]struct {
		spoil func(*testing.T, *bbolt.Tx, []ulid.ULID)
		bad   int // index of the event that must be named, -1: none can be
	}{
		"payload in the middle": {edit(Changes, 4, lastByte), 4},
		"payload of the first":  {edit(Calls, 1, lastByte), 1},
		"payload of the head":   {edit(Calls, 9, lastByte), 9},
		"both lanes": {func(t *testing.T, tx *bbolt.Tx, ids []ulid.ULID) {
			edit(Changes, 6, lastByte)(t, tx, ids)
			edit(Calls, 3, lastByte)(t, tx, ids)
		}, 3},
		"envelope cut":          {edit(Calls, 5, func(v []byte) []byte { return v[:20] }), 5},
		"envelope of another":   {edit(Changes, 4, func(v []byte) []byte { v[19] ^= 1; return v }), 4},
		"dropped the first":     {drop(Changes, 0), 2},
		"dropped in the middle": {drop(Changes, 4), 2},
		"dropped the head":      {drop(Changes, 8), 8},
		"a head of the past": {func(t *testing.T, tx *bbolt.Tx, ids []ulid.ULID) {
			b := tx.Bucket([]byte(bucketMeta))
			h, err := decodeHead(b.Get([]byte("head.calls")))
			must(t, err)
			h.ID, h.Count = ids[7], h.Count-1
			must(t, b.Put([]byte("head.calls"), encodeHead(h)))
		}, 9},
		"a wrong count": {func(t *testing.T, tx *bbolt.Tx, ids []ulid.ULID) {
			b := tx.Bucket([]byte(bucketMeta))
			h, err := decodeHead(b.Get([]byte("head.calls")))
			must(t, err)
			h.Count++
			must(t, b.Put([]byte("head.calls"), encodeHead(h)))
		}, 9},
		"another workspace": {func(t *testing.T, tx *bbolt.Tx, ids []ulid.ULID) {
			must(t, tx.Bucket([]byte(bucketMeta)).Put([]byte(keyWorkspace), ids[0][:]))
		}, 0},
		"one identifier in both lanes": {func(t *testing.T, tx *bbolt.Tx, ids []ulid.ULID) {
			var rec Record
			must(t, decode(tx.Bucket([]byte("changes")).Get(ids[6][:]), &rec, func(b []byte) string { return string(b) }))
			rec.Lane = Calls
			v, err := EncodeRecord(nil, rec)
			must(t, err)
			must(t, tx.Bucket([]byte("calls")).Put(ids[6][:], v))
		}, 6},
		"a foreign key": {func(t *testing.T, tx *bbolt.Tx, ids []ulid.ULID) {
			must(t, tx.Bucket([]byte("calls")).Put([]byte("x"), []byte("y")))
		}, -1},
		"a head that is no head": {func(t *testing.T, tx *bbolt.Tx, ids []ulid.ULID) {
			must(t, tx.Bucket([]byte(bucketMeta)).Put([]byte("head.calls"), []byte("x")))
		}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			ids := fill(t, path, 10)
			must(t, verify(path))
			tamper(t, path, func(tx *bbolt.Tx) error { c.spoil(t, tx, ids); return nil })
			err := verify(path)
			var d *DamageError
			if !errors.Is(err, ErrCorrupt) || !errors.As(err, &d) {
				t.Fatalf("got %v", err)
			}
			want := zero
			if c.bad >= 0 {
				want = ids[c.bad]
			}
			if d.At != want {
				t.Errorf("%v\nnames %s, want record %d, %s", err, d.At, c.bad, want)
			}
			if c.bad >= 0 && !bytes.Contains([]byte(err.Error()), []byte(want.String())) {
				t.Errorf("%v\ndoes not name %s", err, want)
			}
		})
	}
}

func TestVerifyProgressAndCancel(t *testing.T) {
	path := newFile(t)
	n := 2*verifyStep + 10
	must(t, update(path, func(tx *Tx) error {
		for range n {
			if _, err := add(tx, Calls, epoch, "x"); err != nil {
				return err
			}
		}
		return nil
	}))
	var seen []uint64
	must(t, view(path, func(tx *Tx) error {
		return tx.Verify(context.Background(), func(done, total uint64) {
			if total != uint64(n) {
				t.Errorf("total %d", total)
			}
			seen = append(seen, done)
		})
	}))
	if len(seen) != 3 || seen[2] != uint64(n) {
		t.Errorf("progress %v", seen)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err := view(path, func(tx *Tx) error { return tx.Verify(ctx, func(uint64, uint64) { cancel() }) })
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}
