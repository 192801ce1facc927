package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/oklog/ulid/v2"

	"forgeplan/internal/fault"
)

// Create makes the journal of workspace ws at path with what fn appends to it
// (fn may be nil). It is built under a temporary name in the same folder and
// renamed when it is committed and synced, so path never holds half a journal.
// The caller holds the workspace lock.
//
// Errors: ErrExists when there is anything at path, whatever it is; those of fn.
func Create(path string, ws ulid.ULID, fn func(*Tx) error) (err error) {
	if ws.IsZero() {
		return errors.New("a journal needs a workspace identifier")
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w", path, ErrExists)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir, base := filepath.Split(path)
	tmp := filepath.Join(dir, ".tmp-"+base+"-"+strconv.Itoa(os.Getpid()))
	// Under the lock nobody else can be building here: it is a dead program's.
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp)
		}
	}()
	j, err := open(tmp, f, Options{})
	if err != nil {
		return err
	}
	j.workspace = ws
	err = j.Update(func(tx *Tx) error {
		if err := tx.found(); err != nil || fn == nil {
			return err
		}
		return fn(tx)
	})
	if cerr := j.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	fault.Point("journal.before-rename")
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// found lays out an empty file: buckets, format, workspace, and heads that name
// what the first records will follow.
func (tx *Tx) found() error {
	for _, name := range []string{bucketMeta, Changes.String(), Calls.String(), bucketBodies, bucketResults} {
		if _, err := tx.b.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	if err := tx.put(bucketMeta, []byte(keyFormat), encodeFormat()); err != nil {
		return err
	}
	if err := tx.put(bucketMeta, []byte(keyWorkspace), tx.workspace[:]); err != nil {
		return err
	}
	for _, l := range lanes {
		if err := tx.setHead(l, Head{Hash: firstPrev(tx.workspace, l)}); err != nil {
			return err
		}
	}
	return nil
}
