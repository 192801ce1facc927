//go:build !windows

package journal

import (
	"os"
	"syscall"
)

// release unlocks and closes a descriptor whose mapping we may have lost sight
// of. Closing alone would not do: a mapping keeps the open file, and with it the
// flock, until the process ends.
func release(f *os.File) {
	// Errors: f may be closed already, and there is nothing left to undo.
	if c, err := f.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { _ = syscall.Flock(int(fd), syscall.LOCK_UN) })
	}
	_ = f.Close()
}

// syncDir makes a rename in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
