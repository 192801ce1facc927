// Package filelock is a lock between processes that the kernel releases when
// its holder dies: there is nothing to unlock by hand and no stale holder to
// guess at. What the lock file says of its holder is advice to people.
package filelock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// ErrBusy: errors.Is of every *BusyError.
var ErrBusy = errors.New("lock is held by another process")

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
// process. It blocks for at most wait, then returns a *BusyError with the
// holder; when ctx ends first, it returns context.Cause(ctx). The lock file is
// made where it is missing and never removed.
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
	select {
	case g := <-w.granted:
		if g.err != nil {
			return nil, g.err
		}
		var once sync.Once
		return func() { once.Do(func() { l.unlock(g.file) }) }, nil
	case <-timer.C:
		l.leave(w)
		return nil, &BusyError{Holder: l.holder()}
	case <-ctx.Done():
		l.leave(w)
		return nil, context.Cause(ctx)
	}
}

// leave takes a waiter out of the queue; a lock that was granted to it in the
// same moment is released at once.
func (l *Locker) leave(w *waiter) {
	l.mu.Lock()
	for i, q := range l.queue {
		if q == w {
			l.queue = append(l.queue[:i:i], l.queue[i+1:]...)
			break
		}
	}
	l.mu.Unlock()
	select {
	case g := <-w.granted:
		if g.err == nil {
			l.unlock(g.file)
		}
	default:
	}
}

// next blocks in the kernel for whoever is first in the queue when the lock
// comes.
func (l *Locker) next() {
	f, err := open(l.path)
	if err == nil {
		if err = lock(f); err != nil {
			f.Close()
		}
	}
	if err != nil {
		err = fmt.Errorf("lock workspace: %w", err)
	}
	l.mu.Lock()
	if len(l.queue) == 0 {
		l.busy = false
		l.mu.Unlock()
		if err == nil {
			f.Close() // closing releases the lock
		}
		return
	}
	w := l.queue[0]
	l.queue = l.queue[1:]
	if err != nil {
		l.again()
		l.mu.Unlock()
		w.granted <- grant{err: err}
		return
	}
	// Still under mu: leave cannot miss a grant that is on its way.
	note(f, w.me)
	w.granted <- grant{file: f}
	l.mu.Unlock()
}

// again starts the goroutine for the rest of the queue. The caller holds mu.
func (l *Locker) again() {
	l.busy = len(l.queue) > 0
	if l.busy {
		go l.next()
	}
}

func (l *Locker) unlock(f *os.File) {
	f.Close()
	l.mu.Lock()
	l.again()
	l.mu.Unlock()
}

// note writes the holder into the file: advice, so errors are of no matter.
func note(f *os.File, me Holder) {
	data, err := json.Marshal(me)
	if err != nil {
		return
	}
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt(append(data, '\n'), 0)
	}
}

// holder reads who holds the lock; garbage reads as nobody known.
func (l *Locker) holder() (h Holder) {
	f, err := os.Open(l.path)
	if err != nil {
		return Holder{}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil || json.Unmarshal(bytes.TrimSpace(data), &h) != nil {
		return Holder{}
	}
	return h
}
