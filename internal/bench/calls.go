package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"forgeplan/internal/event"
	"forgeplan/internal/workspace"
	"forgeplan/tools"
)

// caller calls the tools of one workspace.
type caller struct {
	reg  *tools.Registry
	dir  string // the workspace's folder
	face string
}

// newWorkspace makes a workspace with n artifacts, of all kinds in turn. The last
// is made by a call of its own, so that only its file is looked after by the next.
func newWorkspace(dir string, n int) (caller, error) {
	c := caller{dir: filepath.Join(dir, workspace.Folder), face: "mcp"}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return c, err
	}
	env := &workspace.Env{Start: dir, Program: "bench", Command: "bench"}
	var err error
	if c.reg, err = tools.New(env, tools.All()); err != nil {
		return c, err
	}
	if _, err := c.call("forgeplan_init", nil); err != nil {
		return c, err
	}
	ws, err := env.Open()
	if err != nil {
		return c, err
	}
	defer ws.Close()
	for i := 0; i < n-1; i += chunk {
		if err := fillWith(env, ws, i, min(n-1, i+chunk)); err != nil {
			return c, err
		}
	}
	return c, c.create(n - 1)
}

const chunk = 1000 // artifacts that one transaction makes

// fillWith makes the artifacts from to to-1 in one call, as tools make one.
func fillWith(env *workspace.Env, ws *workspace.Workspace, from, to int) error {
	now := env.Clock()
	done, err := ws.Update(context.Background(), workspace.Request{Started: now, Attempt: env.Attempt(now)},
		func(world *workspace.World) (workspace.Verdict, error) {
			v := workspace.Verdict{Keep: true, Call: event.Call{
				Tool: "forgeplan_new", Face: "cli", Actor: "bench", ActorKind: "human", Start: now.UnixNano(), Status: "ok", Effect: "changed",
			}}
			for i := from; i < to; i++ {
				if _, err := world.Create(workspace.New{Kind: kindOf(i), Title: titleOf(i), Tags: tags, Author: "bench", Body: []byte(body)}); err != nil {
					return v, err
				}
			}
			return v, nil
		})
	if err == nil && len(done.Warnings) > 0 {
		err = errors.New(done.Warnings[0])
	}
	return err
}

func (c caller) call(tool string, args map[string]any) ([]byte, error) {
	raw := json.RawMessage("{}")
	if args != nil {
		var err error
		if raw, err = json.Marshal(args); err != nil {
			return nil, err
		}
	}
	r := c.reg.Call(context.Background(), tools.Caller{Face: c.face, Actor: "bench", ActorKind: "agent"}, tool, raw)
	if r.Failure != nil {
		return nil, fmt.Errorf("%s: %s", tool, r.Failure.Msg)
	}
	return r.Body, nil
}

// What the artifacts hold.
var (
	body = "# Why\n\n" + strings.Repeat("One of the reasons, in a sentence of usual length.\n", 20)
	tags = []string{"area=bench"}
)

func titleOf(i int) string { return fmt.Sprintf("Decision number %d of the bench", i) }

// kindOf goes through the kinds that can be made, in turn.
func kindOf(i int) string {
	return []string{"prd", "rfc", "adr", "epic", "spec", "problem", "solution", "evidence", "note", "refresh"}[i%10]
}

// create makes the i-th artifact.
func (c caller) create(i int) error {
	_, err := c.call("forgeplan_new", map[string]any{"kind": kindOf(i), "title": titleOf(i), "body": body, "tags": tags})
	return err
}

// lists: all artifacts of a workspace, as the command line asks for them: not
// recorded, not cut. The workspace lies in memory where it can, as its warm files
// would on a disk.
func lists(l *lab) (metric, error) {
	c, err := newWorkspace(filepath.Join(l.memory, "list"), l.artifacts)
	if err != nil {
		return metric{}, err
	}
	c.face = "cli"
	// Files as young as these prove nothing by their times: the first list after
	// a while reads them all and notes them, once.
	time.Sleep(2100 * time.Millisecond)
	list := func() error {
		answer, err := c.call("forgeplan_list", nil)
		if err != nil {
			return err
		}
		var head struct{ Returned int }
		if at := strings.LastIndex(string(answer), `"returned":`); at < 0 {
			return errors.New("no number of rows in the answer")
		} else if err := json.Unmarshal([]byte("{"+strings.SplitN(string(answer[at:]), ",", 2)[0]+"}"), &head); err != nil {
			return err
		}
		if head.Returned != l.artifacts {
			return fmt.Errorf("%d rows, want %d", head.Returned, l.artifacts)
		}
		return nil
	}
	if err := list(); err != nil {
		return metric{}, err
	}
	stat := func() error {
		n, err := rawStat(c.dir)
		if err == nil && n != l.artifacts {
			err = fmt.Errorf("%d files, want %d", n, l.artifacts)
		}
		return err
	}
	scan := func() error {
		_, err := rawScan(filepath.Join(c.dir, "journal.db"), func(v []byte) error { _, err := walk(v); return err }, "t/artifacts")
		return err
	}
	return metric{"List/10k", list, []bound{
		{"readdir + stat of the files, cursor over the rows", func() error { return errors.Join(stat(), scan()) }, 0},
		{"cursor over the rows alone", scan, 0},
	}}, nil
}

// mutations: a new artifact through the registry, its file written.
func mutations(l *lab) (metric, error) {
	c, err := newWorkspace(l.path("mutation"), 100)
	if err != nil {
		return metric{}, err
	}
	n := 100
	ours := func() error { n++; return c.create(n) }
	commit := l.rawHold("raw-mutation")
	files := 0
	commitAndFile := func() error {
		files++
		return errors.Join(commit(), rawFile(l.path(fmt.Sprintf("raw-%d.md", files)), []byte(body)))
	}
	return metric{"Mutation", ours, []bound{
		{"lock, raw bbolt open, commit, close, file synced and renamed", commitAndFile, 0},
		{"the same without the file", l.rawHold("raw-mutation-2"), 0},
	}}, nil
}

// recordedReads: one artifact, read through the registry as an agent reads it:
// the call is durable before the answer.
func recordedReads(l *lab) (metric, error) {
	c, err := newWorkspace(l.path("read"), 100)
	if err != nil {
		return metric{}, err
	}
	write, err := l.rawAppend()
	if err != nil {
		return metric{}, err
	}
	ours := func() error {
		_, err := c.call("forgeplan_get", map[string]any{"id": "PRD-001"})
		return err
	}
	return metric{"RecordedRead", ours, []bound{
		{"lock, raw bbolt open, commit, close", l.rawHold("raw-read"), 0},
		{"raw write + sync", write, 0},
	}}, nil
}
