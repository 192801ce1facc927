//go:build unix

package workspace

import (
	"os"
	"syscall"
)

// inode is the file's number on its disk, 0 where it is not known.
func inode(fi os.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
