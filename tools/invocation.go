package tools

import (
	"context"
	"runtime/debug"
	"strings"
	"time"

	"forgeplan/internal/event"
	"forgeplan/internal/workspace"

	"github.com/oklog/ulid/v2"
)

// invocation is one call on its way through the registry.
type invocation struct {
	r       *Registry
	ctx     context.Context
	caller  Caller
	tool    *Tool
	name    string
	raw     []byte
	args    Arguments
	started time.Time
	attempt ulid.ULID
}

// call starts the tool's view of the call.
func (in *invocation) call(ws *workspace.Workspace) *Run {
	return &Run{reg: in.r, request: in.request(), Ctx: in.ctx, Caller: in.caller, ws: ws, now: in.started, args: in.args,
		warnings: append([]string(nil), in.args.Warnings...)}
}

// record is the call's event, but for what the commit fills in.
func (in *invocation) record(c *Run, f *Failure, effect string, bytesOut int) event.Call {
	e := event.Call{
		Tool: in.name, Face: in.caller.Face, Actor: in.caller.Actor, ActorKind: in.caller.ActorKind,
		Session: in.caller.Session, Client: in.caller.Client, Program: in.r.env.Program,
		Attempt: in.attempt, Start: in.started.UnixNano(), ArgsDigest: in.args.Digest,
		Status: f.Status(), Effect: effect,
		BytesIn: len(in.raw), BytesOut: bytesOut, TokensIn: tokens(len(in.raw)), TokensOut: tokens(bytesOut),
	}
	for _, a := range in.args.Names {
		e.Args = append(e.Args, event.ArgSize{Name: a.Name, Size: a.Size})
	}
	if f != nil {
		e.ErrorClass = f.Class
	}
	if c != nil {
		e.Targets, e.Read, e.ReadCount, e.Seen, e.Cause = c.targets, c.read, c.readN, c.seen, c.cause
	}
	return e
}

// tokens estimates the tokens of a JSON text of n bytes: four bytes each.
func tokens(n int) int { return (n + 3) / 4 }

// partingWait is how long the record of a cancelled call may wait for the lock;
// after it the record waits for the next commit of this process.
const partingWait = 500 * time.Millisecond

// refuse answers a failure that no tool was run for, and records it.
func (in *invocation) refuse(f *Failure) Reply { return in.fail(nil, nil, f) }

// fail answers a failure and records it in a transaction of its own.
func (in *invocation) fail(ws *workspace.Workspace, c *Run, f *Failure) Reply {
	body := in.failureBody(f)
	if in.tool != nil && !in.recorded() {
		return Reply{Body: body, Failure: f}
	}
	e := in.record(c, f, "none", len(body))
	if ws == nil {
		opened, err := in.r.env.Open()
		if err != nil {
			return in.unrecorded(f, e)
		}
		defer opened.Close()
		ws = opened
	}
	// The caller may have gone away: the record is made all the same.
	wait := ws.Config().LockWait
	if f.Class == ClassCanceled {
		wait = min(wait, partingWait) // nobody waits for the answer any more
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.ctx), wait)
	defer cancel()
	if f.Class == ClassBusy {
		return in.unrecorded(f, e) // the wait is over; another one would double it
	}
	if _, err := ws.Record(ctx, in.started, func(*workspace.World) event.Call { return e }); err != nil {
		return in.unrecorded(f, e)
	}
	return Reply{Body: body, Failure: f}
}

// unrecorded answers a failure whose event has to wait for the next commit.
func (in *invocation) unrecorded(f *Failure, e event.Call) Reply {
	g := *f
	g.Unrecorded = true
	in.r.env.Defer(e)
	return Reply{Body: in.failureBody(&g), Failure: &g}
}

