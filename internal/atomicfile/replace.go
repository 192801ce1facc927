package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"

	"forgeplan/internal/fault"
)

// ErrChanged: the file is not what the caller saw; it was left as it is.
var ErrChanged = errors.New("file changed meanwhile")

// Replace writes name like Write, but only over bytes that known accepts:
// known is asked about the file just before the swap and again about the very
// bytes that the swap displaced. Somebody's bytes that came in between are put
// back, and ErrChanged is returned.
//
//	temp written and synced ─ compare ─ swap temp and name ─ compare what was displaced
//
// there is false where no file stands. Where the system cannot swap two names
// in one step, a file that somebody else renames into place in the microseconds
// before ours is lost.
func Replace(root *os.Root, name string, data []byte, perm fs.FileMode, known func(data []byte, there bool) bool) error {
	temp, err := stage(root, name, data, perm, true)
	if err != nil {
		return err
	}
	defer root.Remove(temp) // gone already where all went well
	now, there, err := read(root, name)
	if err != nil {
		return err
	}
	if !known(now, there) {
		return ErrChanged
	}
	fault.Point("file.compared")
	if !there {
		// A link never replaces what came into being meanwhile.
		switch err := root.Link(temp, name); {
		case err == nil:
			fault.Point("file.linked")
			return syncFolder(root, name)
		case errors.Is(err, fs.ErrExist):
			return ErrChanged
		}
		// No hard links here: fall back to the rename.
	}
	kept, err := swap(root, temp, name)
	if err != nil {
		return err
	}
	if kept != "" {
		defer root.Remove(kept)
		displaced, _, err := read(root, kept)
		if err != nil || !known(displaced, true) {
			if err := putBack(root, kept, name); err != nil {
				return fmt.Errorf("put %s back: %w", name, err)
			}
			return ErrChanged
		}
	}
	return syncFolder(root, name)
}

// swap puts temp in the place of name and says under which name the displaced
// file is kept; empty where it could not be.
func swap(root *os.Root, temp, name string) (kept string, err error) {
	fault.Point("file.rename")
	if err := fault.Err("file.rename"); err != nil {
		return "", fmt.Errorf("rename to %s: %w", name, err)
	}
	if exchange(root, temp, name) == nil {
		fault.Point("file.renamed")
		return temp, nil
	}
	old := temp + ".old"
	if root.Link(name, old) == nil {
		kept = old
	}
	if err := root.Rename(temp, name); err != nil {
		if kept != "" {
			root.Remove(kept)
		}
		return "", fmt.Errorf("rename to %s: %w", name, err)
	}
	fault.Point("file.renamed")
	return kept, nil
}

// putBack undoes a swap.
func putBack(root *os.Root, kept, name string) error {
	if exchange(root, kept, name) == nil {
		return nil
	}
	return root.Rename(kept, name)
}

// Take removes name, but only if known accepts its bytes: the file is moved
// aside first and looked at there, so that what somebody saved in between is
// seen too. Their bytes are put back, unless something stands at the name
// again, and ErrChanged is returned; then they stay under the name kept.
func Take(root *os.Root, name string, known func(data []byte) bool) (kept string, err error) {
	var aside string
	for { // bytes that were kept once are never written over
		aside = path.Join(path.Dir(name), TempPrefix+path.Base(name)+"-"+strconv.Itoa(os.Getpid())+"-"+strconv.FormatInt(serial.Add(1), 10)+".old")
		if _, err := root.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	fault.Point("file.remove")
	if err := root.Rename(name, aside); err != nil {
		return "", fmt.Errorf("remove %s: %w", name, err)
	}
	fault.Point("file.taken")
	data, err := root.ReadFile(aside)
	if err == nil && known(data) {
		if err := root.Remove(aside); err != nil {
			return "", fmt.Errorf("remove %s: %w", name, err)
		}
		return "", syncFolder(root, name)
	}
	// A link never replaces what came into being meanwhile.
	if lerr := root.Link(aside, name); lerr != nil {
		return aside, ErrChanged
	}
	_ = root.Remove(aside)
	return "", ErrChanged
}

// Move renames a file to a name at which nothing stands; fs.ErrExist if
// something does. Where links are not to be had, the last look decides.
func Move(root *os.Root, from, to string) error {
	fault.Point("file.rename")
	err := root.Link(from, to)
	switch {
	case err == nil:
		fault.Point("file.linked")
		err = root.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return err
	default:
		if _, serr := root.Lstat(to); serr == nil {
			return fs.ErrExist
		}
		err = root.Rename(from, to)
	}
	if err != nil {
		return fmt.Errorf("rename %s: %w", from, err)
	}
	fault.Point("file.renamed")
	return syncFolder(root, to)
}

func read(root *os.Root, name string) (data []byte, there bool, err error) {
	data, err = root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}
