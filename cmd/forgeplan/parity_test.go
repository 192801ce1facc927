package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"forgeplan/internal/testws"
	"forgeplan/internal/workspace"
	"forgeplan/mcp"
	"forgeplan/tools"
)

// TestParity: the same calls through the registry, over MCP and on the command
// line, each on a folder of its own, have the same answers, failures too. What
// differs by nature is put aside: the text of the hint, ULIDs, times, hashes of
// what holds them, and who called.
func TestParity(t *testing.T) {
	calls := []struct {
		tool, args string
		line       []string
	}{
		{"forgeplan_list", `{}`, []string{"list"}}, // before init
		{"forgeplan_init", `{}`, []string{"init"}},
		{"forgeplan_init", `{}`, []string{"init"}},
		{"forgeplan_new", `{"kind":"prd","title":"Вход 🔑"}`, []string{"new", "prd", "Вход 🔑"}},
		{"forgeplan_new", `{"kind":"PRD ","title":"Вход 🔑","tags":"a, b","body":"text\r\nno end"}`, []string{"new", "PRD ", "Вход 🔑", "--tags", "a, b", "--body", "text\r\nno end"}},
		{"forgeplan_new", `{"kind":"evidence","title":"Measured","idempotency_key":"k"}`, []string{"new", "evidence", "Measured", "--idempotency-key", "k"}},
		{"forgeplan_new", `{"kind":"evidence","title":"Measured","idempotency_key":"k"}`, []string{"new", "evidence", "Measured", "--idempotency-key", "k"}},
		{"forgeplan_new", `{"kind":"evidence","title":"Other","idempotency_key":"k"}`, []string{"new", "evidence", "Other", "--idempotency-key", "k"}},
		{"forgeplan_new", `{"kind":"note","title":"Dry","dry_run":"true"}`, []string{"new", "note", "Dry", "--dry-run"}},
		{"forgeplan_new", `{"kind":"story","title":"x"}`, []string{"new", "story", "x"}},
		{"forgeplan_new", `{"kind":"note","title":" "}`, []string{"new", "note", " "}},
		{"forgeplan_link", `{"source":"evid-1","target":"PRD-0001"}`, []string{"link", "evid-1", "PRD-0001"}},
		{"forgeplan_link", `{"source":"EVID-001","target":"PRD-001"}`, []string{"link", "EVID-001", "PRD-001"}},
		{"forgeplan_link", `{"source":"EVID-001","target":"EVID-001"}`, []string{"link", "EVID-001", "EVID-001"}},
		{"forgeplan_unlink", `{"source":"EVID-001","target":"PRD-002"}`, []string{"unlink", "EVID-001", "PRD-002"}},
		{"forgeplan_tag", `{"id":"PRD-001","tags":["One Two","x=y"]}`, []string{"tag", "PRD-001", "One Two", "x=y"}},
		{"forgeplan_untag", `{"id":"PRD-001","tags":["nothing"]}`, []string{"untag", "PRD-001", "nothing"}},
		{"forgeplan_update", `{"id":"PRD-001","title":"New","depth":"DEEP","if_version":"1"}`, []string{"update", "PRD-001", "--title", "New", "--depth", "DEEP", "--if-version", "1"}},
		{"forgeplan_update", `{"id":"PRD-001","body":""}`, []string{"update", "PRD-001", "--body", ""}},
		{"forgeplan_update", `{"id":"PRD-001","status":"active"}`, []string{"update", "PRD-001", "--status", "active"}},
		{"forgeplan_update", `{"id":"PRD-001","title":"Again","if_version":1}`, []string{"update", "PRD-001", "--title", "Again", "--if-version", "1"}},
		{"forgeplan_get", `{"id":" prd-1 "}`, []string{"get", " prd-1 "}},
		{"forgeplan_get", `{"id":"PRD-2","offset":2,"length":3}`, []string{"get", "PRD-2", "--offset", "2", "--length", "3"}},
		{"forgeplan_get", `{"id":"PRD-1a"}`, []string{"get", "PRD-1a"}},
		{"forgeplan_get", `{}`, []string{"get"}},
		{"forgeplan_list", `{"kind":"prd","status":"draft","limit":1}`, []string{"list", "--kind", "prd", "--status", "draft", "--limit", "1"}},
		{"forgeplan_list", `{"status":"open"}`, []string{"list", "--status", "open"}},
		{"forgeplan_list", `{"detail":true,"limit":5000}`, []string{"list", "--detail", "--limit", "5000"}},
		{"forgeplan_activate", `{"id":"PRD-001"}`, []string{"activate", "PRD-001"}},
		{"forgeplan_activate", `{"id":"PRD-001","force":true}`, []string{"activate", "PRD-001", "--force"}},
		{"forgeplan_supersede", `{"id":"PRD-001","by":"PRD-002"}`, []string{"supersede", "PRD-001", "--by", "PRD-002"}},
		{"forgeplan_undo_last", `{"within_hours":"48"}`, []string{"undo", "--within-hours", "48"}},
		{"forgeplan_redo", `{}`, []string{"redo"}},
		{"forgeplan_restore", `{"id":"PRD-001"}`, []string{"restore", "PRD-001"}},
		{"forgeplan_deprecate", `{"id":"PRD-001","reason":"a: b"}`, []string{"deprecate", "PRD-001", "--reason", "a: b"}},
		{"forgeplan_delete", `{"id":"EVID-001"}`, []string{"delete", "EVID-001"}},
		{"forgeplan_get", `{"id":"EVID-001"}`, []string{"get", "EVID-001"}},
		{"forgeplan_receipts", `{"open":true}`, []string{"receipts", "--open"}},
		{"forgeplan_undo_last", `{}`, []string{"undo"}},
		{"forgeplan_undo_last", `{}`, []string{"undo"}},
		{"forgeplan_undo_last", `{}`, []string{"undo"}},
		{"forgeplan_renew", `{"id":"PRD-001","until":"soon","reason":"x"}`, []string{"renew", "PRD-001", "--until", "soon", "--reason", "x"}},
		{"forgeplan_reopen", `{"id":"PRD-001","reason":"more"}`, []string{"reopen", "PRD-001", "--reason", "more"}},
		{"forgeplan_renumber", `{"id":"PRD-002"}`, []string{"renumber", "PRD-002"}},
		{"forgeplan_sync", `{}`, []string{"sync"}},
		{"forgeplan_activity", `{"limit":"5.5"}`, []string{"activity", "--limit", "5.5"}},
		{"forgeplan_activity", `{"since":"yesterday"}`, []string{"activity", "--since", "yesterday"}},
	}
	straight, server, shell := testws.Bare(t), serverOn(t, testws.Bare(t)), testws.Bare(t).Dir
	person := tools.Caller{Face: "cli", Actor: "vera", ActorKind: "human", Client: "x"}
	for i, c := range calls {
		registry := alike(t, straight.Reg.Call(t.Context(), person, c.tool, json.RawMessage(c.args)).Body)
		over := alike(t, server.call(t, i+1, c.tool, c.args))
		typed := alike(t, []byte(at(t, shell, nil, append(c.line, "--json")...).stdout))
		if registry != over || over != typed {
			t.Errorf("%s %s\nregistry %s\nMCP      %s\ncommand  %s", c.tool, c.args, registry, over, typed)
		}
	}
}

