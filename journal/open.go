package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

const (
	fileMode  = 0o600
	pageSize  = 16 << 10 // a fifth smaller files than 4 KiB for under 4 % of the append rate
	allocSize = 1 << 20  // growth step, bytes; bbolt's own is 16 MiB
	lockWait  = time.Second
)

// Journal is an open file. It is safe for concurrent use; at most one handle of
// a file may be open in a process, a second would wait for the first.
type Journal struct {
	path      string
	db        *bbolt.DB
	file      *os.File // bbolt's descriptor
	workspace ulid.ULID

	mu     sync.Mutex
	broken error // why the handle is of no more use, nil while it is
	stuck  bool  // a transaction could not be ended: db.Close would wait for ever
	closed bool
}

// Options for Open.
type Options struct {
	ReadOnly bool // refuse Update, and leave the file unchanged whatever is in it
}

// Open opens the journal at path after checking that it is whole enough to be
// touched. The caller holds the workspace lock; bbolt's own lock is then free, and
// is waited for at most a second.
//
// Errors: ErrMissing, ErrCorrupt, ErrLost, ErrNewer, ErrLocked, else the
// system's.
func Open(path string, o Options) (*Journal, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", path, ErrMissing)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // a pipe would block, a link may lead anywhere
		return nil, &DamageError{File: path, What: "not a regular file"}
	case info.Size() == 0:
		return nil, &DamageError{File: path, What: "the journal is lost: the file is empty", lost: true}
	}
	flag := os.O_RDWR
	if o.ReadOnly {
		flag = os.O_RDONLY
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	flaw, err := checkFile(f, info.Size())
	if flaw != "" {
		err = &DamageError{File: path, What: flaw}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	j, err := open(path, f, o)
	if err != nil {
		return nil, err
	}
	if err := j.identify(); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// open lets bbolt open f, which it owns from then on.
func open(path string, f *os.File, o Options) (*Journal, error) {
	defer onFault()()
	j := &Journal{path: path, file: f}
	var failed error
	err := guard(path, func() {
		j.db, failed = bbolt.Open(path, fileMode, &bbolt.Options{
			ReadOnly:     o.ReadOnly,
			Timeout:      lockWait,
			PageSize:     pageSize,
			FreelistType: bbolt.FreelistArrayType,
			NoStatistics: true,
			OpenFile:     func(string, int, os.FileMode) (*os.File, error) { return f, nil },
		})
	})
	if err == nil {
		err = failed
	}
	switch {
	case err == nil:
		j.db.AllocSize = allocSize
		return j, nil
	case errors.Is(err, berrors.ErrTimeout):
		err = fmt.Errorf("%s: %w", path, ErrLocked)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		err = &DamageError{File: path, What: err.Error()}
	}
	release(f)
	return nil, err
}

// identify reads whose journal it is and refuses what we cannot work with.
func (j *Journal) identify() error {
	return j.view(func(tx *Tx) error {
		var failed error
		err := guard(j.path, func() { failed = tx.identify() })
		if err == nil {
			err = failed
		}
		return err
	})
}

func (tx *Tx) identify() error {
	meta := tx.b.Bucket([]byte(bucketMeta))
	if meta == nil {
		return &DamageError{File: tx.j.path, What: "the journal is lost: the file holds none", lost: true}
	}
	format, err := decodeFormat(meta.Get([]byte(keyFormat)))
	if err != nil {
		return &DamageError{File: tx.j.path, What: err.Error()}
	}
	if format > Format {
		return fmt.Errorf("%s: %w", tx.j.path, &NewerError{Format: format})
	}
	ws := meta.Get([]byte(keyWorkspace))
	if len(ws) != 16 {
		return &DamageError{File: tx.j.path, What: "it does not say which workspace it belongs to"}
	}
	tx.j.workspace = ulid.ULID(ws)
	for _, name := range []string{Changes.String(), Calls.String(), bucketBodies, bucketResults} {
		if tx.b.Bucket([]byte(name)) == nil {
			return &DamageError{File: tx.j.path, What: "its " + name + " are gone"}
		}
	}
	return nil
}

// Close ends the handle and waits for running transactions. After damage it
// still unlocks and closes the file, at the price of a mapping that lives as long
// as the process. Closing twice is fine.
func (j *Journal) Close() error {
	j.mu.Lock()
	stuck, closed := j.stuck, j.closed
	j.closed = true
	if j.broken == nil {
		j.broken = ErrClosed
	}
	j.mu.Unlock()
	if closed {
		return nil
	}
	if stuck {
		release(j.file)
		return nil
	}
	defer onFault()()
	var failed error
	if err := guard(j.path, func() { failed = j.db.Close() }); err != nil {
		release(j.file)
		return err
	}
	return failed
}

// usable returns why the handle is of no use, nil while it is.
func (j *Journal) usable() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.broken
}

// breakWith makes err the answer to everything that follows.
func (j *Journal) breakWith(err error, stuck bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil || j.broken == ErrClosed {
		j.broken = err
	}
	j.stuck = j.stuck || stuck
}
