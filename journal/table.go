package journal

import (
	"bytes"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"
)

// Table is a set of rows beside the lanes, written in the transaction of the
// records they are folded from. It ends with its transaction.
//
// A table that was never written to is empty. Damage reads as absence, see Tx.
type Table struct {
	tx     *Tx
	name   string
	writes int // counts Put, Delete and Reset: a scan that sees it move seeks again
}

// Table returns the table called name.
func (tx *Tx) Table(name string) *Table {
	t := tx.tables[name]
	if t == nil {
		if tx.tables == nil {
			tx.tables = map[string]*Table{}
		}
		t = &Table{tx: tx, name: prefixTable + name}
		tx.tables[name] = t
	}
	return t
}

// Get returns a copy of the row at key, nil when there is none.
func (t *Table) Get(key string) []byte {
	v, _ := t.tx.get(t.name, []byte(key))
	return v
}

// Put stores a copy of row at key, which must not be empty.
func (t *Table) Put(key string, row []byte) error {
	b, err := t.create()
	if err != nil {
		return err
	}
	t.writes++
	return t.tx.putIn(b, []byte(key), t.tx.mem.clone(row))
}

// Delete removes the row at key; removing none is fine.
func (t *Table) Delete(key string) error {
	b := t.tx.bucket(t.name)
	if b == nil {
		return t.tx.err
	}
	t.writes++
	t.tx.dirty = true
	var failed error
	if err := t.tx.guard(func() { failed = b.Delete([]byte(key)) }); err != nil {
		return err
	}
	return failed
}

// Scan iterates over the rows whose key begins with prefix, in key order. Keys
// and rows are copies. The table may be written to meanwhile; the scan goes on
// behind the key it has yielded.
func (t *Table) Scan(prefix string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		b := t.tx.bucket(t.name)
		if b == nil {
			return
		}
		var (
			c      = b.Cursor()
			want   = []byte(prefix)
			writes = t.writes
			key    string
			row    []byte
			more   bool
		)
		// take copies what the cursor stands on while the access is guarded.
		take := func(k, v []byte) {
			if more = k != nil && bytes.HasPrefix(k, want); more {
				key, row = string(k), t.tx.mem.clone(v)
			}
		}
		err := t.tx.guard(func() { take(c.Seek(want)) })
		for err == nil && more && yield(key, row) {
			err = t.tx.guard(func() {
				if t.writes == writes {
					take(c.Next())
					return
				}
				writes = t.writes
				more = false
				b := t.tx.bucket(t.name)
				if b == nil {
					return // Reset, and nothing put since
				}
				c = b.Cursor()
				k, v := c.Seek([]byte(key))
				if k != nil && string(k) == key {
					k, v = c.Next()
				}
				take(k, v)
			})
		}
	}
}

// Reset removes all rows.
func (t *Table) Reset() error {
	if t.tx.bucket(t.name) == nil {
		return t.tx.err
	}
	t.writes++
	t.tx.dirty = true
	delete(t.tx.buckets, t.name)
	var failed error
	if err := t.tx.guard(func() { failed = t.tx.b.DeleteBucket([]byte(t.name)) }); err != nil {
		return err
	}
	return failed
}

// create returns the table's bucket, made when it is not there.
func (t *Table) create() (*bbolt.Bucket, error) {
	if b := t.tx.bucket(t.name); b != nil || t.tx.err != nil {
		return b, t.tx.err
	}
	t.tx.dirty = true
	var failed error
	if err := t.tx.guard(func() { _, failed = t.tx.b.CreateBucket([]byte(t.name)) }); err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, fmt.Errorf("table %s: %w", t.name, failed)
	}
	return t.tx.bucket(t.name), t.tx.err
}
