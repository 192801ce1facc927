package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"forgeplan/internal/workspace"
	"forgeplan/tools"
)

// registry is a program's, for looking at definitions.
func registry(t *testing.T) *tools.Registry {
	t.Helper()
	reg, err := tools.New(nil, tools.All())
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// parse reads a command line as the program does and returns the call that the
// registry would get; none where the command is no tool's.
func parse(t *testing.T, args ...string) (tool string, sent map[string]any, err error) {
	t.Helper()
	p := &program{reg: registry(t), env: &workspace.Env{}, stdin: forbidden{t}, stdout: io.Discard, stderr: io.Discard, getenv: func(string) string { return "" }}
	p.call = func(_ context.Context, _ tools.Caller, name string, raw json.RawMessage) tools.Reply {
		tool = name
		if err := json.Unmarshal(raw, &sent); err != nil {
			t.Errorf("%q: sent %s: %v", args, raw, err)
		}
		return tools.Reply{}
	}
	root := p.root()
	root.SetArgs(args)
	err = root.Execute()
	return tool, sent, err
}

// Every argument of every tool can be given on the command line, by its place
// and by each of its names, and reaches the registry as it was typed.
func TestEveryArgument(t *testing.T) {
	for _, tool := range tools.All() {
		places := []string{}
		want := map[string]any{}
		for place := 1; placed(tool, place) != nil; place++ {
			param := placed(tool, place)
			places = append(places, " as typed ")
			want[param.Name] = " as typed "
			if param.Type == tools.Strings {
				places = append(places, "b")
				want[param.Name] = []any{" as typed ", "b"}
			}
		}
		_, got, err := parse(t, append([]string{tool.Command, "--"}, places...)...)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s %q: got %v, %v", tool.Command, places, got, err)
		}
		if !strings.Contains(usage(tool), "...") {
			if called, _, err := parse(t, append([]string{tool.Command, "x", "--"}, places...)...); err == nil || called != "" {
				t.Errorf("%s takes one argument too many", tool.Command)
			}
		}
		for i := range tool.Params {
			param := &tool.Params[i]
			if param.Positional > 0 && param.Required {
				continue
			}
			names := []string{"--" + param.Flag(), "--" + param.Name}
			if param.Short != "" {
				names = append(names, "-"+param.Short)
			}
			for _, alias := range param.Aliases {
				dash := "--"
				if len(alias) == 1 {
					dash = "-"
				}
				names = append(names, dash+alias)
			}
			for _, name := range names {
				args, want := []string{tool.Command, name, "-5 x"}, any("-5 x")
				switch param.Type {
				case tools.Bool:
					args, want = args[:2], "true"
				case tools.Strings:
					args, want = append(args, name, "b"), []any{"-5 x", "b"}
				}
				_, got, err := parse(t, args...)
				if err != nil || len(got) != 1 || !reflect.DeepEqual(got[param.Name], want) {
					t.Errorf("%q: got %v, %v", args, got, err)
				}
			}
		}
		for _, name := range append([]string{tool.Command}, tool.Aliases...) {
			if found, _, err := parse(t, name); found != tool.Name {
				t.Errorf("the command %s leads to %q, %v", name, found, err)
			}
		}
	}
}

