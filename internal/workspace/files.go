package workspace

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"

	"forgeplan/internal/atomicfile"
	"forgeplan/internal/fault"
	"forgeplan/internal/render"
	"forgeplan/journal"
	"forgeplan/projection"

	"github.com/oklog/ulid/v2"
)

// maxFile bounds what is read of an artifact's file: the largest body and the
// largest frontmatter, with room.
const maxFile = 16 << 20

// outcome of bringing one file up to its row.
type outcome int

const (
	asWanted  outcome = iota // the file is what the journal wants it to be
	leftAlone                // not what we last wrote, or gone: a person's business
	owed                     // could not be written now; the next call tries again
)

// writer brings Markdown files up to the rows of the journal. It never
// overwrites bytes that the journal does not know.
type writer struct {
	w      *Workspace
	tx     *journal.Tx
	tables func(string) projection.Table
	cache  *cache
	whole  bool
}

func (w *Workspace) writer(tx *journal.Tx, tables func(string) projection.Table) *writer {
	c := w.cache()
	return &writer{w: w, tx: tx, tables: tables, cache: c, whole: c.whole(tx.Workspace())}
}

// writeFiles writes the files of the artifacts that a call has just changed.
func (w *Workspace) writeFiles(tx *journal.Tx, uids []ulid.ULID, direct bool) (written map[ulid.ULID]bool, warnings []string) {
	written = map[ulid.ULID]bool{}
	if len(uids) == 0 {
		return written, nil
	}
	base, _, err := tables(tx)
	if err != nil {
		return written, []string{"files not written: " + err.Error()}
	}
	wr := w.writer(tx, base)
	for _, uid := range uids {
		out, warning := wr.settle(uid, direct)
		written[uid] = out == asWanted
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	return written, warnings
}

// finishFiles writes what a killed or hindered call still owed, and returns
// what is still owed after it.
func (w *Workspace) finishFiles(tx *journal.Tx, base func(string) projection.Table) (late []ulid.ULID, warnings []string) {
	uids := dirty(tx)
	if len(uids) == 0 {
		return nil, nil
	}
	wr := w.writer(tx, base)
	for _, uid := range uids {
		out, warning := wr.settle(uid, false)
		if out == owed {
			late = append(late, uid)
		}
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	return late, warnings
}

// settle compares the file of one artifact with its row and writes it where
// that is safe:
//
//	disk = want                  confirm it
//	disk = an earlier want       finish the write, unless a later want was once confirmed here (then a person put it back)
//	absent                       write if this call changed it, or if the cache is whole and never saw it
//	anything else                a hand edit: left alone
func (wr *writer) settle(uid ulid.ULID, direct bool) (outcome, string) {
	src, ok, err := projection.Sources{Table: wr.tables("sources")}.Get(uid)
	if err != nil {
		return owed, fmt.Sprintf("file of %s not written: %v", uid, err)
	}
	if !ok {
		return asWanted, "" // no artifact of ours, or none with a file
	}
	last, known := wr.cache.get(uid)
	root := wr.w.root
	if !src.Gone && known && last.Path == src.Path && last.hash() == src.Want {
		if fi, err := root.Lstat(src.Path); err == nil && last.proves(fi) {
			return asWanted, ""
		}
	}
	if known && last.Path != src.Path {
		if out, warning, done := wr.move(uid, last, src); done {
			return out, warning
		}
	}
	data, exists, err := readFile(root, src.Path)
	if err != nil {
		return owed, fmt.Sprintf("%s not written: %v", src.Path, plain(err))
	}
	disk := sha256.Sum256(data)
	if src.Gone {
		if !direct && !(wr.whole && known) {
			return leftAlone, "" // removed before: what stands here now was put here by somebody
		}
		return wr.remove(uid, src, disk, exists, last, known)
	}
	switch {
	case !exists && !direct && !(wr.whole && !known):
		return leftAlone, "" // absence never deletes, and is no reason to write
	case exists && disk == src.Want:
		return wr.confirm(uid, src)
	case exists && !wr.ours(uid, disk, last, known):
		return leftAlone, fmt.Sprintf("%s was changed by hand: left as it is, the journal has the new version", src.Path)
	}
	body, err := wr.body(uid)
	if err != nil {
		return owed, fmt.Sprintf("%s not written: %v", src.Path, err)
	}
	full := append(bytes.Clone(src.Head), body...)
	if err := root.MkdirAll(path.Dir(src.Path), 0o755); err != nil {
		return owed, fmt.Sprintf("%s not written: %v", src.Path, plain(err))
	}
	err = atomicfile.Replace(root, src.Path, full, 0o644, func(now []byte, there bool) bool {
		return there == exists && (!there || sha256.Sum256(now) == disk)
	})
	switch {
	case errors.Is(err, atomicfile.ErrChanged):
		return leftAlone, fmt.Sprintf("%s was changed by hand just now: left as it is, the journal has the new version", src.Path)
	case err != nil:
		return owed, fmt.Sprintf("%s not written: %v", src.Path, plain(err))
	}
	fault.Point("workspace.file-replaced")
	return wr.confirm(uid, src)
}

// move follows a retitle: the file is renamed first, then its bytes are replaced.
func (wr *writer) move(uid ulid.ULID, last seen, src projection.Source) (out outcome, warning string, done bool) {
	root := wr.w.root
	old, exists, err := readFile(root, last.Path)
	if err != nil || !exists {
		return 0, "", false
	}
	if !wr.ours(uid, sha256.Sum256(old), last, true) {
		return leftAlone, fmt.Sprintf("%s was changed by hand: left as it is, the journal has the new version", last.Path), true
	}
	if at, err := root.Lstat(src.Path); err == nil {
		if from, err := root.Lstat(last.Path); err == nil && os.SameFile(at, from) {
			if err := atomicfile.Remove(root, last.Path); err != nil { // killed in the middle of a move
				return owed, fmt.Sprintf("%s not renamed: %v", last.Path, plain(err)), true
			}
			return 0, "", false
		}
		return leftAlone, fmt.Sprintf("%s is there already: %s keeps its name, the journal has the new version", src.Path, last.Path), true
	}
	if err := root.MkdirAll(path.Dir(src.Path), 0o755); err != nil {
		return owed, fmt.Sprintf("%s not written: %v", src.Path, plain(err)), true
	}
	err = atomicfile.Move(root, last.Path, src.Path)
	if errors.Is(err, os.ErrExist) {
		return leftAlone, fmt.Sprintf("%s is there already: %s keeps its name, the journal has the new version", src.Path, last.Path), true
	}
	if err != nil {
		return owed, fmt.Sprintf("%s not renamed: %v", last.Path, plain(err)), true
	}
	fault.Point("workspace.file-renamed")
	return 0, "", false
}

// remove takes away the file of a deleted artifact, if it is one we wrote.
func (wr *writer) remove(uid ulid.ULID, src projection.Source, disk [32]byte, exists bool, last seen, known bool) (outcome, string) {
	if exists {
		if disk != src.Want && !wr.ours(uid, disk, last, known) {
			return leftAlone, fmt.Sprintf("%s was changed by hand: left as it is, the journal has deleted its artifact", src.Path)
		}
		kept, err := atomicfile.Take(wr.w.root, src.Path, func(data []byte) bool { return sha256.Sum256(data) == disk })
		switch {
		case errors.Is(err, atomicfile.ErrChanged) && kept != "":
			return leftAlone, fmt.Sprintf("%s was changed by hand just now: those bytes are kept as %s", src.Path, kept)
		case errors.Is(err, atomicfile.ErrChanged):
			return leftAlone, fmt.Sprintf("%s was changed by hand just now: left as it is, the journal has deleted its artifact", src.Path)
		case err != nil:
			return owed, fmt.Sprintf("%s not removed: %v", src.Path, plain(err))
		}
		fault.Point("workspace.file-removed")
	}
	if err := wr.cache.drop(uid); err != nil {
		return owed, fmt.Sprintf("%s removed, but not noted: %v", src.Path, plain(err))
	}
	return asWanted, ""
}

// ours reports whether bytes with this hash are an earlier version that we
// wrote and that nobody put back by hand.
func (wr *writer) ours(uid ulid.ULID, disk [32]byte, last seen, known bool) bool {
	wants := projection.Wants{Table: wr.tables("wants")}
	at, ok, err := wants.Get(uid, disk)
	if err != nil || !ok {
		return false
	}
	if !known || last.hash() == disk {
		return true
	}
	confirmed, ok, err := wants.Get(uid, last.hash())
	return err == nil && (!ok || confirmed.Compare(at) < 0)
}

func (wr *writer) confirm(uid ulid.ULID, src projection.Source) (outcome, string) {
	odd := false
	if a, ok, err := (projection.Artifacts{Table: wr.tables("artifacts")}).Get(uid); err == nil && ok {
		if front, err := render.Parse(src.Head); err == nil {
			odd = len(oddities(src.Path, front, a)) > 0
		}
	}
	if err := wr.cache.note(uid, src.Path, src.Want, odd, wr.w.env.now()); err != nil {
		return owed, fmt.Sprintf("%s written, but not noted: %v", src.Path, plain(err))
	}
	return asWanted, ""
}

func (wr *writer) body(uid ulid.ULID) ([]byte, error) {
	a, ok, err := projection.Artifacts{Table: wr.tables("artifacts")}.Get(uid)
	if err != nil || !ok {
		return nil, fmt.Errorf("no row of artifact %s: %v", uid, err)
	}
	return (&World{tx: wr.tx}).Body(a)
}

// readFile reads a plain file of the workspace, at most 16 MiB.
func readFile(root *os.Root, name string) (data []byte, exists bool, err error) {
	fi, err := root.Lstat(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if !fi.Mode().IsRegular() {
		return nil, true, fmt.Errorf("not a plain file")
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, true, err
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	return data, true, err
}

// plain strips what os puts around an error: paths of this machine do not
// belong into a reply.
func plain(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}

func sortedUIDs[V any](m map[ulid.ULID]V) []ulid.ULID {
	out := make([]ulid.ULID, 0, len(m))
	for u := range m {
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b ulid.ULID) int { return a.Compare(b) })
	return out
}
