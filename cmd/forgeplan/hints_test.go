package main

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"forgeplan/internal/testws"
	"forgeplan/tools"
)

// Every hint is written in the source as Call(tool, name, value, …): each of
// them names a tool and arguments that are there.
func TestHintsInSource(t *testing.T) {
	reg := registry(t)
	files, err := filepath.Glob(filepath.Join("..", "..", "tools", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if fun, ok := call.Fun.(*ast.Ident); !ok || fun.Name != "Call" {
				return true
			}
			words := []string{}
			for i, arg := range call.Args {
				if lit, ok := arg.(*ast.BasicLit); ok && (i == 0 || i%2 == 1) {
					s, _ := strconv.Unquote(lit.Value)
					words = append(words, s)
				}
			}
			if len(words) == 0 {
				return true
			}
			calls++
			hint := tools.Hint{{Tool: words[0]}}
			for _, arg := range words[1:] {
				hint[0].Args = append(hint[0].Args, tools.HintArg{Name: arg})
			}
			if err := hint.Check(reg.Lookup); err != nil {
				t.Errorf("%s: %v", set.Position(call.Pos()), err)
			}
			return true
		})
	}
	if calls < 20 {
		t.Errorf("only %d hints found", calls)
	}
}

// provoke makes calls that succeed and fail in many ways, in a workspace of
// their own, and hands each answer on.
func provoke(t *testing.T, face string, see func(what string, r tools.Reply)) {
	ws := testws.Bare(t)
	ws.Caller.Face = face
	call := func(name, args string) {
		r := ws.Reg.Call(context.Background(), ws.Caller, name, json.RawMessage(args))
		see(name+" "+args, r)
	}
	for _, tool := range tools.All() { // before there is a workspace
		if tool.Effect != tools.Starts {
			args := tool.Example
			if args == "" {
				args = "{}"
			}
			call(tool.Name, args)
		}
	}
	call("forgeplan_init", `{}`)
	call("forgeplan_init", `{}`)
	for _, tool := range tools.All() { // with nothing in it, then with what is wrong
		for _, args := range []string{tool.Example, `{}`, `{"id":"PRD-404"}`, `{"no_such":1}`, `[]`} {
			if args != "" {
				call(tool.Name, args)
			}
		}
	}
	for _, c := range [][2]string{
		{"forgeplan_list", `{}`}, {"forgeplan_list", `{"kind":"rfc"}`}, {"forgeplan_activity", `{}`},
		{"forgeplan_new", `{"kind":"prd","title":"Auth system"}`},
		{"forgeplan_new", `{"kind":"prd","title":"Auth systems; rm -rf / 'it' \"s\" ` + "`x`" + `","body":"# Long\n"}`},
		{"forgeplan_new", `{"kind":"note","title":"One","body":"text"}`},
		{"forgeplan_new", `{"kind":"note","title":"Two","body":"text"}`},
		{"forgeplan_new", `{"kind":"note","title":"Three","dry_run":true}`},
		{"forgeplan_new", `{"kind":"note","title":"Keyed","idempotency_key":"k"}`},
		{"forgeplan_new", `{"kind":"note","title":"Keyed","idempotency_key":"k"}`},
		{"forgeplan_new", `{"kind":"note","title":"Other","idempotency_key":"k"}`},
		{"forgeplan_new", `{"kind":"story","title":"T"}`}, {"forgeplan_new", `{"kind":"note","title":" "}`},
		{"forgeplan_new", `{"kind":"note","title":"T","parent_epic":"EPIC-9"}`}, {"forgeplan_new", `{"kind":"note","title":"T","body":""}`},
		{"forgeplan_get", `{"id":"PRD-001"}`}, {"forgeplan_get", `{"id":"PRD-002"}`}, {"forgeplan_get", `{"id":"NOTE-001","length":1}`}, {"forgeplan_get", `{"id":"??"}`},
		{"forgeplan_list", `{"limit":1}`}, {"forgeplan_list", `{"limit":1,"kind":"note","status":"draft"}`}, {"forgeplan_list", `{"limit":5000}`}, {"forgeplan_list", `{"cursor":"x"}`},
		{"forgeplan_update", `{"id":"NOTE-001","title":"Uno"}`}, {"forgeplan_update", `{"id":"NOTE-001","title":"Ein","if_version":1}`}, {"forgeplan_update", `{"id":"NOTE-001"}`},
		{"forgeplan_update", `{"id":"NOTE-001","title":"Ein","if_version":99}`}, {"forgeplan_update", `{"id":"NOTE-001","status":"active"}`}, {"forgeplan_update", `{"id":"NOTE-002","status":"stale"}`},
		{"forgeplan_link", `{"source":"NOTE-001","target":"PRD-001"}`}, {"forgeplan_link", `{"source":"NOTE-001","target":"PRD-001"}`}, {"forgeplan_link", `{"source":"NOTE-001","target":"NOTE-001"}`},
		{"forgeplan_unlink", `{"source":"NOTE-001","target":"NOTE-002"}`}, {"forgeplan_unlink", `{"source":"NOTE-001","target":"PRD-001"}`},
		{"forgeplan_tag", `{"id":"NOTE-001","tags":["a"]}`}, {"forgeplan_tag", `{"id":"NOTE-001","tags":["a"]}`}, {"forgeplan_untag", `{"id":"NOTE-001","tags":["b"]}`}, {"forgeplan_untag", `{"id":"NOTE-001","tags":["a"]}`},
		{"forgeplan_activate", `{"id":"PRD-001"}`}, {"forgeplan_activate", `{"id":"PRD-001","force":true}`}, {"forgeplan_activate", `{"id":"NOTE-001"}`}, {"forgeplan_activate", `{"id":"NOTE-002"}`},
		{"forgeplan_supersede", `{"id":"NOTE-001","by":"NOTE-002"}`}, {"forgeplan_supersede", `{"id":"NOTE-001","by":"NOTE-002"}`}, {"forgeplan_renew", `{"id":"NOTE-002","until":"2027-01-01"}`},
		{"forgeplan_deprecate", `{"id":"NOTE-002","reason":"r"}`}, {"forgeplan_reopen", `{"id":"NOTE-002","reason":"r"}`}, {"forgeplan_delete", `{"id":"PRD-001","dry_run":true}`},
		{"forgeplan_delete", `{"id":"PRD-001"}`}, {"forgeplan_delete", `{"id":"PRD-001"}`}, {"forgeplan_get", `{"id":"PRD-001"}`}, {"forgeplan_receipts", `{}`},
		{"forgeplan_undo_last", `{"dry_run":true}`}, {"forgeplan_undo_last", `{}`}, {"forgeplan_undo_last", `{}`}, {"forgeplan_undo_last", `{}`}, {"forgeplan_undo_last", `{}`}, {"forgeplan_undo_last", `{"within_hours":720}`},
		{"forgeplan_redo", `{}`}, {"forgeplan_redo", `{}`}, {"forgeplan_redo", `{}`}, {"forgeplan_redo", `{}`}, {"forgeplan_restore", `{"id":"PRD-001"}`}, {"forgeplan_restore", `{"id":"NOTE-001"}`}, {"forgeplan_receipts", `{}`},
		{"forgeplan_activity", `{"tool":"forgeplan_nope"}`}, {"forgeplan_activity", `{"since":"soon"}`}, {"forgeplan_activity", `{"since_hours":0.001}`}, {"forgeplan_activity", `{"limit":2}`},
	} {
		call(c[0], c[1])
	}
}

