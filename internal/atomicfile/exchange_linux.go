package atomicfile

import (
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// exchange swaps two names of one folder in a single step.
// errors.ErrUnsupported or EINVAL where the file system cannot.
func exchange(root *os.Root, a, b string) error {
	dir, err := root.Open(path.Dir(a))
	if err != nil {
		return err
	}
	defer dir.Close()
	fd := int(dir.Fd())
	return unix.Renameat2(fd, path.Base(a), fd, path.Base(b), unix.RENAME_EXCHANGE)
}
