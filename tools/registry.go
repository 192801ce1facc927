// Package tools holds the use cases of forgeplan, one file a tool, and the
// registry that runs them: it repairs arguments, gives every mutation its dry
// run, idempotency key and version check, records every call, and puts answers
// and failures into one shape for both faces.
package tools

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"
	"forgeplan/internal/render"
	"forgeplan/internal/workspace"
	"forgeplan/journal"

	"github.com/agnivade/levenshtein"
	"github.com/oklog/ulid/v2"
)

// Registry runs calls. It is safe for concurrent use and holds nothing of a
// workspace between two calls.
type Registry struct {
	env    *workspace.Env
	tools  []*Tool
	byName map[string]*Tool
}

// New makes a registry of the given tools. It fails on a name or command that
// is taken twice, or a name that not every client can use.
func New(env *workspace.Env, all []*Tool) (*Registry, error) {
	r := &Registry{env: env, tools: all, byName: map[string]*Tool{}}
	for _, t := range all {
		if !validName(t.Name) {
			return nil, fmt.Errorf("tool name %q: use a-z, 0-9 and _, at most 48", t.Name)
		}
		for _, name := range append([]string{t.Name, t.Command}, t.Aliases...) {
			if r.byName[name] != nil {
				return nil, fmt.Errorf("tool name %q is taken twice", name)
			}
			r.byName[name] = t
		}
	}
	return r, nil
}

