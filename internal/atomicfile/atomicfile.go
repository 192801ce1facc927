// Package atomicfile writes whole files so that a crash leaves the old bytes or
// the new ones, never a part. Every name is resolved through an os.Root, so no
// link leads out of the folder; names have forward slashes.
//
// Fault points, in this order: file.write, file.sync, file.rename, file.renamed;
// of Replace also file.compared and file.linked; of Append file.append; of
// Remove file.remove.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"

	"forgeplan/internal/fault"
)

// TempPrefix begins the names of files that are being written. One that a
// killed process left behind may be removed.
const TempPrefix = ".tmp-"

var serial atomic.Int64

// Write replaces name by data: temporary file in the same folder, sync,
// rename, sync of the folder. perm is that of a new file; one that is replaced
// keeps its own. A link named name is replaced, not followed.
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
	if err := rename(root, temp, name); err != nil {
		root.Remove(temp)
		return err
	}
	return nil
}

func rename(root *os.Root, from, to string) error {
	fault.Point("file.rename")
	err := fault.Err("file.rename")
	if err == nil {
		err = root.Rename(from, to)
	}
	if err != nil {
		return fmt.Errorf("rename to %s: %w", to, err)
	}
	fault.Point("file.renamed")
	return nil
}

// stage writes data beside name under a temporary name, with the permissions
// of the file it is to replace.
func stage(root *os.Root, name string, data []byte, perm fs.FileMode, durable bool) (temp string, err error) {
	was, err := root.Lstat(name)
	replaces := err == nil && was.Mode().IsRegular()
	if replaces {
		perm = was.Mode().Perm()
	}
	f, temp, err := create(root, name, perm)
	if err != nil {
		return "", fmt.Errorf("make temporary file: %w", err)
	}
	if replaces {
		err = f.Chmod(perm) // exactly, whatever the umask took away
	}
	if err == nil {
		err = fill(f, data, durable)
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

// create makes the temporary file of name. Process numbers come again, so the
// name may be that of a file which a killed process left behind: the next is
// tried.
func create(root *os.Root, name string, perm fs.FileMode) (f *os.File, temp string, err error) {
	begin := path.Join(path.Dir(name), TempPrefix+path.Base(name)+"-"+strconv.Itoa(os.Getpid())+"-")
	for {
		temp = begin + strconv.FormatInt(serial.Add(1), 10)
		f, err = root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if !errors.Is(err, fs.ErrExist) {
			return f, temp, err
		}
	}
}

func fill(f *os.File, data []byte, durable bool) error {
	fault.Point("file.write")
	if err := fault.Err("file.write"); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil || !durable {
		return err
	}
	fault.Point("file.sync")
	if err := fault.Err("file.sync"); err != nil {
		return err
	}
	return f.Sync()
}

// Rename moves a file within the folder and makes that durable.
func Rename(root *os.Root, from, to string) error {
	if err := rename(root, from, to); err != nil {
		return err
	}
	if path.Dir(from) != path.Dir(to) {
		if err := syncFolder(root, from); err != nil {
			return err
		}
	}
	return syncFolder(root, to)
}

// Append adds data at the end of a file, which it makes with perm where it is
// missing. It does not sync: a crash may leave any first part of data.
func Append(root *os.Root, name string, data []byte, perm fs.FileMode) error {
	fault.Point("file.append")
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, perm)
	if err != nil {
		return fmt.Errorf("open %s: %w", name, err)
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("append to %s: %w", name, err)
	}
	return nil
}

// Remove removes a file and makes that durable.
func Remove(root *os.Root, name string) error {
	fault.Point("file.remove")
	if err := root.Remove(name); err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return syncFolder(root, name)
}

// syncFolder makes a change of names in the folder of name durable. Where
// folders cannot be opened or synced, the new name may be lost with the power,
// the bytes never: that is no reason to fail.
func syncFolder(root *os.Root, name string) error {
	dir, err := root.Open(path.Dir(name))
	if err != nil {
		return nil
	}
	defer dir.Close()
	err = dir.Sync()
	if err == nil || runtime.GOOS == "windows" || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return fmt.Errorf("sync folder of %s: %w", name, err)
}
