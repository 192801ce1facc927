package filelock

import (
	"os"

	"golang.org/x/sys/windows"
)

// open makes the file where it is missing.
func open(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) }

// farByte is where the locked byte lies: far beyond the content, which others
// may then read.
const farByte = 1 << 30

// lock blocks until the lock is had.
func lock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &windows.Overlapped{OffsetHigh: farByte})
}

func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: farByte})
}