// said is what an answer tells its reader, apart from what is stored.
func said(r tools.Reply) string {
	var o struct {
		Next  string `json:"_next_action"`
		Error string `json:"error"`
	}
	_ = json.Unmarshal(r.Body, &o)
	text := o.Error + "\n" + o.Next + "\n" + strings.Join(r.Warnings, "\n")
	return text
}

var (
	quoted   = regexp.MustCompile("`([^`\n]*)`")
	shellArg = regexp.MustCompile(`'[^']*'|[^\s']+`)
	mcpArg   = regexp.MustCompile(`([a-z_]+)=("(?:[^"\\]|\\.)*"|\S+)`)
)

// Every command in a hint, run as it is printed, is one that the parser and the
// registry take.
func TestHintsRun(t *testing.T) {
	seen := map[string]bool{}
	provoke(t, "cli", func(what string, r tools.Reply) {
		text := said(r)
		if r.Text != nil {
			var b strings.Builder
			r.Text(&b, 0)
			for _, tail := range strings.Split(b.String(), "forgeplan ")[1:] { // `…; the rest: forgeplan get X --full`
				line, _, _ := strings.Cut(tail, "\n")
				line, _, _ = strings.Cut(line, ", or ")
				line, _, _ = strings.Cut(line, " (")
				text += "\n`forgeplan " + strings.Trim(line, " .,`") + "`"
			}
		}
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			line, ok := strings.CutPrefix(m[1], "forgeplan ")
			if !ok || seen[line] {
				continue
			}
			seen[line] = true
			args := shellArg.FindAllString(line, -1)
			for i := range args {
				args[i] = strings.Trim(args[i], "'")
			}
			name, sent, err := parse(t, args...)
			tool, found := registry(t).Lookup(name)
			if err != nil || !found {
				t.Errorf("%s\nsays %s: %v", what, line, err)
				continue
			}
			raw, _ := json.Marshal(fill(tool, sent))
			if _, f := tool.RepairCLI(raw); f != nil {
				t.Errorf("%s\nsays %s: %s", what, line, f.Msg)
			}
			harmless(t, what, tool, sent)
		}
	})
	if len(seen) < 12 {
		t.Errorf("only %d different hints: %v", len(seen), seen)
	}
}

