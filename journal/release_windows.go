package journal

import "os"

// release closes a descriptor; Windows drops a handle's locks with it.
func release(f *os.File) { _ = f.Close() }

// syncDir does nothing: Windows cannot sync a directory.
func syncDir(string) error { return nil }