// request tells the workspace which files the call has to see: those of the
// artifacts it names, the folder of what it creates, or all.
func (in *invocation) request() workspace.Request {
	req := workspace.Request{Started: in.started, Attempt: in.attempt, Dry: in.flag("dry_run")}
	switch in.tool.looks {
	case looksAll:
		req.Look.All = true
	case looksNowhere:
		return req
	}
	for _, p := range in.tool.Params {
		switch text := in.text(p.Name); {
		case text == "":
		case p.Name == "id" || p.Name == "source" || p.Name == "target" || p.Name == "by" || p.Name == "parent_epic":
			req.Look.IDs = append(req.Look.IDs, text)
		case p.Name == "kind" && in.tool.Effect == Adds:
			req.Look.Kind = text
		}
	}
	return req
}

// recorded: calls over MCP all are, on the command line those that may change
// something.
func (in *invocation) recorded() bool { return in.caller.Face != "cli" || in.tool.Mutates() }

func (in *invocation) failureBody(f *Failure) []byte { return f.JSON(in.next(f.Hint)) }

func (in *invocation) next(h Hint) string { return h.For(in.caller.Face, in.r.Lookup) }

// reading runs a reading tool: one or more short holds for its rows, the
// answer computed outside, and a last hold for the record.
func (in *invocation) reading(run reads) Reply {
	ws, err := in.r.env.Open()
	if err != nil {
		return in.refuse(Classify(err))
	}
	defer ws.Close()
	c := in.call(ws)
	value, err := guarded(func() (any, error) { return run(c, in.args.Values) })
	if err != nil {
		return in.fail(ws, c, Classify(err))
	}
	d := dressed{value: value, warnings: c.warnings, hint: c.hint}
	body, err := d.body(in)
	if err != nil {
		return in.fail(ws, c, Classify(err))
	}
	if in.recorded() {
		e := in.record(c, nil, "none", len(body))
		if _, err := ws.Record(in.ctx, in.started, func(*workspace.World) event.Call { return e }); err != nil {
			if in.ctx.Err() != nil {
				return in.fail(ws, c, Classify(err))
			}
			in.r.env.Defer(e)
			d.unrecorded = true
			if body, err = d.body(in); err != nil {
				return in.fail(ws, c, Classify(err))
			}
		}
	}
	return Reply{Body: body, Text: d.text(), Findings: d.findings(), Warnings: d.warnings}
}

// starting runs the tool that makes the workspace.
func (in *invocation) starting(run starts) Reply {
	c := in.call(nil)
	var done workspace.Initialized
	recorded := false
	value, err := guarded(func() (any, error) {
		return run(c, in.args.Values, func() (workspace.Initialized, error) {
			var err error
			done, err = in.r.env.Init(in.ctx, in.started, func(world *workspace.World) event.Call {
				e := in.record(c, nil, "changed", 0)
				e.Seen = world.Seen()
				return e
			})
			recorded = err == nil
			return done, err
		})
	})
	if err != nil {
		return in.refuse(Classify(err))
	}
	d := dressed{value: value, mutation: true, changed: recorded, call: done.Done.Call, hint: c.hint, warnings: append(c.warnings, done.Done.Warnings...)}
	if !recorded {
		ws, err := in.r.env.Open()
		if err != nil {
			return in.refuse(Classify(err))
		}
		defer ws.Close()
		rec, err := ws.Record(in.ctx, in.started, func(*workspace.World) event.Call { return in.record(c, nil, "none", 0) })
		if err != nil {
			return in.fail(ws, c, Classify(err))
		}
		d.call = rec.Call
	}
	body, err := d.body(in)
	if err != nil {
		return in.refuse(Classify(err))
	}
	return Reply{Body: body, Text: d.text(), Findings: d.findings(), Warnings: d.warnings}
}

func (in *invocation) text(name string) string { s, _ := in.args.Values[name].(string); return s }
func (in *invocation) flag(name string) bool   { b, _ := in.args.Values[name].(bool); return b }

// guarded runs a tool's function; a panic of ours becomes an internal failure.
// A panic out of the storage engine is passed on: the journal knows what a
// damaged page looks like.
func guarded(run func() (any, error)) (value any, err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if strings.Contains(string(debug.Stack()), "go.etcd.io/bbolt") {
			panic(p)
		}
		value, err = nil, Fail(ClassInternal, "internal error in the tool", Say("Please report this with what you did."))
	}()
	return run()
}
