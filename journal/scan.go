package journal

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"github.com/oklog/ulid/v2"
	"go.etcd.io/bbolt"
)

// Record returns the record id, in whichever lane it stands.
func (tx *Tx) Record(id ulid.ULID) (rec Record, ok bool, err error) {
	for _, l := range lanes {
		b := tx.bucket(l.String())
		if b == nil {
			return Record{}, false, tx.gone(l)
		}
		var bad error
		if err := tx.guard(func() {
			if v := b.Get(id[:]); v != nil {
				ok, bad = true, tx.read(l, id[:], v, &rec)
			}
		}); err != nil {
			return Record{}, false, err
		}
		if bad != nil {
			return Record{}, false, bad
		}
		if ok {
			return rec, true, nil
		}
	}
	return Record{}, false, nil
}

// Records iterates over one lane in order, from the record after after (zero:
// from the start) through through (zero: to the end). An error ends it. Records
// appended meanwhile may or may not be seen.
func (tx *Tx) Records(l Lane, after, through ulid.ULID) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		c := cursor{tx: tx, lane: l}
		for c.first(after); c.more(through); c.next() {
			if !yield(c.rec, nil) {
				return
			}
		}
		if c.err != nil {
			yield(Record{}, c.err)
		}
	}
}

// All is Records over both lanes, merged by ULID.
func (tx *Tx) All(after, through ulid.ULID) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		a, b := cursor{tx: tx, lane: Changes}, cursor{tx: tx, lane: Calls}
		a.first(after)
		b.first(after)
		for {
			// A lane that fails waits with its error until the other has come as
			// far, so that the first bad record is the one that is reported.
			c := &a
			if b.comesBefore(&a) {
				c = &b
			}
			if c.err != nil {
				yield(Record{}, c.err)
				return
			}
			if !c.more(through) {
				return
			}
			if a.ok && b.ok && a.rec.ID == b.rec.ID {
				yield(Record{}, tx.bad(a.rec.ID, "stands in both lanes"))
				return
			}
			if !yield(c.rec, nil) {
				return
			}
			c.next()
		}
	}
}

// Backward iterates over one lane, newest first, from the record before before
// (zero: from the end).
func (tx *Tx) Backward(l Lane, before ulid.ULID) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		c := cursor{tx: tx, lane: l}
		for c.last(before); c.more(ulid.ULID{}); c.prev() {
			if !yield(c.rec, nil) {
				return
			}
		}
		if c.err != nil {
			yield(Record{}, c.err)
		}
	}
}

// cursor stands on one record of a lane. Each movement is guarded by itself:
// what happens between two of them is the caller's own code.
type cursor struct {
	tx   *Tx
	lane Lane
	c    *bbolt.Cursor
	rec  Record    // what it stands on while ok
	key  ulid.ULID // the same, or the key that could not be read
	ok   bool
	err  error
	head ulid.ULID // newest of the lane when the iteration began
}

func (c *cursor) first(after ulid.ULID) {
	c.head = c.tx.Head(c.lane).ID
	defer c.ended(after)
	c.move(func() ([]byte, []byte) {
		if after.IsZero() { // not a search, which a damaged page can send past the beginning
			return c.c.First()
		}
		k, v := c.c.Seek(after[:])
		if bytes.Equal(k, after[:]) {
			return c.c.Next()
		}
		return k, v
	})
}

// ended holds a lane that comes to its end against its head: a damaged page can
// hide the rest of a lane without any reading of it going wrong.
func (c *cursor) ended(was ulid.ULID) {
	if !c.ok && c.err == nil && was.Compare(c.head) < 0 {
		c.key, c.err = c.head, c.tx.bad(c.head, "is missing from the end of its lane")
	}
}

func (c *cursor) last(before ulid.ULID) {
	c.move(func() ([]byte, []byte) {
		if !before.IsZero() {
			if k, _ := c.c.Seek(before[:]); k != nil {
				return c.c.Prev()
			}
		}
		return c.c.Last()
	})
}

func (c *cursor) next() {
	was := c.key
	c.move(func() ([]byte, []byte) { return c.c.Next() })
	if c.ok && c.key.Compare(was) <= 0 {
		c.ok, c.err = false, c.tx.bad(c.key, "is out of order")
	}
	c.ended(was)
}

func (c *cursor) prev() {
	was := c.key
	c.move(func() ([]byte, []byte) { return c.c.Prev() })
	if c.ok && c.key.Compare(was) >= 0 {
		c.ok, c.err = false, c.tx.bad(c.key, "is out of order")
	}
}

func (c *cursor) move(to func() (k, v []byte)) {
	c.ok = false
	if c.c == nil {
		b := c.tx.bucket(c.lane.String())
		if b == nil {
			c.err = c.tx.gone(c.lane)
			return
		}
		c.c = b.Cursor()
	}
	err := c.tx.guard(func() {
		k, v := to()
		if k == nil {
			return
		}
		copy(c.key[:], k)
		c.err = c.tx.read(c.lane, k, v, &c.rec)
		c.ok = c.err == nil
	})
	if err != nil {
		c.err = err
	}
}

// more reports whether the cursor stands on a record at or before through.
func (c *cursor) more(through ulid.ULID) bool {
	return c.ok && (through.IsZero() || c.key.Compare(through) <= 0)
}

// comesBefore reports whether c is to be served before d: the lower key, an
// error whose place is unknown at once, and an ended lane last.
func (c *cursor) comesBefore(d *cursor) bool {
	if c.err == nil && !c.ok {
		return false
	}
	if d.err == nil && !d.ok {
		return true
	}
	return c.place().Compare(d.place()) < 0
}

// place is the key c stands on or failed at; zero when a page failed, since what
// lies behind it cannot be told.
func (c *cursor) place() ulid.ULID {
	if c.err == nil {
		return c.key
	}
	var d *DamageError
	if errors.As(c.err, &d) {
		return d.At
	}
	return ulid.ULID{}
}

// read decodes one entry of a lane and checks that it belongs where it lies.
func (tx *Tx) read(l Lane, k, v []byte, rec *Record) error {
	if len(k) != 16 || v == nil {
		return &DamageError{File: tx.j.path, What: fmt.Sprintf("lane %s holds a foreign key %.32q", l, k)}
	}
	id := ulid.ULID(k)
	if err := decode(v, rec, tx.typeName); err != nil {
		if errors.Is(err, ErrNewer) {
			return fmt.Errorf("event %s: %w", id, err)
		}
		return tx.bad(id, err.Error())
	}
	if rec.ID != id || rec.Lane != l {
		return tx.bad(id, fmt.Sprintf("holds event %s of lane %s", rec.ID, rec.Lane))
	}
	return nil
}

func (tx *Tx) typeName(b []byte) string {
	if s, ok := tx.types[string(b)]; ok {
		return s
	}
	if tx.types == nil {
		tx.types = map[string]string{}
	}
	s := string(b)
	tx.types[s] = s
	return s
}

func (tx *Tx) bad(id ulid.ULID, what string) error {
	return &DamageError{File: tx.j.path, What: "event " + id.String() + " " + what, At: id}
}

func (tx *Tx) gone(l Lane) error {
	if tx.err != nil {
		return tx.err
	}
	return &DamageError{File: tx.j.path, What: fmt.Sprintf("lane %s is gone", l)}
}
