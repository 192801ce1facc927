package tools

import (
	"context"
	"fmt"
	"slices"
	"time"

	"forgeplan/internal/workspace"

	"github.com/oklog/ulid/v2"
)

// Run is one running call, as a tool sees it: what it may read and decide
// on, and what it says besides its result.
type Run struct {
	Ctx    context.Context
	Caller Caller
	World  *workspace.World // of a mutation; nil while a reading tool runs

	reg      *Registry
	request  workspace.Request
	ws       *workspace.Workspace
	now      time.Time
	args     Arguments
	hint     Hint
	warnings []string
	targets  []ulid.ULID
	read     []ulid.ULID
	readN    int
	seen     ulid.ULID
	cause    ulid.ULID
}

// maxRead bounds the uids that a call event keeps of what was read.
const maxRead = 200

// View gives a reading tool one hold of the workspace. fn copies what the tool
// needs; the tool computes after it, outside the lock.
func (c *Run) View(fn func(*workspace.World) error) error {
	found, err := c.ws.View(c.Ctx, c.request, func(w *workspace.World) error {
		c.now, c.seen = w.Now(), w.Seen()
		return fn(w)
	})
	c.warnings = append(c.warnings, found.Warn()...)
	c.request.Look = workspace.Look{} // looked once
	return err
}

// Now is the clock of the call.
func (c *Run) Now() time.Time {
	if c.World != nil {
		return c.World.Now()
	}
	return c.now
}

// given reports whether the caller sent an argument.
func (c *Run) given(name string) bool {
	return slices.ContainsFunc(c.args.Names, func(a ArgName) bool { return a.Name == name })
}

// known reports whether a tool has this name.
func (c *Run) known(name string) bool {
	t, ok := c.reg.Lookup(name)
	return ok && t.Name == name
}

// Next sets the hint: what the caller may do next.
func (c *Run) Next(parts ...Part) { c.hint = parts }

// Warn adds a line to `warnings`.
func (c *Run) Warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

// Target notes an artifact that the call names and that was found.
func (c *Run) Target(uids ...ulid.ULID) { c.targets = append(c.targets, uids...) }

// Answers notes the call that this one takes back, or does again.
func (c *Run) Answers(call ulid.ULID) { c.cause = call }

// Read notes artifacts whose row or body the answer shows.
func (c *Run) Read(uids ...ulid.ULID) {
	c.readN += len(uids)
	c.read = append(c.read, uids[:min(len(uids), maxRead-len(c.read))]...)
}
