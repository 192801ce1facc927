package journal

import (
	"fmt"

	"github.com/oklog/ulid/v2"
	"go.etcd.io/bbolt"

	"forgeplan/internal/fault"
)

// Tx is a transaction. It belongs to the goroutine that runs the function it was
// given to and ends with it; several may read at once, each in its own View.
//
// Methods without an error result read damage as absence and remember it: View
// and Update then return the *DamageError whatever the function returned, and
// nothing is committed.
type Tx struct {
	j         *Journal
	b         *bbolt.Tx
	workspace ulid.ULID
	heads     [3]Head   // by lane
	issued    ulid.ULID // newest result of Next
	buckets   map[string]*bbolt.Bucket
	tables    map[string]*Table
	types     map[string]string // spellings of Record.Type, each made once
	enc       encoder
	mem       arena
	dirty     bool  // something was put
	err       error // first damage met
}

// View runs fn on a snapshot. It returns fn's error, or a *DamageError.
//
// fn may panic with a mistake of its own: the transaction is ended and the panic
// goes on. A fault on a mapped page inside fn (it reads Payload, which is one) is
// a *DamageError like any other.
func (j *Journal) View(fn func(*Tx) error) error {
	return j.view(func(tx *Tx) error {
		if err := tx.loadHeads(); err != nil {
			return err
		}
		return fn(tx)
	})
}

func (j *Journal) view(fn func(*Tx) error) error {
	defer onFault()()
	tx, err := j.begin(false)
	if err != nil {
		return err
	}
	err = tx.run(fn)
	if rerr := tx.rollback(); err == nil {
		err = rerr
	}
	return err
}

// Update runs fn in a write transaction and commits what it put. When it returns
// nil, that is committed and synced: two syncs of the file, about 0.2 ms on a fast
// disk and ten times that on a slow one. When fn put nothing, nothing is written.
//
// An error of fn rolls everything back and is returned as it is. When the commit
// fails, ErrSync tells an unknown outcome; every other error means that nothing
// was committed. After a failed commit the handle serves nothing more.
func (j *Journal) Update(fn func(*Tx) error) error {
	defer onFault()()
	tx, err := j.begin(true)
	if err != nil {
		return err
	}
	err = tx.run(func(tx *Tx) error {
		// A file that is being created has no heads yet, see found.
		if !tx.isNew() {
			if err := tx.loadHeads(); err != nil {
				return err
			}
		}
		return fn(tx)
	})
	if err == nil && tx.dirty {
		err = tx.commit()
	}
	if rerr := tx.rollback(); err == nil {
		err = rerr
	}
	return err
}

func (j *Journal) begin(write bool) (*Tx, error) {
	if err := j.usable(); err != nil {
		return nil, err
	}
	tx := &Tx{j: j, workspace: j.workspace, buckets: map[string]*bbolt.Bucket{}}
	var failed error
	if err := guard(j.path, func() { tx.b, failed = j.db.Begin(write) }); err != nil {
		j.breakWith(err, true) // it may have left bbolt's locks held
		return nil, err
	}
	if failed != nil {
		return nil, fmt.Errorf("%s: %w", j.path, failed)
	}
	return tx, nil
}

// run calls fn and returns its error, or the damage that was met.
func (tx *Tx) run(fn func(*Tx) error) (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		// fn panicked, or ended its goroutine: then recover returns nil.
		p := recover()
		if isFault(p) {
			err = tx.damaged(&DamageError{File: tx.j.path, What: fmt.Sprintf("a page is damaged: %v", p)})
			return
		}
		_ = tx.rollback()
		if p != nil {
			panic(p)
		}
	}()
	err = fn(tx)
	returned = true
	if tx.err != nil {
		err = tx.err
	}
	return err
}

// guard runs one access to the file. The first damage it meets decides what the
// transaction returns.
func (tx *Tx) guard(access func()) error {
	if err := guard(tx.j.path, access); err != nil {
		return tx.damaged(err)
	}
	return nil
}

func (tx *Tx) damaged(err error) error {
	if tx.err == nil {
		tx.err = err
	}
	tx.j.breakWith(err, false)
	return err
}

