// Package atomicfile writes whole files so that a crash leaves the old bytes or
// the new ones, never a part. Every name is resolved through an os.Root, so no
// link leads out of the folder.
package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"sync/atomic"

	"forgeplan/internal/fault"
)

// TempPrefix begins the names of files that are being written. One that a
// killed process left behind may be removed.
const TempPrefix = ".tmp-"

var serial atomic.Int64

// Write replaces name by data: temporary file in the same folder, sync,
// rename, sync of the folder. perm is that of a new file.
func Write(root *os.Root, name string, data []byte, perm fs.FileMode) error {
	if err := write(root, name, data, perm, true); err != nil {
		return err
	}
	return syncFolder(root, name)
}

// WriteNoSync is Write without waiting for the disk, for what can be made
// anew: after a power cut the file may be old, new or empty.
func WriteNoSync(root *os.Root, name string, data []byte, perm fs.FileMode) error {
	return write(root, name, data, perm, false)
}

func write(root *os.Root, name string, data []byte, perm fs.FileMode, durable bool) error {
	temp, err := stage(root, name, data, perm, durable)
	if err != nil {
		return err
	}
	fault.Point("file.rename")
	if err := root.Rename(temp, name); err != nil {
		root.Remove(temp)
		return fmt.Errorf("rename to %s: %w", name, err)
	}
	fault.Point("file.renamed")
	return nil
}

// stage writes data beside name under a temporary name.
func stage(root *os.Root, name string, data []byte, perm fs.FileMode, durable bool) (temp string, err error) {
	temp = path.Join(path.Dir(name), TempPrefix+path.Base(name)+"-"+strconv.Itoa(os.Getpid())+"-"+strconv.FormatInt(serial.Add(1), 10))
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return "", fmt.Errorf("make temporary file: %w", err)
	}
	fault.Point("file.write")
	if _, err = f.Write(data); err == nil && durable {
		fault.Point("file.sync")
		if err = fault.Err("file.sync"); err == nil {
			err = f.Sync()
		}
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		root.Remove(temp)
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	return temp, nil
}

// Rename moves a file within the folder and makes that durable.
func Rename(root *os.Root, from, to string) error {
	fault.Point("file.rename")
	if err := root.Rename(from, to); err != nil {
		return fmt.Errorf("rename %s: %w", from, err)
	}
	fault.Point("file.renamed")
	return syncFolder(root, to)
}

// Remove removes a file and makes that durable.
func Remove(root *os.Root, name string) error {
	fault.Point("file.remove")
	if err := root.Remove(name); err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return syncFolder(root, name)
}

// syncFolder makes a rename durable. Folders cannot be synced everywhere;
// where they cannot, the name may be lost with the power, never the bytes.
func syncFolder(root *os.Root, name string) error {
	dir, err := root.Open(path.Dir(name))
	if err != nil {
		return nil
	}
	defer dir.Close()
	_ = dir.Sync()
	return nil
}
