package journal

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"
)

// Commit order is key order over both lanes, whatever the clock does and however
// often the file is opened in between.
func TestOrderUnderHostileClocks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		must(t, err)
		path := filepath.Join(dir, rapid.StringMatching(`[a-z]{12}`).Draw(rt, "name")+".db")
		must(t, Create(path, workspaceID, nil))
		now := epoch
		var want []ulid.ULID
		chance := rand.NewChaCha8([32]byte{})
		for range rapid.IntRange(1, 6).Draw(rt, "opens") {
			err := update(path, func(tx *Tx) error {
				for range rapid.IntRange(1, 8).Draw(rt, "events") {
					step := rapid.SampledFrom([]time.Duration{0, 0, time.Microsecond, time.Millisecond, time.Hour, -time.Hour, -100 * 365 * 24 * time.Hour, 24 * 365 * time.Hour}).Draw(rt, "step")
					now = now.Add(step)
					id, err := tx.Next(now, chance)
					if err != nil {
						return err
					}
					lane := rapid.SampledFrom(lanes[:]).Draw(rt, "lane")
					if err := tx.Append(lane, Draft{ID: id, Type: "t", Wall: now.UnixNano(), Run: id, Payload: []byte{0x80}}); err != nil {
						return err
					}
					if now.UnixMilli() > int64(id.Time()) {
						rt.Fatalf("identifier %s lies before its wall time %v", id, now)
					}
					want = append(want, id)
				}
				return nil
			})
			if err != nil {
				rt.Fatal(err)
			}
		}
		var got []ulid.ULID
		if err := view(path, func(tx *Tx) error {
			for rec, err := range tx.All(zero, zero) {
				if err != nil {
					return err
				}
				got = append(got, rec.ID)
			}
			return nil
		}); err != nil {
			rt.Fatal(err)
		}
		if len(got) != len(want) {
			rt.Fatalf("%d records, want %d", len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] || i > 0 && got[i].Compare(got[i-1]) <= 0 {
				rt.Fatalf("record %d is %s, want %s", i, got[i], want[i])
			}
		}
		if err := verify(path); err != nil {
			rt.Fatal(err)
		}
	})
}

func TestNext(t *testing.T) {
	path := newFile(t)
	must(t, update(path, func(tx *Tx) error {
		a, err := tx.Next(epoch, fixedEntropy(0xff))
		must(t, err)
		b, err := tx.Next(epoch.Add(-time.Hour), fixedEntropy(0)) // entropy is used up: the carry goes into the time
		must(t, err)
		if b != Successor(a) || b.Time() != a.Time()+1 {
			t.Errorf("after %s came %s", a, b)
		}
		if _, err := tx.Next(time.UnixMilli(1<<48), fixedEntropy(0)); !errors.Is(err, ErrOrder) {
			t.Errorf("a time beyond the number space: %v", err)
		}
		if _, err := tx.Next(epoch.Add(time.Hour), failing{}); !errors.Is(err, errNoEntropy) {
			t.Errorf("failing entropy: %v", err)
		}
		return nil
	}))
	must(t, update(path, func(tx *Tx) error {
		id, err := tx.Next(time.Unix(-5, 0), failing{})
		if err != nil || id != Successor(zero) {
			t.Errorf("before 1970 in an empty journal: %s %v", id, err)
		}
		return nil
	}))
}

var errNoEntropy = errors.New("no entropy")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errNoEntropy }

func TestSuccessor(t *testing.T) {
	var top ulid.ULID
	for i := range top {
		top[i] = 0xff
	}
	for _, c := range []struct{ in, want string }{
		{"01J0000000000000000000000W", "01J0000000000000000000000X"},
		{"01J000000000000000000000ZZ", "01J00000000000000000000100"},
		{"01J0000000ZZZZZZZZZZZZZZZZ", "01J00000010000000000000000"},
	} {
		if got := Successor(ulid.MustParse(c.in)); got.String() != c.want {
			t.Errorf("after %s came %s", c.in, got)
		}
	}
	if !Successor(top).IsZero() {
		t.Error("the highest has a successor")
	}
}

func TestAppendRefusesWhatIsNotAboveBothHeads(t *testing.T) {
	path := newFile(t)
	ids := fill(t, path, 4) // changes, calls, changes, calls
	draft := func(id ulid.ULID) Draft { return Draft{ID: id, Type: "t", Run: id, Payload: []byte{0x80}} }
	up := Successor(ids[3])
	must(t, update(path, func(tx *Tx) error {
		for name, drafts := range map[string][]Draft{
			"the head itself":         {draft(ids[3])},
			"above its own lane only": {draft(Successor(ids[2]))},
			"twice the same":          {draft(up), draft(up)},
			"falling":                 {draft(Successor(up)), draft(up)},
			"zero":                    {draft(zero)},
		} {
			err := tx.Append(Changes, drafts...)
			if err == nil || name != "zero" && !errors.Is(err, ErrOrder) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, spoil := range map[string]func(*Draft){
			"no type":             func(d *Draft) { d.Type = "" },
			"type not UTF-8":      func(d *Draft) { d.Type = "\xff" },
			"negative version":    func(d *Draft) { d.Version = -1 },
			"no payload":          func(d *Draft) { d.Payload = nil },
			"payload no map":      func(d *Draft) { d.Payload = []byte{0x90} },
			"bytes after the map": func(d *Draft) { d.Payload = []byte{0x80, 0x80} },
			"map cut short":       func(d *Draft) { d.Payload = []byte{0x81, 0xa1} },
		} {
			d := draft(up)
			spoil(&d)
			if err := tx.Append(Changes, draft(up), d); err == nil {
				t.Errorf("%s was appended", name)
			}
		}
		if err := tx.Append(Lane(3), draft(up)); err == nil {
			t.Error("a third lane was appended to")
		}
		if h := tx.Head(Changes); h.ID != ids[2] || h.Count != 2 {
			t.Errorf("a refused append moved the head: %+v", h)
		}
		return tx.Append(Changes, draft(up), draft(Successor(up)))
	}))
	must(t, verify(path))
}