// What the command line says of a wrong value is what MCP says of it.
func TestSameSentence(t *testing.T) {
	dir := project(t)
	for _, tt := range []struct {
		args []string
		tool string
		json string
	}{
		{[]string{"list", "--limit", "many"}, "forgeplan_list", `{"limit":"many"}`},
		{[]string{"list", "--limit=-5"}, "forgeplan_list", `{"limit":-5}`},
		{[]string{"list", "--detail=perhaps"}, "forgeplan_list", `{"detail":"perhaps"}`},
		{[]string{"list", "--kind", "story"}, "forgeplan_list", `{"kind":"story"}`},
		{[]string{"list", "--colour", "red"}, "forgeplan_list", `{"colour":"red"}`},
		{[]string{"activity", "--hours", "2"}, "forgeplan_activity", `{"hours":2}`},
		{[]string{"activity", "--since-hours", "24h"}, "forgeplan_activity", `{"since_hours":"24h"}`},
		{[]string{"get"}, "forgeplan_get", `{}`},
	} {
		tool, _ := registry(t).Lookup(tt.tool)
		_, want := tool.Repair(json.RawMessage(tt.json))
		o := at(t, dir, nil, append(tt.args, "--json")...)
		if m := o.object(t); o.code != 2 || m["error"] != want.Msg || m["error_class"] != "invalid_input" || m["_next_action"] == "" || o.stderr != "" {
			t.Errorf("%q: got %d %s%s\nwant %s", tt.args, o.code, o.stdout, o.stderr, want.Msg)
		}
	}
}

// With --json stdout is one document whatever goes wrong, and nothing stands on
// stderr; without it an error and a hint stand there, and stdout is empty.
func TestWrongUsage(t *testing.T) {
	dir := project(t)
	for _, tt := range []struct {
		args []string
		code int
		want string // part of the error
	}{
		{[]string{}, 2, "no command"},
		{[]string{"lst"}, 2, `unknown command "lst"; did you mean list?`},
		{[]string{"forgeplan_get", "PRD-001"}, 2, "did you mean get?"},
		{[]string{"nothing\x1b[31mlike\u202eit"}, 2, "unknown command"},
		{[]string{"help", "nope"}, 2, "unknown command"},
		{[]string{"list", "extra"}, 2, "one argument too many"},
		{[]string{"replay", "extra"}, 2, "one argument too many"},
		{[]string{"list", "--kind"}, 2, "needs an argument"},
		{[]string{"list", "-Q"}, 2, "unknown shorthand"},
		{[]string{"serve", "--toolset", "some"}, 2, "core, audit or all"},
		{[]string{"new", "note", "\xff"}, 2, "UTF-8"},
		{[]string{"new", "note", "T", "--body", "x", "-F", "y"}, 2, "not both"},
		{[]string{"new", "note", "T", "-F", dir}, 2, "cannot read the body"},
		{[]string{"--workspace", filepath.Join(dir, "typo"), "list"}, 2, "--workspace names no folder"},
		{[]string{"get", "PRD-999"}, 1, "PRD-999"},
	} {
		before := must(t, dir, "list", "--json")
		args := append([]string{"--json"}, tt.args...)
		o := at(t, dir, nil, args...)
		m := o.object(t)
		if o.code != tt.code || m["ok"] != false || !strings.Contains(m["error"].(string), tt.want) || m["error_class"] == "" || m["_next_action"] == "" || o.stderr != "" {
			t.Errorf("%q: got %d %s%s", args, o.code, o.stdout, o.stderr)
		}
		if strings.ContainsAny(o.stdout, "\x1b\u202e") {
			t.Errorf("%q: echoes control characters: %q", args, o.stdout)
		}
		if len(tt.args) > 0 {
			o = at(t, dir, nil, tt.args...)
			if o.code != tt.code || o.stdout != "" || !strings.HasPrefix(o.stderr, "error: ") || !strings.Contains(o.stderr, "\nhint: ") {
				t.Errorf("%q: got %d, stdout %q, stderr %q", tt.args, o.code, o.stdout, o.stderr)
			}
		}
		if after := must(t, dir, "list", "--json"); after != before {
			t.Errorf("%q changed something:\n%s", args, after)
		}
	}
}

