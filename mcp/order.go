package mcp

import (
	"container/list"
	"context"
	"sync"
)

// order keeps the calls of one session in line: a mutation starts after all
// calls received before it have ended, a read after all mutations received
// before it. Everything else may overlap.
//
//	received   R1  R2  M3  R4  R5  M6
//	may start  ├── both ─┤
//	                    └ M3 ┘
//	                         ├── both ─┤
//	                                   └ M6
type order struct {
	mu      sync.Mutex
	live    list.List // *ticket, in order of receipt, until released
	writers int       // live tickets of mutations
}

// A ticket is the place of one call in the line.
type ticket struct {
	order   *order
	place   *list.Element
	mutates bool
	ready   chan struct{} // closed when the call may start
	open    bool          // ready is closed
}

// take gives the next place. Called in the order of receipt.
func (o *order) take(mutates bool) *ticket {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := &ticket{order: o, mutates: mutates, ready: make(chan struct{})}
	if o.live.Len() == 0 || (!mutates && o.writers == 0) {
		t.start()
	}
	t.place = o.live.PushBack(t)
	if mutates {
		o.writers++
	}
	return t
}

// wait blocks until the call may start or ctx ends.
func (t *ticket) wait(ctx context.Context) {
	select {
	case <-t.ready:
	case <-ctx.Done():
	}
}

// release gives the place up, also one that never came to its turn: those
// behind it still wait for those before it. More than one release is harmless.
func (t *ticket) release() {
	o := t.order
	o.mu.Lock()
	defer o.mu.Unlock()
	if t.place == nil {
		return
	}
	o.live.Remove(t.place)
	t.place = nil
	if t.mutates {
		o.writers--
	}
	for e := o.live.Front(); e != nil; e = e.Next() {
		next := e.Value.(*ticket)
		if next.mutates {
			if e == o.live.Front() {
				next.start()
			}
			return
		}
		if next.open && !t.mutates {
			return // reads up to the next mutation started together
		}
		next.start()
	}
}

func (t *ticket) start() {
	if !t.open {
		t.open = true
		close(t.ready)
	}
}
