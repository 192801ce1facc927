// Package mcp is the protocol face: it serves the tools of a registry to one
// client program over standard input and output. It moves JSON between the wire
// and the registry and knows no artifact.
//
// One frame is one line of JSON. A line that is no request is answered with an
// error and the session goes on. Every tools/call request leaves exactly one
// record: the registry's own when the call reached a tool, else one of a
// protocol error made here.
package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"forgeplan/tools"
)

// Registry is what is served; *tools.Registry is one. Both calls record what
// happened before they return.
type Registry interface {
	// Call runs a tool. args is one JSON value as the client sent it, {} where it sent none.
	Call(ctx context.Context, c tools.Caller, name string, args json.RawMessage) tools.Reply
	// Protocol records a tools/call that reached no tool. raw is what stood for its arguments.
	Protocol(ctx context.Context, c tools.Caller, name string, raw []byte, msg string) tools.Reply
	// Tools lists a toolset: core, audit or all.
	Tools(set string) []*tools.Tool
}

// Options of a server. In and Out are required.
type Options struct {
	In      io.Reader
	Out     io.Writer    // gets protocol lines only
	Version string       // of the program
	Session string       // noted with each call
	Actor   string       // noted with each call; empty: the client's name
	Toolset string       // core, audit or all; empty: all
	Log     *slog.Logger // nil: no log. Never to Out.
}

// How long the end of a session may take. Clients wait 2 s before they send a signal.
const (
	drainFor = 1500 * time.Millisecond // running calls go on
	abortFor = 350 * time.Millisecond  // cancelled calls still get their answer out
	closeFor = 50 * time.Millisecond   // the library puts its goroutines away
)

// instructions is what the model reads about the server as a whole.
//
//go:embed instructions.md
var instructions string

// Serve answers requests until In ends, ctx ends or Out breaks, and returns
// within 2 s of that: running calls get 1.5 s, then their contexts are
// cancelled (their cause is tools.ErrShutdown) and what they still
// answer is sent. It returns nil when In or ctx ended, else the error of In or
// Out. A read of In or a call that hangs is left behind.
//
// A program whose Out is standard output should ignore SIGPIPE, so that a
// client that is gone ends the session instead of the process.
func Serve(ctx context.Context, reg Registry, opt Options) error {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Toolset == "" {
		opt.Toolset = "all"
	}
	list := reg.Tools(opt.Toolset)
	c := newConn(ctx, reg, list, opt)
	session, err := newServer(c, list, opt).Connect(c.base, c, nil)
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	go c.readInput(opt.In)

	select {
	case <-ctx.Done():
	case <-c.over:
	}
	c.drain()
	c.Close()
	gone := make(chan struct{})
	go func() {
		session.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(closeFor):
		opt.Log.Warn("a call is left behind")
	}
	if err := c.failure(); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