// The same over MCP, in its form.
func TestHintsCall(t *testing.T) {
	seen := map[string]bool{}
	provoke(t, "mcp", func(what string, r tools.Reply) {
		if what != "forgeplan_init {}" && !strings.Contains(string(r.Body), `"_next_action":"`) {
			t.Errorf("%s: no next step: %s", what, r.Body)
		}
		for _, m := range quoted.FindAllStringSubmatch(said(r), -1) {
			line, ok := strings.CutPrefix(m[1], "forgeplan")
			if !ok || seen[line] {
				continue
			}
			seen[line] = true
			if strings.HasPrefix(line, " ") {
				t.Errorf("%s\nsays %s over MCP", what, m[1])
				continue
			}
			name, rest, _ := strings.Cut(m[1], " ")
			tool, ok := registry(t).Lookup(name)
			if name == "forgeplan_nope" { // a filter's word, said back
				continue
			}
			if !ok {
				t.Errorf("%s\nsays %s", what, m[1])
				continue
			}
			if rest == "" || rest == "<id>" || strings.Contains(rest, "--") { // a name, or words that a page of the product fixes
				continue
			}
			sent := map[string]any{}
			for _, a := range mcpArg.FindAllStringSubmatch(rest, -1) {
				value := a[2]
				if s, err := strconv.Unquote(value); err == nil {
					value = s
				}
				sent[a[1]] = value
			}
			raw, _ := json.Marshal(fill(tool, sent))
			if _, f := tool.Repair(raw); f != nil {
				t.Errorf("%s\nsays %s: %s", what, m[1], f.Msg)
			}
			harmless(t, what, tool, sent)
		}
	})
	if len(seen) < 12 {
		t.Errorf("only %d different hints: %v", len(seen), seen)
	}
}

// fill puts a word of the right kind where a hint leaves a place open: KIND,
// <kind>.
func fill(tool *tools.Tool, sent map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range sent {
		out[name] = v
		if p := tool.Param(name); p != nil && p.Enum != nil && (v == strings.ToUpper(name) || v == "<"+name+">") {
			out[name] = p.Enum[0]
		}
	}
	return out
}

// harmless: nothing that is proposed takes something away or forces.
func harmless(t *testing.T, what string, tool *tools.Tool, sent map[string]any) {
	t.Helper()
	if tool.Effect == tools.Destroys || sent["force"] != nil || sent["yes"] != nil {
		t.Errorf("%s\nproposes %s %v", what, tool.Name, sent)
	}
}

// The commands that the help and the pages name are there.
func TestPagesNameCommands(t *testing.T) {
	p := &program{reg: registry(t)}
	root := p.root()
	root.InitDefaultHelpCmd()
	for _, page := range []string{"README.md", "README.ru.md", "docs/architecture.md", "docs/cli.md"} {
		data, err := os.ReadFile(filepath.Join("..", "..", page))
		if os.IsNotExist(err) {
			continue
		}
		for _, m := range regexp.MustCompile("`forgeplan ([a-z][a-z-]*)[^`\n]*`").FindAllStringSubmatch(string(data), -1) {
			if cmd, _, err := root.Find([]string{m[1]}); err != nil || cmd == root {
				t.Errorf("%s names forgeplan %s", page, m[1])
			}
		}
	}
}