// A body is kept byte for byte, whichever way it comes.
func TestBodyVerbatim(t *testing.T) {
	dir := project(t)
	bodies := map[string]string{
		"shell":  "`forgeplan list` $HOME $(date) \\n C:\\new\\table 'q' \"q\" !x %s {{m}} @file\n",
		"spaces": "  \t two \t\n\n\ntrailing  \t",
		"crlf":   "one\r\ntwo\r\n",
		"bom":    "\ufeff# Head\n---\nid: no\n---\n",
		"wide":   "Привет 🚀\u00a0日本 e\u0301\x00\n",
		"dash":   "-- not a flag",
	}
	for name, body := range bodies {
		file := filepath.Join(t.TempDir(), "body")
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, way := range []struct {
			stdin *strings.Reader
			args  []string
		}{
			{nil, []string{"-F", file}},
			{strings.NewReader(body), []string{"--file", "-"}},
			{nil, []string{"--body", body}},
		} {
			o := outcome{}
			args := append([]string{"new", "note", name, "--json"}, way.args...)
			if way.stdin == nil {
				o = at(t, dir, nil, args...)
			} else {
				o = at(t, dir, way.stdin, args...)
			}
			made := o.object(t)
			if o.code != 0 {
				t.Fatalf("%q: %s", args, o.stdout)
			}
			got := at(t, dir, nil, "get", made["id"].(string), "--json").object(t)
			if got["body"] != body {
				t.Errorf("%s by %s: got %q, want %q", name, way.args[0], got["body"], body)
			}
			data, err := os.ReadFile(filepath.Join(dir, ".forgeplan", made["path"].(string)))
			if err != nil || !strings.HasSuffix(string(data), "---\n\n"+body) {
				t.Errorf("%s by %s: the file is %q, %v", name, way.args[0], data, err)
			}
		}
	}
}

// Empty text from a file, stdin or an argument erases nothing, and is said.
func TestEmptyBody(t *testing.T) {
	dir := project(t)
	must(t, dir, "new", "note", "Kept", "--body", "text")
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-F", empty}, {"-F", "-"}, {"--body", ""}, {"-F", ""}} {
		o := at(t, dir, strings.NewReader(""), append([]string{"update", "NOTE-001"}, args...)...)
		if o.code != 2 || !strings.Contains(o.stderr, "nothing was changed") {
			t.Errorf("%q: got %d %s", args, o.code, o.stderr)
		}
	}
	if got := at(t, dir, nil, "get", "NOTE-001", "--json").object(t); got["body"] != "text" || got["version"] != 1.0 {
		t.Errorf("got %v", got)
	}
}

// Who called stands in the journal.
func TestCaller(t *testing.T) {
	dir := project(t)
	env := map[string]string{"FORGEPLAN_WORKSPACE": dir, "FORGEPLAN_ACTOR": "claude", "FORGEPLAN_AGENT": "1", "FORGEPLAN_SESSION": "s-1"}
	code := run(&program{args: []string{"new", "note", "N"}, stdin: forbidden{t}, stdout: &strings.Builder{}, stderr: &strings.Builder{},
		getenv: func(name string) string { return env[name] }})
	if code != 0 {
		t.Fatal(code)
	}
	entries := at(t, dir, nil, "activity", "--detail", "--json").object(t)["entries"].([]any)
	last := entries[len(entries)-1].(map[string]any)
	for key, want := range map[string]string{"actor": "claude", "actor_kind": "agent", "session": "s-1", "client": "forgeplan-cli/" + version, "face": "cli"} {
		if last[key] != want {
			t.Errorf("%s: got %v, want %s", key, last[key], want)
		}
	}
	if first := entries[0].(map[string]any); first["actor"] != "vera" || first["actor_kind"] != "human" {
		t.Errorf("got %v", first)
	}
}

// The committed pages are what the registry gives.
func TestPages(t *testing.T) {
	p := &program{reg: registry(t)}
	for name, want := range p.pages(p.root(), filepath.Join("..", "..", "tools", "testdata", "examples")) {
		got, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil || string(got) != string(want) {
			t.Errorf("docs/%s is not what the registry says: run `go run ./cmd/forgeplan docs` (%v)", name, err)
		}
	}
}
