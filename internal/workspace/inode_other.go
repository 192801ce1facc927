//go:build !unix

package workspace

import "os"

// inode is the file's number on its disk, 0 where it is not known.
func inode(os.FileInfo) uint64 { return 0 }
