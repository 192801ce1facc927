package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

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

func read(root *os.Root, name string) (data []byte, there bool, err error) {
	data, err = root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}
