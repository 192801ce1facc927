// Package testws makes workspaces for tests: a temporary folder, a clock that
// the test moves, a fixed source of chance, and after every test the check
// that nobody has to remember: chains verify, stored rows equal folded rows.
package testws

import (
	"context"
	"encoding/json"
	"math/rand"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"forgeplan/internal/workspace"
	"forgeplan/tools"
)

// WS is one workspace of one test.
type WS struct {
	TB     testing.TB
	Dir    string // the project's folder
	Env    *workspace.Env
	Reg    *tools.Registry
	Clock  *Clock
	Caller tools.Caller // who calls by Call; face mcp at first
}

// Clock is a clock that tests move. Every reading moves it on by a
// millisecond, so that durations are not all zero and order shows.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now reads the clock and moves it on by a millisecond.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

// Set puts the clock anywhere, back too.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

// Start is where the clock of a new workspace stands.
var Start = time.Date(2026, 4, 26, 10, 0, 0, 0, time.UTC)

// entropy is a fixed stream, safe for concurrent use.
type entropy struct {
	mu  sync.Mutex
	src *rand.Rand
}

func (e *entropy) Read(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.src.Read(p)
}

// Bare makes an empty project folder without a workspace.
func Bare(tb testing.TB) *WS {
	tb.Helper()
	clock := &Clock{now: Start}
	ws := &WS{TB: tb, Dir: tb.TempDir(), Clock: clock, Caller: tools.Caller{Face: "mcp", Actor: "test-agent", ActorKind: "agent",
		Session: "01J00000000000000000000000", Client: "test/1"}}
	ws.Env = ws.NewEnv(1)
	reg, err := tools.New(ws.Env, tools.All())
	if err != nil {
		tb.Fatal(err)
	}
	ws.Reg = reg
	return ws
}

// NewEnv makes another process's view of the same folder: own pending calls,
// own stream of chance.
func (w *WS) NewEnv(seed int64) *workspace.Env {
	return &workspace.Env{Start: w.Dir, Program: "test", Command: "test", Now: w.Clock.Now, Entropy: &entropy{src: rand.New(rand.NewSource(seed))}}
}

// New makes a workspace by forgeplan_init and checks it when the test ends.
func New(tb testing.TB) *WS {
	tb.Helper()
	ws := Bare(tb)
	ws.Must("forgeplan_init", nil)
	tb.Cleanup(func() { ws.Check() })
	return ws
}

// Check verifies chains, bodies, and rows = folds.
func (w *WS) Check() workspace.Report {
	w.TB.Helper()
	ws, err := w.Env.Open()
	if err != nil {
		w.TB.Errorf("open: %v", err)
		return workspace.Report{}
	}
	defer ws.Close()
	rep, err := ws.Verify(context.Background(), nil)
	if err != nil {
		w.TB.Errorf("verify: %v", err)
	}
	if rep.Drift != nil {
		w.TB.Errorf("stored rows differ from folded ones: %+v", *rep.Drift)
	}
	if rep.Tables != "ready" && err == nil {
		w.TB.Errorf("tables are %s", rep.Tables)
	}
	return rep
}

// Replay rebuilds everything from the journal.
func (w *WS) Replay() workspace.Report {
	w.TB.Helper()
	ws, err := w.Env.Open()
	if err != nil {
		w.TB.Fatal(err)
	}
	defer ws.Close()
	rep, err := ws.Replay(context.Background(), nil)
	if err != nil {
		w.TB.Fatal(err)
	}
	return rep
}

// Call calls a tool with arguments given as anything that is JSON.
func (w *WS) Call(name string, args any) tools.Reply {
	w.TB.Helper()
	raw := []byte("{}")
	if s, ok := args.(string); ok {
		raw = []byte(s)
	} else if args != nil {
		var err error
		if raw, err = json.Marshal(args); err != nil {
			w.TB.Fatal(err)
		}
	}
	return w.Reg.Call(context.Background(), w.Caller, name, raw)
}

// Must calls a tool that has to succeed and returns its answer.
func (w *WS) Must(name string, args any) map[string]any {
	w.TB.Helper()
	r := w.Call(name, args)
	if r.Failure != nil {
		w.TB.Fatalf("%s %v: %s", name, args, r.Body)
	}
	return Object(w.TB, r.Body)
}

// Object decodes an answer.
func Object(tb testing.TB, body []byte) map[string]any {
	tb.Helper()
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		tb.Fatalf("%v in %s", err, body)
	}
	return m
}

// File reads a file of the workspace folder; "" where there is none.
func (w *WS) File(name string) string {
	w.TB.Helper()
	b, err := os.ReadFile(filepath.Join(w.Dir, workspace.Folder, name))
	if err != nil && !os.IsNotExist(err) {
		w.TB.Fatal(err)
	}
	return string(b)
}
