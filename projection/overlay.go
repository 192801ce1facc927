package projection

import (
	"iter"
	"maps"
	"slices"
)

// Overlay is a Table that reads through to Base and keeps what is written to
// itself: what a call that has not been committed would change. Base is never
// written, except by Flush onto it. Not safe for concurrent use.
type Overlay struct {
	Base Table

	put  Memory
	gone map[string]bool // deleted here, whatever Base says
}

// NewOverlay returns an overlay that changes nothing yet.
func NewOverlay(base Table) *Overlay { return &Overlay{Base: base} }

// Get returns the row as the overlay has it, else as Base has it.
func (o *Overlay) Get(key string) []byte {
	if row, ok := o.put.rows[key]; ok {
		return row
	}
	if o.gone[key] {
		return nil
	}
	return o.Base.Get(key)
}

// Put sets a row in the overlay alone. It never fails.
func (o *Overlay) Put(key string, val []byte) error {
	delete(o.gone, key)
	return o.put.Put(key, val)
}

// Delete hides a row. It never fails.
func (o *Overlay) Delete(key string) error {
	if o.gone == nil {
		o.gone = map[string]bool{}
	}
	o.gone[key] = true
	return o.put.Delete(key)
}

// Scan yields the rows of both by rising key. The overlay may be written
// meanwhile: a row deleted before its turn is left out, one put to a key of
// its own may be.
func (o *Overlay) Scan(prefix string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		own := o.put.keys(prefix)
		for key, row := range o.Base.Scan(prefix) {
			for len(own) > 0 && own[0] < key {
				if !o.yieldOwn(own[0], yield) {
					return
				}
				own = own[1:]
			}
			if len(own) > 0 && own[0] == key {
				own = own[1:]
			}
			if mine, ok := o.put.rows[key]; ok {
				row = mine
			} else if o.gone[key] {
				continue
			}
			if !yield(key, row) {
				return
			}
		}
		for _, key := range own {
			if !o.yieldOwn(key, yield) {
				return
			}
		}
	}
}

func (o *Overlay) yieldOwn(key string, yield func(string, []byte) bool) bool {
	row, ok := o.put.rows[key]
	return !ok || yield(key, row)
}

// Flush writes what the overlay changed to a table, by rising key, deletions
// in their places, so that the same changes write the same pages. The overlay
// stays as it is. The error is the first of to.
func (o *Overlay) Flush(to Table) error {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(o.put.rows)), maps.Keys(o.gone))
	slices.Sort(keys)
	for _, key := range keys {
		var err error
		if row, ok := o.put.rows[key]; ok {
			err = to.Put(key, row)
		} else {
			err = to.Delete(key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
