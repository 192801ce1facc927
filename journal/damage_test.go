package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
	"go.etcd.io/bbolt"
)

// readEverything is a reader that looks at every bucket.
func readEverything(path string, ids []ulid.ULID) (records, rows int, err error) {
	err = view(path, func(tx *Tx) error {
		for _, err := range tx.All(zero, zero) {
			if err != nil {
				return err
			}
			records++
		}
		for range tx.Table("rows").Scan("") {
			rows++
		}
		for _, id := range ids {
			if _, _, err := tx.Record(id); err != nil {
				return err
			}
			tx.Body(id)
			tx.Result(id)
		}
		for range tx.Backward(Changes, zero) {
		}
		tx.Meta("k")
		return nil
	})
	return records, rows, err
}

// Whatever is done to the file, a reader gets everything or a *DamageError, never
// a panic; the file stays as it is; and the same process can open it again.
func TestDamage(t *testing.T) {
	const n = 300 // enough for branch pages in both lanes and the table
	good := newFile(t)
	ids := fill(t, good, n)
	must(t, update(good, func(tx *Tx) error {
		for i, id := range ids {
			must(t, tx.PutBody(id, []byte(strings.Repeat("b", 100*(i%7)))))
		}
		must(t, tx.PutResult(ids[0], bytes.Repeat([]byte("r"), 3*pageSize))) // overflow pages
		return tx.PutMeta("k", []byte("v"))
	}))
	if records, rows, err := readEverything(good, ids); records != n || rows != n || err != nil {
		t.Fatalf("whole file: %d records, %d rows, %v", records, rows, err)
	}
	data, err := os.ReadFile(good)
	must(t, err)
	kinds := pages(t, good)
	if !slices.Contains(slices.Collect(maps.Values(kinds)), "overflow") {
		t.Fatal("the file has no overflow page")
	}

	damages := map[string]func(b []byte) []byte{
		"empty":           func(b []byte) []byte { return nil },
		"one byte":        func(b []byte) []byte { return b[:1] },
		"half":            func(b []byte) []byte { return b[:len(b)/2] },
		"one page":        func(b []byte) []byte { return b[:pageSize] },
		"two pages":       func(b []byte) []byte { return b[:2*pageSize] },
		"text":            func([]byte) []byte { return []byte("not a database\n") },
		"long text":       func([]byte) []byte { return bytes.Repeat([]byte("not a database\n"), 5000) },
		"metas":           func(b []byte) []byte { clear(b[:2*pageSize]); return b },
		"meta0":           func(b []byte) []byte { clear(b[:pageSize]); return b },
		"meta1":           func(b []byte) []byte { clear(b[pageSize : 2*pageSize]); return b },
		"bit in meta0":    func(b []byte) []byte { b[metaOffset+40] ^= 1; return b },
		"bit in meta1":    func(b []byte) []byte { b[pageSize+metaOffset+48] ^= 1; return b },
		"header of meta1": func(b []byte) []byte { clear(b[pageSize : pageSize+metaOffset]); return b },
		"metas exchanged": func(b []byte) []byte {
			p := bytes.Clone(b[:pageSize])
			copy(b, b[pageSize:2*pageSize])
			copy(b[pageSize:], p)
			return b
		},
		"meta1 twice": func(b []byte) []byte { copy(b, b[pageSize:2*pageSize]); return b },
	}
	// A reader may refuse or read on past these, since it needs none of them.
	harmless := map[string]bool{}
	for id, kind := range kinds {
		at := id * pageSize
		name := fmt.Sprintf("page %d zeroed (%s)", id, kind)
		damages[name] = func(b []byte) []byte { clear(b[at : at+pageSize]); return b }
		harmless[name] = kind == "freelist" || kind == "free" || kind == "overflow"
		if kind == "free" || kind == "overflow" {
			continue
		}
		name = fmt.Sprintf("page %d filled (%s)", id, kind)
		damages[name] = func(b []byte) []byte { copy(b[at:at+pageSize], bytes.Repeat([]byte{0xff}, pageSize)); return b }
		harmless[name] = kind == "freelist"
		if kind != "leaf" && kind != "branch" {
			continue
		}
		// The header alone is fine: offsets and sizes run wild.
		name = fmt.Sprintf("page %d wild (%s)", id, kind)
		damages[name] = func(b []byte) []byte {
			copy(b[at+16:at+pageSize], bytes.Repeat([]byte{0xff, 0x7f, 0xff, 0x7f}, pageSize))
			return b
		}
		name = fmt.Sprintf("page %d of another number (%s)", id, kind)
		damages[name] = func(b []byte) []byte { binary.NativeEndian.PutUint64(b[at:], 1); return b }
		name = fmt.Sprintf("page %d with a count too high (%s)", id, kind)
		damages[name] = func(b []byte) []byte { binary.NativeEndian.PutUint16(b[at+10:], 0xffff); return b }
		harmless[name] = true // a look-up may by luck stay inside the entries that are real
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.db")
			b := damage(bytes.Clone(data))
			must(t, os.WriteFile(path, b, 0o600))
			for range 2 { // the first must not keep the second out
				records, rows, err := readEverything(path, ids)
				switch {
				case err == nil && !harmless[name]:
					t.Errorf("nobody noticed")
				case err == nil && (records != n || rows != n):
					t.Errorf("read %d records and %d rows without an error", records, rows)
				case err != nil && !errors.Is(err, ErrCorrupt):
					t.Errorf("got %v", err)
				case err != nil && !strings.Contains(err.Error(), path):
					t.Errorf("the file is not named: %v", err)
				case errors.Is(err, ErrLost) != (name == "empty") && !strings.Contains(name, "count too high"): // in the root it hides the buckets
					t.Errorf("lost or not: %v", err)
				case err != nil && strings.Contains(err.Error(), "\n"):
					t.Errorf("more than a line: %v", err)
				}
			}
			if now, _ := os.ReadFile(path); !bytes.Equal(now, b) {
				t.Error("a reader changed the file")
			}
			// A writer may go through where its pages are whole, but it says what
			// happened, and leaves the lock behind either way.
			for range 2 {
				err := update(path, func(tx *Tx) error { _, err := add(tx, Changes, epoch, "x"); return err })
				if err != nil && !errors.Is(err, ErrCorrupt) {
					t.Errorf("update: %v", err)
				}
				if err == nil && strings.HasSuffix(name, "(freelist)") {
					t.Error("wrote with a freelist that is not one")
				}
			}
		})
	}
}

