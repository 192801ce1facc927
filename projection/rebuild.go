package projection

import (
	"bytes"
	"fmt"
	"iter"

	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// Set is a list of projectors with tables of different names.
type Set []Projector

// All lists the projectors of this package. They fold the lane `changes`.
var All = Set{
	artifacts,
	sources,
	wants,
	ids,
	relations{},
	counters,
	keys,
}

// Rebuild folds the events, all of them from the first one on, and makes the
// tables of All hold the outcome and nothing else: [Set.Fold] and
// [State.Store] in one.
func Rebuild(events iter.Seq2[event.Event, error], tables func(name string) Table) error {
	s, err := All.Fold(events)
	if err != nil {
		return err
	}
	return s.Store(tables)
}

// Verify folds the events, all of them from the first one on, in memory and
// compares the outcome with the stored tables of All: [Set.Fold] and
// [State.Compare] in one. It writes nothing. A nil Drift says that they agree.
func Verify(events iter.Seq2[event.Event, error], stored func(name string) Table) (*Drift, error) {
	s, err := All.Fold(events)
	if err != nil {
		return nil, err
	}
	return s.Compare(stored), nil
}

// State is what events come to: the tables of a Set, folded from nothing, in
// memory. Not safe for concurrent use.
type State struct {
	names  []string
	tables map[string]*Memory
	last   map[string]func(key string) ulid.ULID // by table; last event that touched a row
}

// Fold folds events, from the first one on, into all tables of the set. The
// error is one of events.
func (s Set) Fold(events iter.Seq2[event.Event, error]) (*State, error) {
	folds := make([]folding, len(s))
	for i, p := range s {
		folds[i] = start(p)
	}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		for _, f := range folds {
			if err := f.apply(e); err != nil {
				return nil, err
			}
		}
	}
	state := &State{tables: map[string]*Memory{}, last: map[string]func(string) ulid.ULID{}}
	for i, p := range s {
		name, _ := p.Ident()
		state.names = append(state.names, name)
		state.tables[name], state.last[name] = folds[i].done()
	}
	return state, nil
}

// Table is one of the folded tables; an empty one if the set has none of that
// name.
func (s *State) Table(name string) Table {
	if t := s.tables[name]; t != nil {
		return t
	}
	return NewMemory()
}

// Store makes the stored tables equal to the folded ones. Rows are written by
// rising key, and only those that differ: storing what is right already writes
// nothing. The error is one of a table.
func (s *State) Store(tables func(name string) Table) error {
	for _, name := range s.names {
		// Changes are collected first: not every table can be written while
		// it is scanned.
		t := tables(name)
		changes := NewOverlay(t)
		for key, row := range differences(s.tables[name], t) {
			if row == nil {
				changes.Delete(key)
			} else {
				changes.Put(key, row)
			}
		}
		if err := changes.Flush(t); err != nil {
			return fmt.Errorf("rebuild table %s: %w", name, err)
		}
	}
	return nil
}

// Drift says how stored rows differ from what the events come to.
type Drift struct {
	// The divergence that comes first in the journal. Event is the last event
	// that touched the row, so that the row should show what it did. It is zero
	// for a row that no event accounts for; such a row is named only where
	// there is no other.
	Table string
	Key   string // raw bytes
	Event ulid.ULID

	Rows int // divergent rows, of all tables compared
}

// Compare compares the stored tables with the folded ones byte for byte, both
// ways. Nil if they agree.
func (s *State) Compare(stored func(name string) Table) *Drift {
	var first *Drift
	for _, name := range s.names {
		d := compare(name, s.tables[name], stored(name), s.last[name])
		switch {
		case first == nil:
			first = d
		case d == nil:
		case before(d.Event, first.Event):
			d.Rows += first.Rows
			first = d
		default:
			first.Rows += d.Rows
		}
	}
	return first
}

// Compare compares the rows of two tables byte for byte, both ways. Nil if they
// agree. The Event of the Drift is zero: tables do not know it, a State does.
func Compare(name string, want, got Table) *Drift { return compare(name, want, got, unknown) }

func unknown(string) ulid.ULID { return ulid.ULID{} }

func compare(name string, want, got Table, last func(string) ulid.ULID) *Drift {
	var first *Drift
	rows := 0
	for key := range differences(want, got) {
		rows++
		if e := last(key); first == nil || before(e, first.Event) {
			first = &Drift{Table: name, Key: key, Event: e}
		}
	}
	if first != nil {
		first.Rows = rows
	}
	return first
}

// before orders events; one that is not known comes last.
func before(a, b ulid.ULID) bool {
	if a == (ulid.ULID{}) || b == (ulid.ULID{}) {
		return a != (ulid.ULID{})
	}
	return a.Compare(b) < 0
}

// differences yields the keys, rising, at which got is not as want, and the row
// that want has there: nil for none.
func differences(want, got Table) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		next, stop := iter.Pull2(want.Scan(""))
		defer stop()
		key, row, more := next()
		for gotKey, gotRow := range got.Scan("") {
			for more && key < gotKey {
				if !yield(key, row) {
					return
				}
				key, row, more = next()
			}
			switch {
			case !more || key != gotKey:
				if !yield(gotKey, nil) {
					return
				}
				continue
			case !bytes.Equal(row, gotRow) && !yield(key, row):
				return
			}
			key, row, more = next()
		}
		for ; more; key, row, more = next() {
			if !yield(key, row) {
				return
			}
		}
	}
}
