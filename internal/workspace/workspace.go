// Package workspace opens a .forgeplan folder and runs one call as one
// transaction: kernel lock, journal, a snapshot with an overlay to decide on,
// one commit, and then the files for people (Markdown and JSONL), all in one
// hold of the lock. It is the only door to the clock and to chance.
package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"forgeplan/internal/event"
)

// Names inside the workspace folder.
const (
	Folder      = ".forgeplan"
	journalName = "journal.db"
	lockName    = "lock"
	logsName    = "logs"
	cacheName   = "cache"
	copyName    = "copy"
)

var (
	// ErrNone: no .forgeplan folder here or above.
	ErrNone = errors.New("no workspace found")
	// ErrUninitialized: a .forgeplan folder without a journal and without any
	// trace of one: a fresh clone, or a workspace of another program.
	ErrUninitialized = errors.New("workspace has no journal yet")
	// ErrLost: the journal is gone or empty although it existed once.
	ErrLost = errors.New("journal lost")
	// ErrNewer: the journal, a table or an event that the call depends on was
	// written by a newer program.
	ErrNewer = errors.New("written by a newer program")
)

// maxPending bounds the call events that wait in memory for a commit.
const maxPending = 1000

// Env is one process's door to workspaces: where to look for one, the clock,
// chance, and the call events that could not be recorded yet. It is safe for
// concurrent use. The zero values of Now and Entropy mean the system's.
type Env struct {
	Start   string           // --workspace or FORGEPLAN_WORKSPACE; empty: the working directory
	Program string           // program version, recorded with every call
	Command string           // shown to others while this process holds the lock
	Now     func() time.Time // clock
	Entropy io.Reader        // random bytes for ULIDs

	mu      sync.Mutex
	pending []event.Call // newest maxPending calls whose record waits for a commit
}

// now reads the clock.
func (e *Env) now() time.Time {
	if e.Now != nil {
		return e.Now()
	}
	return time.Now()
}

// Clock reads the clock: the one place where tools and faces get the time.
func (e *Env) Clock() time.Time { return e.now() }

func (e *Env) entropy() io.Reader {
	if e.Entropy != nil {
		return e.Entropy
	}
	return rand.Reader
}

// Defer keeps a call event in memory until the next commit of this process.
// Only the newest 1,000 are kept.
func (e *Env) Defer(c event.Call) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending = append(e.pending, c)
	if over := len(e.pending) - maxPending; over > 0 {
		e.pending = append([]event.Call(nil), e.pending[over:]...)
	}
}

// take removes and returns the waiting call events.
func (e *Env) take() []event.Call {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.pending
	e.pending = nil
	return p
}

// giveBack puts call events back in front of those that came meanwhile.
func (e *Env) giveBack(p []event.Call) {
	if len(p) == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending = append(p, e.pending...)
	if over := len(e.pending) - maxPending; over > 0 {
		e.pending = e.pending[over:]
	}
}

// Pending reports whether call events wait for a commit.
func (e *Env) Pending() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.pending) > 0
}

// start is the absolute folder where the search for a workspace begins.
func (e *Env) start() (string, error) {
	dir := e.Start
	if dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			return "", fmt.Errorf("find working directory: %w", err)
		}
		dir = wd
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find workspace: %w", err)
	}
	if filepath.Base(dir) == Folder { // the folder itself was named
		dir = filepath.Dir(dir)
	}
	return dir, nil
}

// Find returns the nearest folder upwards that holds a .forgeplan folder.
// ErrNone if there is none.
func (e *Env) Find() (string, error) {
	dir, err := e.start()
	if err != nil {
		return "", err
	}
	for {
		if fi, err := os.Stat(filepath.Join(dir, Folder)); err == nil && fi.IsDir() {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", ErrNone
		}
		dir = up
	}
}

// Workspace is one .forgeplan folder, opened for one call. Close it.
type Workspace struct {
	env  *Env
	base string   // the project's folder, parent of .forgeplan
	root *os.Root // .forgeplan; every access goes through it
	conf Config
}

// Open finds the workspace and reads its configuration. It takes no lock and
// does not touch the journal. ErrNone, or a *ConfigError.
func (e *Env) Open() (*Workspace, error) {
	base, err := e.Find()
	if err != nil {
		return nil, err
	}
	return e.openAt(base)
}

func (e *Env) openAt(base string) (*Workspace, error) {
	root, err := os.OpenRoot(filepath.Join(base, Folder))
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	conf, err := readConfig(root)
	if err != nil {
		root.Close()
		return nil, err
	}
	return &Workspace{env: e, base: base, root: root, conf: conf}, nil
}

// Close releases the folder.
func (w *Workspace) Close() error { return w.root.Close() }

// Base is the project's folder, the parent of .forgeplan.
func (w *Workspace) Base() string { return w.base }

// Config is the workspace's configuration.
func (w *Workspace) Config() Config { return w.conf }

func (w *Workspace) path(name string) string { return filepath.Join(w.base, Folder, name) }

// journalState tells a usable journal from a lost one and from one that never
// was. nil, ErrUninitialized, ErrLost or an I/O error.
func (w *Workspace) journalState() error {
	fi, err := w.root.Lstat(journalName)
	switch {
	case err == nil && fi.Mode().IsRegular() && fi.Size() > 0:
		return nil
	case err == nil:
		return fmt.Errorf("%w: %s/%s is empty or no plain file", ErrLost, Folder, journalName)
	case !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("look at the journal: %w", err)
	}
	if w.traceOfJournal() {
		return fmt.Errorf("%w: %s/%s is missing", ErrLost, Folder, journalName)
	}
	return ErrUninitialized
}

// traceOfJournal reports whether something only a journal of ours leaves
// behind is here: the cache, the second copy, or log lines with our calls.
func (w *Workspace) traceOfJournal() bool {
	for _, name := range []string{cacheName, copyName} {
		if f, err := w.root.Open(name); err == nil {
			entries, _ := f.Readdirnames(1)
			f.Close()
			if len(entries) > 0 {
				return true
			}
		}
	}
	dir, err := w.root.Open(logsName)
	if err != nil {
		return false
	}
	names, _ := dir.Readdirnames(-1)
	dir.Close()
	for _, name := range names {
		if strings.HasPrefix(name, logPrefix) && !w.lastLogged(logsName+"/"+name).IsZero() {
			return true
		}
	}
	return false
}