// pages says what each page of a whole file holds.
func pages(t *testing.T, path string) map[int]string {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	must(t, err)
	defer db.Close()
	out := map[int]string{}
	must(t, db.Update(func(tx *bbolt.Tx) error {
		skip := 0
		for id := 2; ; id++ {
			p, err := tx.Page(id)
			if err != nil || p == nil {
				return err
			}
			kind := p.Type
			if skip > 0 && kind != "free" {
				kind, skip = "overflow", skip-1
			} else if kind != "free" {
				skip = p.OverflowCount
			}
			out[id] = kind
		}
	}))
	return out
}

func TestBucketlessFileIsLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: pageSize})
	must(t, err)
	must(t, db.Close())
	for _, o := range []Options{{}, {ReadOnly: true}} {
		if _, err := Open(path, o); !errors.Is(err, ErrLost) || !errors.Is(err, ErrCorrupt) {
			t.Errorf("got %v", err)
		}
	}
}

func TestForeignDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	tamper(t, path, func(tx *bbolt.Tx) error { // with the system's page size
		_, err := tx.CreateBucket([]byte("somebody"))
		return err
	})
	if _, err := Open(path, Options{}); !errors.Is(err, ErrLost) {
		t.Errorf("got %v", err)
	}
}

func TestMissingParts(t *testing.T) {
	for name, spoil := range map[string]func(*bbolt.Tx) error{
		"lane":      func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("calls")) },
		"bodies":    func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte(bucketBodies)) },
		"workspace": func(tx *bbolt.Tx) error { return tx.Bucket([]byte(bucketMeta)).Delete([]byte(keyWorkspace)) },
		"format":    func(tx *bbolt.Tx) error { return tx.Bucket([]byte(bucketMeta)).Delete([]byte(keyFormat)) },
		"head":      func(tx *bbolt.Tx) error { return tx.Bucket([]byte(bucketMeta)).Delete([]byte("head.changes")) },
	} {
		path := newFile(t)
		fill(t, path, 2)
		tamper(t, path, spoil)
		if _, _, err := readEverything(path, nil); !errors.Is(err, ErrCorrupt) || errors.Is(err, ErrLost) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestNotARegularFile(t *testing.T) {
	dir := t.TempDir()
	good := newFile(t)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(good, link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{dir, link} {
		if _, err := Open(path, Options{}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

// The file shrinks under the reader's feet: the pages it has mapped are gone, and
// even the caller's own look at a payload faults.
func TestTruncatedWhileOpen(t *testing.T) {
	path := newFile(t)
	fill(t, path, 300)
	err := view(path, func(tx *Tx) error {
		var last Record
		for rec, err := range tx.Records(Changes, zero, zero) {
			must(t, err)
			last = rec
		}
		must(t, os.Truncate(path, 0))
		if bytes.Contains(last.Payload, []byte("nothing")) {
			return errors.New("found")
		}
		return errors.New("read on")
	})
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

// A method without an error must not let damage pass for absence.
func TestDamageIsRemembered(t *testing.T) {
	good := newFile(t)
	ids := fill(t, good, 300)
	refused := 0
	for id, kind := range pages(t, good) {
		if kind != "leaf" {
			continue
		}
		path := filepath.Join(t.TempDir(), "journal.db")
		b, err := os.ReadFile(good)
		must(t, err)
		clear(b[id*pageSize : (id+1)*pageSize])
		must(t, os.WriteFile(path, b, 0o600))
		missed := false
		err = update(path, func(tx *Tx) error {
			for i := range ids {
				missed = missed || tx.Table("rows").Get(fmt.Sprintf("row %04d", i)) == nil
			}
			return tx.PutMeta("k", []byte("decided on what was read"))
		})
		if missed && !errors.Is(err, ErrCorrupt) {
			t.Errorf("page %d: rows are missing and the commit went through: %v", id, err)
		}
		if missed {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no row was ever missing")
	}
}
