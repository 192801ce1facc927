package projection

import (
	"bytes"
	"fmt"
	"iter"

	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// Projector keeps one table up to date with the events.
type Projector interface {
	// Ident names the table and the version of its rows. A stored table of
	// another version is not to be read.
	Ident() (name string, version int)
	// Apply folds one event into t. Events must come in the order of the
	// journal. The error is one of t or of a row in it (ErrRow): an event
	// alone makes none.
	Apply(t Table, e event.Event) error
}

// View is a Projector whose rows each depend on the events of their own key.
type View[R any] struct {
	Name    string // of the table
	Version int    // raised when rows change their shape or meaning

	Keys   func(event.Event) []string // rows the event touches; nil for none
	Fold   func(key string, row R, e event.Event) (next R, keep bool)
	Encode func(R) []byte          // deterministic; a new slice each time
	Decode func([]byte) (R, error) // must not keep the slice; errors wrap ErrRow
}

// Ident implements Projector.
func (v View[R]) Ident() (name string, version int) { return v.Name, v.Version }

// Apply implements Projector.
func (v View[R]) Apply(t Table, e event.Event) error {
	for _, key := range v.Keys(e) {
		old := t.Get(key)
		row, err := v.decode(key, old)
		if err != nil {
			return err
		}
		switch next, keep := v.Fold(key, row, e); {
		case keep:
			if val := v.Encode(next); old == nil || !bytes.Equal(val, old) {
				err = t.Put(key, val)
			}
		case old != nil:
			err = t.Delete(key)
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", v.Name, err)
		}
	}
	return nil
}

func (v View[R]) decode(key string, val []byte) (row R, err error) {
	if val == nil {
		return row, nil
	}
	if row, err = v.Decode(val); err != nil {
		return row, fmt.Errorf("table %s, row %q: %w", v.Name, key, err)
	}
	return row, nil
}

// Get reads one row. The error wraps ErrRow.
func (v View[R]) Get(t Table, key string) (row R, ok bool, err error) {
	val := t.Get(key)
	row, err = v.decode(key, val)
	return row, val != nil && err == nil, err
}

// Scan reads the rows whose keys begin with prefix, by rising key. It ends
// with the first row that cannot be read; the error wraps ErrRow.
func (v View[R]) Scan(t Table, prefix string) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for key, val := range t.Scan(prefix) {
			row, err := v.decode(key, val)
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// folding is a run of one projector over events from the first one on.
type folding interface {
	apply(event.Event) error
	// done is what it comes to: the rows, and the last event that touched a
	// row, a deleted one too; zero for a row that no event touched.
	done() (rows *Memory, last func(key string) ulid.ULID)
}

// start begins a fold of p from nothing.
func start(p Projector) folding {
	if s, ok := p.(interface{ start() folding }); ok {
		return s.start()
	}
	return &plainFolding{projector: p, last: map[string]ulid.ULID{}}
}

// viewFolding keeps rows decoded until the end. Most events hit a row that an
// earlier one made, so that this saves a decoding and an encoding for each.
type viewFolding[R any] struct {
	view  View[R]
	cells map[string]*cell[R]
}

type cell[R any] struct {
	row  R
	live bool
	last ulid.ULID
}

func (v View[R]) start() folding { return &viewFolding[R]{view: v, cells: map[string]*cell[R]{}} }

func (f *viewFolding[R]) apply(e event.Event) error {
	for _, key := range f.view.Keys(e) {
		c := f.cells[key]
		if c == nil {
			c = new(cell[R])
			f.cells[key] = c
		}
		if c.row, c.live = f.view.Fold(key, c.row, e); !c.live {
			c.row = *new(R)
		}
		c.last = e.ID
	}
	return nil
}

func (f *viewFolding[R]) done() (*Memory, func(string) ulid.ULID) {
	rows := &Memory{rows: make(map[string][]byte, len(f.cells))}
	for key, c := range f.cells {
		if c.live {
			rows.Put(key, f.view.Encode(c.row))
		}
		c.row = *new(R) // from here on only last is asked for
	}
	return rows, func(key string) (last ulid.ULID) {
		if c := f.cells[key]; c != nil {
			last = c.last
		}
		return last
	}
}

// plainFolding runs any projector over a Memory. It is itself the Table that
// the projector writes to, so as to note which event touched which row.
type plainFolding struct {
	Memory
	projector Projector
	last      map[string]ulid.ULID
	current   ulid.ULID
}

func (f *plainFolding) apply(e event.Event) error {
	f.current = e.ID
	return f.projector.Apply(f, e)
}

// Put implements Table.
func (f *plainFolding) Put(key string, val []byte) error {
	f.last[key] = f.current
	return f.Memory.Put(key, val)
}

// Delete implements Table.
func (f *plainFolding) Delete(key string) error {
	f.last[key] = f.current
	return f.Memory.Delete(key)
}

func (f *plainFolding) done() (*Memory, func(string) ulid.ULID) {
	return &f.Memory, func(key string) ulid.ULID { return f.last[key] }
}
