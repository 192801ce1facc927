package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"forgeplan/internal/fault"
)

// Shared by the tests of this package.

var (
	workspaceID = ulid.MustParse("01J0000000000000000000000W")
	epoch       = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	zero        ulid.ULID
)

// payload is a msgpack map with one entry, {"n": text}.
func payload(text string) []byte {
	return append([]byte{0x81, 0xa1, 'n', 0xda, byte(len(text) >> 8), byte(len(text))}, text...)
}

// fixedEntropy makes identifiers reproducible.
type fixedEntropy byte

func (e fixedEntropy) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newFile creates a journal and returns its path.
func newFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal.db")
	must(t, Create(path, workspaceID, nil))
	return path
}

// add appends one record to l and returns its identifier.
func add(tx *Tx, l Lane, now time.Time, text string) (ulid.ULID, error) {
	id, err := tx.Next(now, fixedEntropy(7))
	if err != nil {
		return id, err
	}
	return id, tx.Append(l, Draft{ID: id, Type: "test.noted", Version: 1, Wall: now.UnixNano(), Run: id, Payload: payload(text)})
}

func update(path string, fn func(*Tx) error) error {
	j, err := Open(path, Options{})
	if err != nil {
		return err
	}
	err = j.Update(fn)
	if cerr := j.Close(); err == nil {
		err = cerr
	}
	return err
}

func view(path string, fn func(*Tx) error) error {
	j, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		return err
	}
	err = j.View(fn)
	if cerr := j.Close(); err == nil {
		err = cerr
	}
	return err
}

// fill appends n records in pairs of lanes, each in a transaction of its own.
func fill(t testing.TB, path string, n int) []ulid.ULID {
	t.Helper()
	j, err := Open(path, Options{})
	must(t, err)
	defer j.Close()
	var ids []ulid.ULID
	for i := range n {
		must(t, j.Update(func(tx *Tx) error {
			id, err := add(tx, lanes[i%2], epoch.Add(time.Duration(i)*time.Second), fmt.Sprintf("record %d", i))
			ids = append(ids, id)
			if err != nil {
				return err
			}
			return tx.Table("rows").Put(fmt.Sprintf("row %04d", i), []byte(strings.Repeat("x", 100)))
		}))
	}
	return ids
}

func verify(path string) error {
	return view(path, func(tx *Tx) error { return tx.Verify(context.Background(), nil) })
}

func TestCreateThenRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	var first ulid.ULID
	must(t, Create(path, workspaceID, func(tx *Tx) (err error) {
		first, err = add(tx, Changes, epoch, "first")
		if err != nil {
			return err
		}
		if err := tx.PutBody(first, []byte("a body")); err != nil {
			return err
		}
		if err := tx.PutResult(first, nil); err != nil {
			return err
		}
		return tx.PutMeta("cursor", []byte("here"))
	}))
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("left in the folder: %v", files)
	}
	must(t, view(path, func(tx *Tx) error {
		if tx.Workspace() != workspaceID {
			t.Errorf("workspace %s", tx.Workspace())
		}
		rec, ok, err := tx.Record(first)
		if err != nil || !ok {
			t.Fatalf("Record: %v %v", ok, err)
		}
		if rec.Type != "test.noted" || rec.Version != 1 || rec.Wall != epoch.UnixNano() || rec.Run != first ||
			!rec.Subject.IsZero() || !bytes.Equal(rec.Payload, payload("first")) || rec.Lane != Changes || rec.Format != 1 {
			t.Errorf("got %+v", rec)
		}
		if want := sha256.Sum256(append(workspaceID[:], 1)); rec.Prev != want {
			t.Errorf("first prev %x, want %x", rec.Prev, want)
		}
		want := Head{ID: first, Count: 1, Hash: sha256.Sum256(rec.Stored), Wall: epoch.UnixNano()}
		if got := tx.Head(Changes); got != want {
			t.Errorf("head %+v, want %+v", got, want)
		}
		if got, want := tx.Head(Calls), (Head{Hash: sha256.Sum256(append(workspaceID[:], 2))}); got != want {
			t.Errorf("head of the empty lane %+v, want %+v", got, want)
		}
		if b, ok := tx.Body(first); !ok || string(b) != "a body" {
			t.Errorf("body %q %v", b, ok)
		}
		if b, ok := tx.Result(first); !ok || b == nil || len(b) != 0 {
			t.Errorf("empty result %v %v", b, ok)
		}
		if b, ok := tx.Body(Successor(first)); ok || b != nil {
			t.Errorf("body of nothing %q", b)
		}
		if got := string(tx.Meta("cursor")); got != "here" {
			t.Errorf("meta %q", got)
		}
		if _, ok, err := tx.Record(Successor(first)); ok || err != nil {
			t.Errorf("record of nothing: %v %v", ok, err)
		}
		return nil
	}))
	must(t, verify(path))
}

func TestCreateRefusesWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	must(t, os.WriteFile(path, nil, 0o600)) // even an emptied one
	if err := Create(path, workspaceID, nil); !errors.Is(err, ErrExists) {
		t.Errorf("got %v", err)
	}
}

func TestCreateLeavesNothingWhenItFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	boom := errors.New("boom")
	if err := Create(path, workspaceID, func(*Tx) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 0 {
		t.Errorf("left in the folder: %v", files)
	}
}

func TestMissing(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "journal.db"), Options{})
	if !errors.Is(err, ErrMissing) || errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

