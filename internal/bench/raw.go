package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"forgeplan/internal/filelock"
	"forgeplan/journal"

	"github.com/oklog/ulid/v2"
	"go.etcd.io/bbolt"
)

// The yardsticks: what any program must do on this machine, written without
// forgeplan's own code where that is what is measured.

// Settings of the raw file: those of the journal.
const (
	rawPage   = 16 << 10
	rawAlloc  = 1 << 20
	rawBucket = "changes"
)

// record is what the yardsticks store: as long as a usual event.
var record = bytes.Repeat([]byte("e"), 380)

// rawAppend writes a record to the end of a file and syncs it.
func (l *lab) rawAppend() (op, error) {
	f, err := os.CreateTemp(l.dir, "raw-append-")
	if err != nil {
		return nil, err
	}
	l.closers = append(l.closers, f.Close)
	return func() error {
		if _, err := f.Write(record); err != nil {
			return err
		}
		return f.Sync()
	}, nil
}

func rawOpen(path string) (*bbolt.DB, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: rawPage, NoStatistics: true})
	if err != nil {
		return nil, err
	}
	db.AllocSize = rawAlloc
	return db, nil
}

// rawPut is one record in one transaction. id goes on by one.
func rawPut(db *bbolt.DB, id *ulid.ULID) error {
	return db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte(rawBucket))
		if err != nil {
			return err
		}
		b.FillPercent = 1
		*id = journal.Successor(*id)
		return b.Put(bytes.Clone(id[:]), record)
	})
}

// rawCommit is a transaction of a raw file that stays open.
func (l *lab) rawCommit() (op, error) {
	db, err := rawOpen(l.path("raw-commit.db"))
	if err != nil {
		return nil, err
	}
	l.closers = append(l.closers, db.Close)
	var id ulid.ULID
	return func() error { return rawPut(db, &id) }, nil
}

// rawHold is a transaction of a raw file that is locked, opened and closed for it.
func (l *lab) rawHold(name string) op {
	path := l.path(name + ".db")
	var id ulid.ULID
	return func() (err error) {
		release, err := filelock.For(path+".lock").Acquire(context.Background(), time.Minute, filelock.Holder{PID: os.Getpid(), Command: "bench"})
		if err != nil {
			return err
		}
		defer release()
		db, err := rawOpen(path)
		if err != nil {
			return err
		}
		return errors.Join(rawPut(db, &id), db.Close())
	}
}

// rawFile writes a new file whole, so that a crash leaves all of it or nothing:
// written, synced, renamed, folder synced.
func rawFile(path string, data []byte) error {
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close(), os.Rename(path+".tmp", path)); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// rawScan opens a file, calls touch with every value of its buckets of these
// names, and closes it.
func rawScan(path string, touch func(value []byte) error, buckets ...string) (n int, err error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	err = db.View(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			b := tx.Bucket([]byte(name))
			if b == nil {
				return fmt.Errorf("no bucket %s", name)
			}
			c := b.Cursor()
			for k, v := c.First(); k != nil; k, v = c.Next() {
				n++
				if err := touch(v); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return n, errors.Join(err, db.Close())
}

// rawStat reads the folders below dir and asks for each Markdown file's size and time.
func rawStat(dir string) (n int, err error) {
	folders, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join(dir, folder.Name()))
		if err != nil {
			return n, err
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), ".md") {
				continue
			}
			if _, err := f.Info(); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// subjectOf walks over a stored event and gives the bytes of its eighth field.
func subjectOf(stored []byte) (subject []byte, err error) {
	if len(stored) == 0 || stored[0] != 0x9a {
		return nil, errors.New("not an array of ten")
	}
	rest := stored[1:]
	for i := range 10 {
		before := rest
		if rest, err = walk(rest); err != nil {
			return nil, err
		}
		if i == 7 {
			subject = before[:len(before)-len(rest)]
		}
	}
	return subject, nil
}

var errShort = errors.New("value ends early")

// walk reads one msgpack value, everything in it, makes nothing of it, and returns
// what stands behind it.
func walk(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, errShort
	}
	c := b[0]
	b = b[1:]
	length := func(bytes int) (n int, ok bool) {
		if len(b) < bytes {
			return 0, false
		}
		var wide [8]byte
		copy(wide[8-bytes:], b)
		b = b[bytes:]
		return int(binary.BigEndian.Uint64(wide[:])), true
	}
	var skip, values int
	ok := true
	switch {
	case c <= 0x7f, c >= 0xe0, c == 0xc0, c == 0xc2, c == 0xc3:
	case c <= 0x8f:
		values = 2 * int(c&0x0f)
	case c <= 0x9f:
		values = int(c & 0x0f)
	case c <= 0xbf:
		skip = int(c & 0x1f)
	case c >= 0xc4 && c <= 0xc6: // bin
		skip, ok = length(1 << (c - 0xc4))
	case c == 0xca, c == 0xce, c == 0xd2:
		skip = 4
	case c == 0xcb, c == 0xcf, c == 0xd3:
		skip = 8
	case c == 0xcc, c == 0xd0:
		skip = 1
	case c == 0xcd, c == 0xd1:
		skip = 2
	case c >= 0xd9 && c <= 0xdb: // str
		skip, ok = length(1 << (c - 0xd9))
	case c == 0xdc, c == 0xdd: // array
		values, ok = length(2 << (c - 0xdc))
	case c == 0xde, c == 0xdf: // map
		values, ok = length(2 << (c - 0xde))
		values *= 2
	default:
		return nil, fmt.Errorf("no value starts with %#x here", c)
	}
	if !ok || len(b) < skip {
		return nil, errShort
	}
	b = b[skip:]
	for range values {
		var err error
		if b, err = walk(b); err != nil {
			return nil, err
		}
	}
	return b, nil
}
