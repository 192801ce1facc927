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
//	temp written and synced ─ compare ─ keep a second name of the old file ─ rename ─ compare what was displaced
//
// there is false where no file stands.
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
	old := temp + ".old"
	kept := there && root.Link(name, old) == nil
	if kept {
		defer root.Remove(old)
	}
	fault.Point("file.rename")
	if err := root.Rename(temp, name); err != nil {
		return fmt.Errorf("rename to %s: %w", name, err)
	}
	fault.Point("file.renamed")
	if kept {
		displaced, _, err := read(root, old)
		if err == nil && !known(displaced, true) {
			if err := root.Rename(old, name); err != nil {
				return fmt.Errorf("put %s back: %w", name, err)
			}
			return ErrChanged
		}
	}
	return syncFolder(root, name)
}

func read(root *os.Root, name string) (data []byte, there bool, err error) {
	data, err = root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}
