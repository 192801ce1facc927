// Package tools holds the use cases of forgeplan, one file a tool, and the
// registry that runs them: it repairs arguments, gives every mutation its dry
// run, idempotency key and version check, records every call, and puts answers
// and failures into one shape for both faces.
package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"forgeplan/internal/workspace"

	"github.com/agnivade/levenshtein"
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