// commit writes and syncs. It leaves bbolt's transaction ended unless bbolt
// panicked.
func (tx *Tx) commit() error {
	fault.Point("journal.before-commit")
	if err := fault.Err("journal.before-commit"); err != nil {
		return fmt.Errorf("%s: nothing was committed: %w", tx.j.path, err)
	}
	number := uint64(tx.b.ID())
	var failed error
	if err := tx.guard(func() { failed = tx.b.Commit() }); err != nil {
		return err
	}
	fault.Point("journal.after-commit")
	if failed == nil {
		failed = fault.Err("journal.after-commit")
	}
	if failed == nil {
		return nil
	}
	err := fmt.Errorf("%s: nothing was committed: %w", tx.j.path, failed)
	if tx.j.mayHold(number) {
		err = fmt.Errorf("%s: %w: %w", tx.j.path, ErrSync, failed)
	}
	tx.j.breakWith(err, false)
	return err
}

// mayHold reports whether transaction number could be in the file. bbolt writes
// the meta page last, so a page that nobody has written yet proves that a failed
// commit (a full disk, most of the time) has changed nothing.
func (j *Journal) mayHold(number uint64) bool {
	for i := range uint64(2) {
		m, flaw, err := readMeta(j.file, int64(i)*int64(j.db.Info().PageSize), i)
		if err != nil || flaw != "" || m.tx >= number {
			return true
		}
	}
	return false
}

// rollback ends bbolt's transaction if it is still open.
func (tx *Tx) rollback() error {
	if tx.b == nil || tx.b.DB() == nil { // ended already
		return nil
	}
	b := tx.b
	tx.b = nil
	var failed error
	if err := guard(tx.j.path, func() { failed = b.Rollback() }); err != nil {
		tx.j.breakWith(err, true)
		return err
	}
	return failed
}

// isNew reports whether the file has no buckets, as while Create fills it.
func (tx *Tx) isNew() bool { return tx.bucket(bucketMeta) == nil && tx.err == nil }

func (tx *Tx) loadHeads() error {
	for _, l := range lanes {
		v, _ := tx.get(bucketMeta, []byte(prefixHead+l.String()))
		if tx.err != nil {
			return tx.err
		}
		h, err := decodeHead(v)
		if err != nil {
			return &DamageError{File: tx.j.path, What: fmt.Sprintf("lane %s: %v", l, err)}
		}
		tx.heads[l] = h
	}
	return nil
}

func (tx *Tx) setHead(l Lane, h Head) error {
	if err := tx.put(bucketMeta, []byte(prefixHead+l.String()), encodeHead(h)); err != nil {
		return err
	}
	tx.heads[l] = h
	return nil
}

// bucket returns nil where there is none, or where its page is damaged.
func (tx *Tx) bucket(name string) *bbolt.Bucket {
	if b := tx.buckets[name]; b != nil {
		return b
	}
	var b *bbolt.Bucket
	if tx.guard(func() { b = tx.b.Bucket([]byte(name)) }) != nil || b == nil {
		return nil
	}
	switch name {
	case "changes", "calls", bucketBodies, bucketResults:
		// Keys only grow here, so pages can be left full. bbolt does not store
		// this: it counts for this transaction only.
		b.FillPercent = 1
	}
	tx.buckets[name] = b
	return b
}

// get returns a copy; a damaged page reads as absent.
func (tx *Tx) get(bucket string, key []byte) (v []byte, ok bool) {
	b := tx.bucket(bucket)
	if b == nil {
		return nil, false
	}
	err := tx.guard(func() {
		if p := b.Get(key); p != nil {
			v, ok = append(make([]byte, 0, len(p)), p...), true
		}
	})
	if err != nil {
		return nil, false
	}
	return v, ok
}

func (tx *Tx) put(bucket string, key, v []byte) error {
	b := tx.bucket(bucket)
	if tx.err != nil {
		return tx.err
	}
	if b == nil {
		return &DamageError{File: tx.j.path, What: "its " + bucket + " are gone"}
	}
	return tx.putIn(b, key, tx.mem.clone(v))
}

// putIn stores v, which must not change until the commit.
func (tx *Tx) putIn(b *bbolt.Bucket, key, v []byte) error {
	tx.dirty = true
	var failed error
	if err := tx.guard(func() { failed = b.Put(key, v) }); err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("%s: %w", tx.j.path, failed)
	}
	return nil
}
