//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// open makes the file where it is missing. It follows no link, and O_NONBLOCK
// keeps a pipe of that name from blocking.
func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.EROFS) || errors.Is(err, os.ErrPermission) {
		// Where nothing can be written there is still something to read.
		return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	}
	return f, err
}

// lock blocks until the lock is had.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