func validName(s string) bool {
	return len(s) > 0 && len(s) <= 48 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Tools lists the tools of a toolset in the order they were given: "core",
// "audit" (both of these), or "all".
func (r *Registry) Tools(set string) []*Tool {
	var out []*Tool
	for _, t := range r.tools {
		if set == "all" || set == "audit" || t.Set == "core" {
			out = append(out, t)
		}
	}
	return out
}

// Lookup finds a tool by its name or command.
func (r *Registry) Lookup(name string) (*Tool, bool) {
	t, ok := r.byName[name]
	return t, ok
}

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

// The three kinds of tools, by what they need of the workspace.
type (
	reads   func(c *Run, values map[string]any) (any, error)
	mutates func(c *Run, values map[string]any) (any, error)
	starts  func(c *Run, values map[string]any, init func() (workspace.Initialized, error)) (any, error)
)

// typed lets a tool work on its own structs: values in, a pointer to its result
// out.
func typed[In, Out any](run func(*Run, In) (Out, error)) func(*Run, map[string]any) (any, error) {
	return func(c *Run, values map[string]any) (any, error) {
		var in In
		if err := Bind(values, &in); err != nil {
			return nil, err
		}
		out, err := run(c, in)
		return &out, err
	}
}

// Reading defines a tool that answers from snapshots and changes nothing.
func Reading[In, Out any](t Tool, run func(*Run, In) (Out, error)) *Tool {
	t.Params = ParamsOf(*new(In))
	t.out = func() any { return new(Out) }
	t.run = reads(typed(run))
	return &t
}

// Mutating defines a tool that decides on c.World: it emits events there and
// returns its result. The registry keeps the events, or drops them for a dry
// run or a failure.
func Mutating[In, Out any](t Tool, run func(*Run, In) (Out, error)) *Tool {
	t.Params = ParamsOf(*new(In))
	t.Params = append(t.Params, commonParams(t.Effect, namesArtifact(t.Params))...)
	t.out = func() any { return new(Out) }
	t.run = mutates(typed(run))
	return &t
}

// Starting defines the tool that makes the workspace.
func Starting[In, Out any](t Tool, run func(*Run, In, func() (workspace.Initialized, error)) (Out, error)) *Tool {
	t.Params = ParamsOf(*new(In))
	t.out = func() any { return new(Out) }
	t.run = starts(func(c *Run, values map[string]any, init func() (workspace.Initialized, error)) (any, error) {
		return typed(func(c *Run, in In) (Out, error) { return run(c, in, init) })(c, values)
	})
	return &t
}

// namesArtifact: the tool acts on an artifact that exists already.
func namesArtifact(params []Param) bool {
	for _, p := range params {
		if p.Name == "id" || p.Name == "source" {
			return true
		}
	}
	return false
}

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

// Call runs one call of a tool and records it; when it returns, the record is
// durable, or the answer says `recorded: false`. It never panics. It blocks
// for at most lock_wait (config) per hold of the lock, and ends early with
// ctx.
func (r *Registry) Call(ctx context.Context, caller Caller, name string, raw json.RawMessage) Reply {
	in := r.invoke(ctx, caller, name, raw)
	tool, ok := r.byName[name]
	if !ok || tool.Name != name && caller.Face == "mcp" {
		return in.refuse(r.unknownTool(name))
	}
	in.tool, in.name = tool, tool.Name
	repair := tool.Repair
	if caller.Face == "cli" {
		repair = tool.RepairCLI
	}
	args, failure := repair(raw)
	in.args = args
	if failure != nil {
		return in.refuse(failure)
	}
	switch run := tool.run.(type) {
	case reads:
		return in.reading(run)
	case mutates:
		return in.mutating(run)
	case starts:
		return in.starting(run)
	}
	return in.refuse(Fail(ClassInternal, "the tool has no function"))
}

// unknownTool names the nearest tool that there is.
func (r *Registry) unknownTool(name string) *Failure {
	msg := "unknown tool " + quoteName(name)
	plain := foldName(strings.TrimPrefix(name, "mcp__forgeplan__"))
	best, distance := "", 4
	for _, t := range r.tools {
		for _, known := range []string{t.Name, strings.TrimPrefix(t.Name, "forgeplan_")} {
			if d := levenshtein.ComputeDistance(plain, foldName(known)); d < distance {
				best, distance = t.Name, d
			}
		}
	}
	if best != "" {
		msg += "; did you mean " + best + "?"
	}
	return Fail(ClassProtocol, msg, Say("The names are in tools/list, exactly as they must be sent."))
}

// Protocol records and answers a tools/call that never reached a tool: its
// parameters were malformed. name may be empty.
func (r *Registry) Protocol(ctx context.Context, caller Caller, name string, raw []byte, msg string) Reply {
	in := r.invoke(ctx, caller, name, raw)
	in.args = Arguments{Digest: digestRaw(raw)}
	return in.refuse(Fail(ClassProtocol, msg, Say("Send `params` with `name` (text) and `arguments` (an object).")))
}

func (r *Registry) invoke(ctx context.Context, caller Caller, name string, raw []byte) *invocation {
	in := &invocation{r: r, ctx: ctx, caller: caller, name: safeName(name), raw: raw, started: r.env.Clock()}
	in.attempt = r.env.Attempt(in.started)
	return in
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

// kept is what is stored under an idempotency key: the answer, undressed.
type kept struct {
	Value    json.RawMessage `json:"value"`
	Hint     Hint            `json:"hint"`
	Warnings []string        `json:"warnings"`
	Changed  bool            `json:"changed"`
	Call     ulid.ULID       `json:"call"`
}

// mutating runs a mutation as one transaction: the key is looked up, the tool
// decides, versions are compared, files are decided, and the run is committed.
func (in *invocation) mutating(run mutates) Reply {
	ws, err := in.r.env.Open()
	if err != nil {
		return in.refuse(Classify(err))
	}
	defer ws.Close()
	var (
		d       dressed
		failure *Failure
		c       *Run
	)
	done, err := ws.Update(in.ctx, in.request(), func(world *workspace.World) (workspace.Verdict, error) {
		c = in.call(ws)
		c.World, c.seen = world, world.Seen()
		d = dressed{mutation: true, call: world.Call(), dryRun: in.flag("dry_run")}
		v, err := in.decide(c, run, &d)
		if failure = nil; err == nil {
			return v, nil
		}
		if failure = Classify(err); failure.Class == ClassCorrupt || failure.Class == ClassCanceled {
			return workspace.Verdict{}, err
		}
		return workspace.Verdict{Call: in.record(c, failure, "none", len(in.failureBody(failure)))}, nil
	})
	switch {
	case err != nil:
		return in.fail(ws, c, Classify(err))
	case failure != nil:
		return Reply{Body: in.failureBody(failure), Failure: failure}
	}
	d.warnings = append(append(d.warnings, done.Found.Warn()...), done.Warnings...)
	if f, ok := d.value.(interface{ filed(map[ulid.ULID]bool) }); ok && !d.dryRun {
		f.filed(done.Written)
	}
	body, err := d.body(in)
	if err != nil {
		return Reply{Body: in.failureBody(Classify(err)), Failure: Classify(err)}
	}
	return Reply{Body: body, Text: d.text(), Findings: d.findings(), Warnings: d.warnings}
}

// decide is what happens inside the transaction of a mutation.
func (in *invocation) decide(c *Run, run mutates, d *dressed) (workspace.Verdict, error) {
	world := c.World
	key := in.text("idempotency_key")
	var keyHash [32]byte
	if key != "" {
		keyHash = sha256.Sum256([]byte(in.name + "\x00" + key))
		row, bound, err := world.Keys().Get(keyHash)
		if err != nil {
			return workspace.Verdict{}, err
		}
		switch {
		case bound && d.dryRun:
			c.Warn("this idempotency_key is bound to call %s: a real call would answer from it", row.Call)
		case bound && row.ArgsDigest != in.args.Digest:
			return workspace.Verdict{}, Fail(ClassConflict, fmt.Sprintf("this idempotency_key was used by call %s with other arguments", row.Call),
				Say("Use a new key for a new change."))
		case bound:
			return in.replayKept(c, d, row.Call)
		}
	}

	value, err := guarded(func() (any, error) { return run(c, in.args.Values) })
	if err != nil {
		return workspace.Verdict{}, err
	}
	if err := in.checkVersion(c); err != nil {
		return workspace.Verdict{}, err
	}
	if err := world.Seal(); err != nil {
		return workspace.Verdict{}, err
	}
	if s, ok := value.(interface{ Sealed(*workspace.World) error }); ok {
		if err := s.Sealed(world); err != nil {
			return workspace.Verdict{}, err
		}
	}
	d.value, d.hint, d.warnings, d.changed = value, c.hint, c.warnings, world.Changed()
	if d.dryRun { // what the tool would say next is true only of a real call
		d.hint = Hint{Say("Dry run: nothing was changed. To do it, send the same call without dry_run.")}
	}
	body, err := d.body(in)
	if err != nil {
		return workspace.Verdict{}, err
	}
	effect := "none"
	switch {
	case d.dryRun:
		effect = "dry_run"
	case d.changed:
		effect = "changed"
	}
	v := workspace.Verdict{Call: in.record(c, nil, effect, len(body)), Keep: d.changed && !d.dryRun}
	if key != "" && !d.dryRun {
		raw, err := json.Marshal(d.value)
		if err != nil {
			return v, err
		}
		v.Bind = true
		v.Result = compact(kept{Value: raw, Hint: d.hint, Warnings: d.warnings, Changed: d.changed, Call: d.call})
		v.Call.KeyHash, v.Call.ResultLen, v.Call.ResultSHA = keyHash, len(v.Result), sha256.Sum256(v.Result)
	}
	return v, nil
}

// replayKept answers from the kept result of the call that bound the key.
func (in *invocation) replayKept(c *Run, d *dressed, call ulid.ULID) (workspace.Verdict, error) {
	raw, ok := c.World.Result(call)
	if !ok {
		return workspace.Verdict{}, &journal.DamageError{File: "journal.db", What: "kept result of call " + call.String() + " is missing"}
	}
	var k kept
	if err := json.Unmarshal(raw, &k); err != nil {
		return workspace.Verdict{}, fmt.Errorf("read kept result of call %s: %w", call, err)
	}
	value := in.tool.out()
	if err := json.Unmarshal(k.Value, value); err != nil {
		return workspace.Verdict{}, fmt.Errorf("read kept result of call %s: %w", call, err)
	}
	d.value, d.hint, d.warnings, d.changed, d.call, d.replayed = value, k.Hint, k.Warnings, k.Changed, k.Call, true
	body, err := d.body(in)
	if err != nil {
		return workspace.Verdict{}, err
	}
	v := workspace.Verdict{Call: in.record(c, nil, "replayed", len(body))}
	if t, ok := value.(interface{ files() []ulid.ULID }); ok {
		v.Confirm = t.files()
	}
	return v, nil
}

// checkVersion holds a call that read version N against what later events did:
// a field that both set is a conflict, anything else is a warning.
func (in *invocation) checkVersion(c *Run) error {
	n, given := in.args.Values["if_version"].(int64)
	if !given || len(c.targets) == 0 {
		return nil
	}
	uid := c.targets[0]
	before, ok := c.World.Before(uid)
	if !ok {
		return nil
	}
	if int(n) > before.Version {
		return Fail(ClassConflict, fmt.Sprintf("%s is at version %d: there is no version %d yet", before.ID, before.Version, n),
			Say("Read it again: "), Call("forgeplan_get", "id", before.ID))
	}
	if int(n) == before.Version {
		return nil
	}
	set := map[string]bool{}
	for _, e := range c.World.Emitted() {
		if e.Subject == uid {
			for _, f := range artifact.Changes(e.Data) {
				set[f] = true
			}
		}
	}
	var other []string
	for _, f := range before.Set {
		if f.Version <= int(n) {
			continue
		}
		if set[f.Field] {
			return Fail(ClassConflict, fmt.Sprintf("%s is at version %d: version %d set `%s` after the version %d that you read",
				before.ID, before.Version, f.Version, f.Field, n),
				Say("Nothing was changed. Read it again: "), Call("forgeplan_get", "id", before.ID))
		}
		other = append(other, f.Field)
	}
	if len(other) > 0 {
		c.Warn("%s changed since version %d (now version %d): %s", before.ID, n, before.Version, strings.Join(other, ", "))
	}
	return nil
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

// dressed is an answer on its way to a face.
type dressed struct {
	value      any
	mutation   bool
	changed    bool
	dryRun     bool
	replayed   bool
	unrecorded bool
	call       ulid.ULID
	warnings   []string
	hint       Hint
}

// body is the JSON object: the tool's keys in their order, then what the
// registry knows, and the hint last.
func (d *dressed) body(in *invocation) ([]byte, error) {
	own := false
	if w, ok := d.value.(interface{ setWarnings([]string) }); ok {
		w.setWarnings(d.lines())
		own = true
	}
	out, err := render.JSON(d.value)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	if len(out) < 2 || out[0] != '{' {
		return nil, errors.New("encode answer: not an object")
	}
	out = out[:len(out)-1]
	add := func(key string, v any) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, compact(key)...), ':')
		out = append(out, compact(v)...)
	}
	if d.mutation {
		add("changed", d.changed)
		add("call", d.call.String())
		if d.dryRun {
			add("dry_run", true)
		}
		if d.replayed {
			add("replayed", true)
		}
	}
	if d.unrecorded {
		add("recorded", false)
	}
	if !own {
		add("warnings", d.lines())
	}
	add("_next_action", in.next(d.hint))
	return append(out, '}'), nil
}

// findings asks a checking tool's result what it found.
func (d *dressed) findings() int {
	if f, ok := d.value.(interface{ findings() int }); ok {
		return f.findings()
	}
	return 0
}

func (d *dressed) lines() []string {
	if d.warnings == nil {
		return []string{}
	}
	return d.warnings
}

// Texter is a result that people can read.
type Texter interface {
	WriteText(w io.Writer, width int)
}

func (d *dressed) text() func(io.Writer, int) {
	t, ok := d.value.(Texter)
	if !ok {
		return nil
	}
	note := ""
	switch {
	case d.dryRun:
		note = "Dry run: nothing was changed. A real call would answer:\n"
	case d.replayed:
		note = "Answered from an earlier call with the same key.\n"
	}
	return func(w io.Writer, width int) {
		io.WriteString(w, note)
		t.WriteText(w, width)
	}
}

func quoteName(s string) string { return "`" + safeName(s) + "`" }
