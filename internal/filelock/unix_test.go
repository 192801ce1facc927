//go:build unix

package filelock

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A file removed under its waiters guards nothing any more: who gets its lock
// must go on to the file that stands there now.
func TestReplacedLockFile(t *testing.T) {
	path := lockPath(t)
	p := start(t, "hold", path)
	p.says(t, "held")
	got := make(chan func(), 1)
	go func() {
		release, err := For(path).Acquire(context.Background(), long, self)
		if err != nil {
			t.Error(err)
		}
		got <- release
	}()
	queued(t, path, 1)
	time.Sleep(20 * time.Millisecond) // the goroutine now blocks in the old file
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	p.finish(t)
	release := <-got
	if release == nil {
		return
	}
	start(t, "try", path).finish(t)
	release()
	had(t, path)()
}

// A child process that is being started has a copy of the descriptor for a
// moment; the lock must not live as long as the copy.
func TestReleasedThoughTheDescriptorIsCopied(t *testing.T) {
	path := lockPath(t)
	f, err := take(path)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	drop(f)
	had(t, path)()
}

func TestOnlyPlainFiles(t *testing.T) {
	for name, lay := range map[string]func(path string) error{
		"link":   func(path string) error { return os.Symlink(filepath.Join(filepath.Dir(path), "elsewhere"), path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := lockPath(t)
			if err := lay(path); err != nil {
				t.Fatal(err)
			}
			release, err := For(path).Acquire(context.Background(), long, self)
			if err == nil {
				release()
				t.Fatal("locked it")
			}
			if _, err := os.Lstat(filepath.Join(filepath.Dir(path), "elsewhere")); err == nil {
				t.Error("made a file through a link")
			}
			if h := For(path).holder(); h != (Holder{}) {
				t.Errorf("got holder %+v, want none", h)
			}
		})
	}
}

func TestLockFileIsPrivate(t *testing.T) {
	path := lockPath(t)
	had(t, path)()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := fi.Mode().Perm(); got != 0o600 {
		t.Errorf("got mode %v, want 0600", got)
	}
}
