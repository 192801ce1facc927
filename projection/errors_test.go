package projection

import (
	"errors"
	"testing"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"
)

// A damaged row is an error of whoever reads it, and is named.
func TestDamagedRows(t *testing.T) {
	tables, _ := told(t)
	for _, p := range All {
		name, _ := p.Ident()
		for key := range tables.table(name).Scan("") {
			tables.table(name).Put(key, []byte("\xc1 damaged"))
		}
	}
	table := tables.table
	reads := map[string]func() error{
		"artifact": func() error { _, _, err := Artifacts{table("artifacts")}.Get(uid(1)); return err },
		"source":   func() error { _, _, err := Sources{table("sources")}.Get(uid(1)); return err },
		"want":     func() error { _, err := Wants{table("wants")}.Has(uid(1), hash(7)); return err },
		"id":       func() error { _, _, err := IDs{table("ids")}.Get("PRD-001"); return err },
		"counter":  func() error { _, err := Counters{table("counters")}.Last("prd"); return err },
		"key":      func() error { _, _, err := Keys{table("keys")}.Get(hash(1)); return err },
		"link":     func() error { _, _, err := Relations{table("relations")}.Get(uid(2), "informs", "PRD-001"); return err },
		"artifacts": func() (err error) {
			for _, err = range (Artifacts{table("artifacts")}).Scan() {
			}
			return err
		},
		"clashes": func() (err error) {
			for _, err = range (IDs{table("ids")}).Clashes() {
			}
			return err
		},
		"from": func() (err error) {
			for _, err = range (Relations{table("relations")}).From(uid(2)) {
			}
			return err
		},
		"to": func() (err error) {
			for _, err = range (Relations{table("relations")}).To(uid(1)) {
			}
			return err
		},
		"fold": func() error {
			return artifacts.Apply(table("artifacts"), at(uid(1), 99, artifact.TitleChanged{Title: "x"}))
		},
		"link again": func() error {
			return (relations{}).Apply(table("relations"), at(uid(2), 99, artifact.RelationAdded{Relation: "informs", Target: "PRD-001"}))
		},
		"appearance": func() error {
			return (relations{}).Apply(table("relations"), at(uid(9), 99, artifact.Created{ID: "PRD-777"}))
		},
	}
	for name, read := range reads {
		if err := read(); !errors.Is(err, ErrRow) {
			t.Errorf("%s: error %v, want ErrRow", name, err)
		}
	}
}

// full is a table on a disk that takes n more writes.
type full struct {
	Memory
	n int
}

var errFull = errors.New("no space left")

func (f *full) Put(key string, val []byte) error {
	if f.n--; f.n < 0 {
		return errFull
	}
	return f.Memory.Put(key, val)
}

func (f *full) Delete(key string) error {
	if f.n--; f.n < 0 {
		return errFull
	}
	return f.Memory.Delete(key)
}

// No failed write is passed over: a fold that reports success has written all.
func TestFailedWritesAreReported(t *testing.T) {
	events := append(story(), at(uid(1), 90, artifact.RelationRemoved{Relation: "based_on", Target: "adr-2"}),
		at(uid(4), 91, artifact.RelationRemoved{Relation: "informs", Target: "PRD-777"}))
	for _, p := range All {
		name, _ := p.Ident()
		want := NewMemory()
		foldInto(p, want, events)
		for n := 0; ; n++ {
			table := &full{n: n}
			if err := foldInto(p, table, events); err == nil {
				if d := Compare(name, want, &table.Memory); d != nil {
					t.Errorf("%s: with %d writes done no error, but %+v", name, n, d)
				}
				break
			} else if !errors.Is(err, errFull) {
				t.Errorf("%s: error %v, want %v", name, err, errFull)
			}
			if n > 100 {
				t.Fatalf("%s: never succeeds", name)
			}
		}
	}
	if err := Rebuild(seq(story()), func(string) Table { return &full{n: 1} }); !errors.Is(err, errFull) {
		t.Errorf("rebuild: error %v, want %v", err, errFull)
	}
}

func foldInto(p Projector, t Table, events []event.Event) error {
	for _, e := range events {
		if err := p.Apply(t, e); err != nil {
			return err
		}
	}
	return nil
}