var (
	anyULID  = regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{26}\b`)
	anyTime  = regexp.MustCompile(`\b20\d\d-\d\d-\d\d[T-][\d:.-]+Z?`)
	anyHash  = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
	anyActor = regexp.MustCompile(`vera( \(x\)| \(forgeplan-cli/[^)]*\)| \(c/1\))?`)
)

// alike puts aside what differs by nature.
func alike(t *testing.T, body []byte) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	m["_next_action"] = m["_next_action"] != ""
	// A temporary folder's name; only MCP promises a record of a read; a cursor
	// holds a uid.
	for _, key := range []string{"project", "recorded", "next_cursor"} {
		delete(m, key)
	}
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	text := anyULID.ReplaceAllString(string(out), "ULID")
	text = anyHash.ReplaceAllString(anyTime.ReplaceAllString(text, "TIME"), "HASH")
	return anyActor.ReplaceAllString(text, "vera")
}

// wire is a server in this process, spoken to by lines.
type wire struct {
	in  io.Writer
	out *bufio.Reader
}

func serverOn(t *testing.T, ws *testws.WS) *wire {
	t.Helper()
	reg, err := tools.New(&workspace.Env{Start: ws.Dir, Program: version, Command: "test"}, tools.All())
	if err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- mcp.Serve(t.Context(), reg, mcp.Options{In: in, Out: out, Version: version, Actor: "vera", Toolset: "all"})
	}()
	t.Cleanup(func() {
		toServer.Close()
		<-done
	})
	w := &wire{in: toServer, out: bufio.NewReaderSize(fromServer, 1<<20)}
	w.send(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	w.read(t)
	w.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

func (w *wire) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

func (w *wire) read(t *testing.T) string {
	t.Helper()
	line, err := w.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// call returns the structured content, which has to be the text block's object.
func (w *wire) call(t *testing.T, id int, tool, args string) []byte {
	t.Helper()
	w.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args))
	var answer struct {
		Result struct {
			Content    []struct{ Text string }
			Structured json.RawMessage `json:"structuredContent"`
		}
	}
	line := w.read(t)
	if err := json.Unmarshal([]byte(line), &answer); err != nil || len(answer.Result.Content) != 1 {
		t.Fatalf("%v in %s", err, line)
	}
	var a, b any
	if json.Unmarshal([]byte(answer.Result.Content[0].Text), &a) != nil || json.Unmarshal(answer.Result.Structured, &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("text and structured content differ: %s", line)
	}
	return []byte(strings.TrimSpace(answer.Result.Content[0].Text))
}