func TestNewerFormatIsRefusedAndKept(t *testing.T) {
	path := newFile(t)
	j, err := Open(path, Options{})
	must(t, err)
	must(t, j.Update(func(tx *Tx) error { return tx.put(bucketMeta, []byte(keyFormat), []byte("2")) }))
	must(t, j.Close())
	before, err := os.ReadFile(path)
	must(t, err)
	_, err = Open(path, Options{})
	var newer *NewerError
	if !errors.Is(err, ErrNewer) || !errors.As(err, &newer) || newer.Format != 2 {
		t.Fatalf("got %v", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

func TestUpdateRollsBack(t *testing.T) {
	path := newFile(t)
	ids := fill(t, path, 3)
	boom := errors.New("boom")
	err := update(path, func(tx *Tx) error {
		if _, err := add(tx, Changes, epoch, "lost"); err != nil {
			return err
		}
		return boom
	})
	if err != boom {
		t.Errorf("got %v, want the function's own error", err)
	}
	must(t, view(path, func(tx *Tx) error {
		if h := tx.Head(Changes); h.ID != ids[2] || h.Count != 2 {
			t.Errorf("head %+v", h)
		}
		return nil
	}))
	must(t, verify(path))
}

func TestUpdateWithoutWritesLeavesTheFileAlone(t *testing.T) {
	path := newFile(t)
	before, err := os.ReadFile(path)
	must(t, err)
	must(t, update(path, func(tx *Tx) error {
		_, err := tx.Next(epoch, fixedEntropy(1))
		return err
	}))
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

func TestReadOnlyRefusesWrites(t *testing.T) {
	path := newFile(t)
	j, err := Open(path, Options{ReadOnly: true})
	must(t, err)
	defer j.Close()
	if err := j.Update(func(tx *Tx) error { return tx.PutMeta("x", nil) }); err == nil {
		t.Error("Update on a read-only handle went through")
	}
	if err := j.View(func(tx *Tx) error { return tx.PutMeta("x", nil) }); err == nil {
		t.Error("a write in a View went through")
	}
}

func TestReservedMeta(t *testing.T) {
	path := newFile(t)
	must(t, update(path, func(tx *Tx) error {
		for _, key := range []string{"format", "workspace", "head.calls", "head.x"} {
			if err := tx.PutMeta(key, nil); err == nil {
				t.Errorf("%s can be overwritten", key)
			}
		}
		return nil
	}))
}

// A mistake in the function is the caller's: it must not turn into damage, and
// must not keep the file locked.
func TestPanicOfTheCallerPasses(t *testing.T) {
	path := newFile(t)
	for name, open := range map[string]func(j *Journal, fn func(*Tx) error) error{"view": (*Journal).View, "update": (*Journal).Update} {
		j, err := Open(path, Options{})
		must(t, err)
		func() {
			defer func() {
				if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "nil pointer") {
					t.Errorf("%s: recovered %v", name, p)
				}
			}()
			var nothing *Draft
			open(j, func(tx *Tx) error { _ = nothing.Type; return nil })
		}()
		must(t, j.Update(func(tx *Tx) error { return tx.PutMeta("k", []byte("v")) }))
		must(t, j.Close())
	}
}

func TestClosed(t *testing.T) {
	j, err := Open(newFile(t), Options{})
	must(t, err)
	must(t, j.Close())
	must(t, j.Close())
	if err := j.View(func(*Tx) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestHeldByAnother(t *testing.T) {
	path := newFile(t)
	j, err := Open(path, Options{})
	must(t, err)
	defer j.Close()
	start := time.Now()
	if _, err := Open(path, Options{}); !errors.Is(err, ErrLocked) || errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}
	if d := time.Since(start); d > 3*time.Second {
		t.Errorf("waited %v", d)
	}
}

// An answer must not go out as committed when the disk did not take it, and not
// as unknown when it surely did not.
func TestFailedCommit(t *testing.T) {
	defer func() { fault.ErrHook = nil }()
	boom := errors.New("no space left")
	for point, unknown := range map[string]bool{"journal.before-commit": false, "journal.after-commit": true} {
		path := newFile(t)
		fill(t, path, 2)
		j, err := Open(path, Options{})
		must(t, err)
		fault.ErrHook = func(name string) error {
			if name == point {
				return boom
			}
			return nil
		}
		err = j.Update(func(tx *Tx) error { _, err := add(tx, Changes, epoch, "x"); return err })
		fault.ErrHook = nil
		if !errors.Is(err, boom) || errors.Is(err, ErrSync) != unknown || errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: got %v", point, err)
		}
		must(t, j.Close())
		var count uint64
		must(t, view(path, func(tx *Tx) error { count = tx.Head(Changes).Count; return nil }))
		if want := map[bool]uint64{false: 1, true: 2}[unknown]; count != want {
			t.Errorf("%s: %d records, want %d", point, count, want)
		}
		must(t, verify(path))
	}
}

// After a commit whose outcome is unknown the handle must not build on it.
func TestNoCommitAfterFailedSync(t *testing.T) {
	defer func() { fault.ErrHook = nil }()
	path := newFile(t)
	j, err := Open(path, Options{})
	must(t, err)
	defer j.Close()
	put := func(tx *Tx) error { return tx.PutMeta("k", []byte("v")) }
	fault.ErrHook = func(name string) error {
		if name == "journal.after-commit" {
			return errors.New("boom")
		}
		return nil
	}
	if err := j.Update(put); !errors.Is(err, ErrSync) {
		t.Fatalf("got %v", err)
	}
	fault.ErrHook = nil
	if err := j.Update(put); !errors.Is(err, ErrSync) {
		t.Errorf("got %v", err)
	}
}
