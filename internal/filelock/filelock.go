// Package filelock is a lock between processes that the kernel releases when
// its holder dies: there is nothing to unlock by hand and no stale holder to
// guess at. What the lock file says of its holder is advice to people.
package filelock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

// ErrBusy: errors.Is of every *BusyError.
var ErrBusy = errors.New("lock is held by another process")

var errNotPlain = errors.New("lock file is not a plain file")

// maxHolder is how much of a lock file is read, bytes.
const maxHolder = 4 << 10

// Holder says who holds a lock. All of it may be missing.
type Holder struct {
	PID     int       `json:"pid"`
	Command string    `json:"command"`
	Since   time.Time `json:"since"`
}

// BusyError: the lock was not had in time.
type BusyError struct{ Holder Holder }

func (e *BusyError) Error() string {
	if e.Holder.PID == 0 {
		return ErrBusy.Error()
	}
	return fmt.Sprintf("%v: process %d (%s)", ErrBusy, e.Holder.PID, e.Holder.Command)
}

func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// Locker takes one lock for this process. A kernel lock belongs to an open
// file, so a process must never have two of one path: get it with For.
//
// One goroutine blocks in the kernel, whoever waits: callers queue up before
// it, and one that gives up merely leaves the queue.
type Locker struct {
	path  string
	mu    sync.Mutex
	queue []*waiter
	busy  bool // the goroutine runs, or a caller holds the lock
}

type waiter struct {
	me      Holder
	granted chan grant // capacity 1
}

type grant struct {
	file *os.File
	err  error
}

var (
	lockersMu sync.Mutex
	lockers   = map[string]*Locker{}
)

// For is the process's Locker of a path. path must be absolute.
func For(path string) *Locker {
	lockersMu.Lock()
	defer lockersMu.Unlock()
	l := lockers[path]
	if l == nil {
		l = &Locker{path: path}
		lockers[path] = l
	}
	return l
}

// Acquire takes the lock exclusively, in the order of the calls within this
// process. It blocks for at most wait, which must be positive, then returns a
// *BusyError with the holder as the lock file names it; when ctx ends first, it
// returns context.Cause(ctx). The lock file is made where it is missing and
// never removed. release may be called more than once.
func (l *Locker) Acquire(ctx context.Context, wait time.Duration, me Holder) (release func(), err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	w := &waiter{me: me, granted: make(chan grant, 1)}
	l.mu.Lock()
	l.queue = append(l.queue, w)
	if !l.busy {
		l.busy = true
		go l.next()
	}
	l.mu.Unlock()

	timer := time.NewTimer(wait)
	defer timer.Stop()
	var g grant
	select {
	case g = <-w.granted:
	case <-ctx.Done():
		if g, ok := l.leave(w); ok && g.err == nil {
			l.release(g.file)
		}
		return nil, context.Cause(ctx)
	case <-timer.C:
		var ok bool
		if g, ok = l.leave(w); !ok {
			return nil, &BusyError{Holder: l.holder()}
		}
	}
	if g.err != nil {
		return nil, g.err
	}
	var once sync.Once
	return func() { once.Do(func() { l.release(g.file) }) }, nil
}

// leave takes a waiter out of the queue; ok where it was served in the same
// moment.
func (l *Locker) leave(w *waiter) (g grant, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = slices.DeleteFunc(l.queue, func(q *waiter) bool { return q == w })
	select {
	case g = <-w.granted:
		return g, true
	default:
		return grant{}, false
	}
}

// next blocks in the kernel for whoever is first in the queue when the lock
// comes.
func (l *Locker) next() {
	f, err := take(l.path)
	if err != nil {
		err = fmt.Errorf("lock workspace: %w", err)
	}
	l.mu.Lock()
	if len(l.queue) == 0 {
		l.busy = false
		l.mu.Unlock()
		if err == nil {
			drop(f)
		}
		return
	}
	w := l.queue[0]
	l.queue = l.queue[1:]
	if err != nil {
		l.again()
	} else {
		note(f, w.me)
	}
	w.granted <- grant{file: f, err: err} // still under mu: leave cannot miss it
	l.mu.Unlock()
}

// take blocks until the file at path is locked. A file that was replaced or
// removed meanwhile locks nobody else out, so the one that stands there now is
// tried instead.
func take(path string) (*os.File, error) {
	for {
		f, err := open(path)
		if err != nil {
			return nil, err
		}
		mine, err := f.Stat()
		if err == nil && !mine.Mode().IsRegular() {
			err = errNotPlain
		}
		if err == nil {
			err = lock(f)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		now, err := os.Lstat(path)
		if err == nil && os.SameFile(mine, now) {
			return f, nil
		}
		drop(f)
		if err == nil && !now.Mode().IsRegular() {
			return nil, errNotPlain
		}
	}
}

// drop releases the lock of f. It unlocks before it closes: a child process
// that is being started holds a copy of the descriptor for a moment, and with
// it the lock.
func drop(f *os.File) {
	_ = unlock(f) // where this fails, closing does it
	f.Close()
}

// again starts the goroutine for the rest of the queue. The caller holds mu.
func (l *Locker) again() {
	l.busy = len(l.queue) > 0
	if l.busy {
		go l.next()
	}
}

// release gives the lock up, and lets other processes have it before the next
// in our own queue.
func (l *Locker) release(f *os.File) {
	drop(f)
	l.mu.Lock()
	l.again()
	l.mu.Unlock()
}

// note writes the holder into the file: advice, so errors are of no matter. The
// rest of a longer note is cut off afterwards, since cutting the file to nothing
// first makes ext4 write it to the disk at once (measured: six times as slow).
func note(f *os.File, me Holder) {
	data, err := json.Marshal(me)
	if err != nil {
		return
	}
	data = append(data, '\n')
	if _, err := f.WriteAt(data, 0); err == nil {
		_ = f.Truncate(int64(len(data)))
	}
}

// holder reads who holds the lock; garbage reads as nobody known.
func (l *Locker) holder() (h Holder) {
	if fi, err := os.Lstat(l.path); err != nil || !fi.Mode().IsRegular() {
		return Holder{} // a pipe would block the reader
	}
	f, err := os.Open(l.path)
	if err != nil {
		return Holder{}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxHolder))
	if err != nil || json.Unmarshal(data, &h) != nil {
		return Holder{}
	}
	return h
}
