package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"forgeplan/internal/testws"
	"forgeplan/tools"

	"pgregory.net/rapid"
)

// active makes an artifact that destructive steps can be tried on.
func active(ws *testws.WS, kind, title string) string {
	id := ws.Must("forgeplan_new", map[string]any{"kind": kind, "title": title, "body": "# " + title + "\r\nno end"})["id"].(string)
	ws.Must("forgeplan_activate", map[string]any{"id": id, "force": true})
	return id
}

// list is the list as people see it.
func list(ws *testws.WS) string { return fmt.Sprint(ws.Must("forgeplan_list", `{}`)["artifacts"]) }

func markdown(t *testing.T, ws *testws.WS) map[string][32]byte {
	return tree(t, ws, func(path string) bool { return filepath.Ext(path) == ".md" })
}

func same(a, b map[string][32]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

// The answer of the product page, key by key and word by word.
func TestUndoAnswer(t *testing.T) {
	ws := testws.New(t)
	a := active(ws, "prd", "Auth system")
	for _, other := range []string{active(ws, "rfc", "One"), active(ws, "adr", "Two")} {
		ws.Must("forgeplan_link", map[string]any{"source": other, "target": a, "relation": "based_on"})
	}
	ws.Must("forgeplan_link", map[string]any{"source": a, "target": "RFC-001", "relation": "informs"})
	ws.Must("forgeplan_delete", map[string]any{"id": a})
	body := string(ws.Call("forgeplan_undo_last", `{}`).Body)
	want := `^\{"restored":"PRD-001","op_reversed":"delete","receipt_id":"trash-2026-04-26T10-00-00-001","relations_restored":3,"relations_skipped":\[\],"projection_restored":true,"warnings":\[\],.*` +
		regexp.QuoteMeta("\"_next_action\":\"Reversed most recent delete of `PRD-001`. To undo another, call `forgeplan_undo_last` again (finds the next newest non-consumed receipt). Or restore a specific ID: `forgeplan_restore <id>`.\"}") + `$`
	if !regexp.MustCompile(want).MatchString(body) {
		t.Errorf("got %s", body)
	}
	empty := string(ws.Call("forgeplan_undo_last", `{}`).Body)
	if want := "{\"ok\":false,\"error\":\"No non-consumed destructive op in the last 24 hour(s).\",\"error_class\":\"nothing_to_do\",\"_next_action\":\"Expand the window: `forgeplan_undo_last within_hours=720`. Or inspect the log: `forgeplan_activity --tool forgeplan_delete,forgeplan_supersede,forgeplan_deprecate --since 720h`.\"}"; empty != want {
		t.Errorf("got  %s\nwant %s", empty, want)
	}
	for _, c := range []struct{ args, want string }{{`{"within_hours":"720"}`, "720 hour"}, {`{"within_hours":9999}`, "720 hour"}, {`{"within_hours":null}`, "24 hour"}} {
		if r := ws.Call("forgeplan_undo_last", c.args); r.Failure == nil || !strings.Contains(r.Failure.Msg, c.want) {
			t.Errorf("%s: %s", c.args, r.Body)
		}
	}
	if r := ws.Call("forgeplan_undo_last", `{"hours":720}`); r.Failure == nil || r.Failure.Class != tools.ClassInvalidInput || !strings.Contains(r.Failure.Msg, "within_hours") {
		t.Errorf("unknown argument: %s", r.Body)
	}
}

// Every destructive step and its undo are the identity: state hash, file bytes,
// list and get.
func TestUndoIsExact(t *testing.T) {
	for _, c := range []struct{ op, args string }{
		{"forgeplan_delete", `{"id":"PRD-001"}`}, {"forgeplan_deprecate", `{"id":"PRD-001","reason":"old: news"}`}, {"forgeplan_supersede", `{"id":"PRD-001","by":"PRD-002"}`},
	} {
		ws := testws.New(t)
		a, b := active(ws, "prd", "Gone: soon"), active(ws, "prd", "Other")
		ws.Must("forgeplan_tag", map[string]any{"id": a, "tags": []string{"source=code", "x"}})
		ws.Must("forgeplan_update", map[string]any{"id": a, "valid_until": "2030-01-01", "author": "somebody"})
		ws.Must("forgeplan_link", map[string]any{"source": a, "target": b})
		ws.Must("forgeplan_link", map[string]any{"source": b, "target": a, "relation": "refines"})
		before, files, rows := ws.Check(), markdown(t, ws), list(ws)
		got := ws.Must("forgeplan_get", map[string]any{"id": a})
		ws.Clock.Set(testws.Start.Add(time.Hour))
		if dry := ws.Must(c.op, strings.TrimSuffix(c.args, "}")+`,"dry_run":true}`); dry["changed"] != true {
			t.Errorf("%s dry run: %v", c.op, dry)
		}
		if ws.Check().StateHash != before.StateHash || !same(markdown(t, ws), files) {
			t.Errorf("%s: a dry run changed something", c.op)
		}
		ws.Must(c.op, c.args)
		if ws.Check().StateHash == before.StateHash {
			t.Errorf("%s changed nothing", c.op)
		}
		dry := ws.Must("forgeplan_undo_last", `{"dry_run":true}`)
		if dry["restored"] != a || ws.Must("forgeplan_receipts", `{"open":true}`)["count"] != 1.0 {
			t.Errorf("%s: dry run of the undo: %v", c.op, dry)
		}
		out := ws.Must("forgeplan_undo_last", `{}`)
		if out["projection_restored"] != true {
			t.Errorf("%s: %v", c.op, out)
		}
		if after := ws.Check(); after.StateHash != before.StateHash {
			t.Errorf("%s: the state is not what it was", c.op)
		}
		if !same(markdown(t, ws), files) {
			t.Errorf("%s: the files are not what they were: %q", c.op, ws.File("prds/PRD-001-gone-soon.md"))
		}
		if c.op != "forgeplan_supersede" && list(ws) != rows {
			t.Errorf("%s: list\n%s\nwas\n%s", c.op, list(ws), rows)
		}
		now := ws.Must("forgeplan_get", map[string]any{"id": a})
		for _, k := range []string{"title", "status", "tags", "author", "valid_until", "created_at", "updated_at", "links", "linked_from", "body", "path", "uid"} {
			if fmt.Sprint(now[k]) != fmt.Sprint(got[k]) {
				t.Errorf("%s: %s is %v, was %v", c.op, k, now[k], got[k])
			}
		}
	}
}

// Three undos walk back, newest first, across a restart, and never toggle; a
// new deletion is taken first; a fourth finds nothing.
func TestUndoWalksBack(t *testing.T) {
	ws := testws.New(t)
	for _, s := range []string{"A", "B", "C"} {
		ws.Must("forgeplan_new", map[string]any{"kind": "note", "title": s})
	}
	ws.Must("forgeplan_delete", `{"id":"NOTE-001"}`)
	ws.Must("forgeplan_activate", `{"id":"NOTE-002"}`)
	ws.Must("forgeplan_deprecate", `{"id":"NOTE-002","reason":"old"}`)
	ws.Must("forgeplan_delete", `{"id":"NOTE-003"}`)
	other, err := tools.New(ws.NewEnv(7), tools.All())
	if err != nil {
		t.Fatal(err)
	}
	receipts := map[string]bool{}
	for i, want := range []string{"NOTE-003 delete", "NOTE-002 deprecate", "NOTE-001 delete"} {
		reg := ws.Reg
		if i == 1 {
			reg = other
		}
		out := testws.Object(t, reg.Call(context.Background(), ws.Caller, "forgeplan_undo_last", json.RawMessage(`{}`)).Body)
		if got := fmt.Sprint(out["restored"], " ", out["op_reversed"]); got != want || fmt.Sprint(out["warnings"]) != "[]" {
			t.Errorf("undo %d: %v", i+1, out)
		}
		receipts[out["receipt_id"].(string)] = true
	}
	if len(receipts) != 3 {
		t.Errorf("receipts %v", receipts)
	}
	if r := ws.Call("forgeplan_undo_last", `{}`); r.Failure == nil || r.Failure.Class != tools.ClassNothingToDo {
		t.Errorf("fourth: %s", r.Body)
	}
	if n := ws.Must("forgeplan_new", `{"kind":"note","title":"D"}`)["id"]; n != "NOTE-004" {
		t.Errorf("number %v", n)
	}
	if a := ws.Must("forgeplan_get", `{"id":"NOTE-002"}`); a["status"] != "active" {
		t.Errorf("NOTE-002 is %v", a["status"])
	}
	// redo, redo, redo: all three are gone again, in the order they went.
	for _, want := range []string{"NOTE-001", "NOTE-002", "NOTE-003"} {
		if out := ws.Must("forgeplan_redo", `{}`); out["redone"] != want {
			t.Errorf("redo: %v, want %s", out, want)
		}
	}
	if r := ws.Call("forgeplan_redo", `{}`); r.Failure == nil || r.Failure.Class != tools.ClassNothingToDo {
		t.Errorf("fourth redo: %s", r.Body)
	}
	if out := ws.Must("forgeplan_undo_last", `{}`); out["restored"] != "NOTE-003" {
		t.Errorf("undo after redo: %v", out)
	}
}

// Edits made since stay, and are named.
func TestUndoKeepsLaterEdits(t *testing.T) {
	ws := testws.New(t)
	active(ws, "prd", "Old name")
	ws.Must("forgeplan_deprecate", `{"id":"PRD-001","reason":"mistake"}`)
	ws.Must("forgeplan_update", `{"id":"PRD-001","title":"New name"}`)
	out := ws.Must("forgeplan_undo_last", `{}`)
	a := ws.Must("forgeplan_get", `{"id":"PRD-001"}`)
	file := ws.File(a["path"].(string))
	if out["op_reversed"] != "deprecate" || out["projection_restored"] != true || !strings.Contains(fmt.Sprint(out["warnings"]), "title") {
		t.Errorf("undo %v", out)
	}
	if a["status"] != "active" || a["title"] != "New name" || strings.Contains(file, "mistake") || !strings.Contains(file, "status: active") || !strings.Contains(file, "New name") {
		t.Errorf("get %v, file %q", a, file)
	}
}

// A link whose other end is gone is named, and comes back with that end.
func TestUndoSkippedLinks(t *testing.T) {
	ws := testws.New(t)
	a, b := active(ws, "prd", "Target"), active(ws, "evidence", "Source")
	ws.Must("forgeplan_link", map[string]any{"source": b, "target": a})
	ws.Must("forgeplan_delete", map[string]any{"id": a})
	if links := ws.Must("forgeplan_get", map[string]any{"id": b})["links"].([]any); len(links) != 0 {
		t.Errorf("a link to what is gone: %v", links)
	}
	ws.Must("forgeplan_delete", map[string]any{"id": b})
	first := ws.Must("forgeplan_restore", map[string]any{"id": a})
	if fmt.Sprint(first["relations_skipped"]) != "[EVID-001]" || first["relations_restored"] != 0.0 {
		t.Errorf("first: %v", first)
	}
	second := ws.Must("forgeplan_restore", map[string]any{"id": b})
	if second["relations_restored"] != 1.0 || len(ws.Must("forgeplan_get", map[string]any{"id": a})["linked_from"].([]any)) != 1 {
		t.Errorf("second: %v", second)
	}
}

// A deleted id says when, by whom and how to bring it back; one that never was
// says so. A refused operation opens no receipt.
func TestDeletedIsNotUnknown(t *testing.T) {
	ws := testws.New(t)
	active(ws, "prd", "Cited")
	made := ws.Must("forgeplan_delete", `{"id":"PRD-001"}`)
	r := ws.Call("forgeplan_get", `{"id":"prd-1"}`)
	for _, part := range []string{"deleted at 2026-04-26T", "test-agent", made["call"].(string), made["receipt_id"].(string)} {
		if r.Failure == nil || r.Failure.Class != tools.ClassNotFound || !strings.Contains(r.Failure.Msg, part) {
			t.Errorf("no %q in %s", part, r.Body)
		}
	}
	if next := testws.Object(t, r.Body)["_next_action"].(string); !strings.Contains(next, "`forgeplan_restore id=PRD-001`") {
		t.Errorf("hint %q", next)
	}
	if r := ws.Call("forgeplan_get", `{"id":"PRD-404"}`); r.Failure == nil || !strings.Contains(r.Failure.Msg, "never existed") {
		t.Errorf("unknown: %s", r.Body)
	}
	ws.Must("forgeplan_undo_last", `{}`)
	for _, c := range [][2]string{{"forgeplan_supersede", `{"id":"PRD-001","by":"PRD-009"}`}, {"forgeplan_supersede", `{"id":"PRD-001","by":"PRD-001"}`},
		{"forgeplan_deprecate", `{"id":"PRD-001","reason":""}`}, {"forgeplan_delete", `{"id":"PRD-009"}`}} {
		if r := ws.Call(c[0], c[1]); r.Failure == nil {
			t.Errorf("%v: %s", c, r.Body)
		}
	}
	if n := ws.Must("forgeplan_receipts", `{"open":true}`)["count"]; n != 0.0 {
		t.Errorf("%v open receipts", n)
	}
	if r := ws.Call("forgeplan_restore", `{"id":"PRD-001"}`); r.Failure == nil || r.Failure.Class != tools.ClassNothingToDo || !strings.Contains(r.Failure.Msg, "taken back at") {
		t.Errorf("twice: %s", r.Body)
	}
}

// Whose it was is said, and a scope can leave it alone.
func TestUndoScopes(t *testing.T) {
	ws := testws.New(t)
	active(ws, "note", "Mine")
	active(ws, "note", "Theirs")
	ws.Must("forgeplan_delete", `{"id":"NOTE-001"}`)
	person := tools.Caller{Face: "cli", Actor: "vera", ActorKind: "human", Client: "forgeplan-cli/1"}
	do := func(name, args string) tools.Reply {
		return ws.Reg.Call(context.Background(), person, name, json.RawMessage(args))
	}
	if r := do("forgeplan_delete", `{"id":"NOTE-002"}`); r.Failure != nil {
		t.Fatalf("%s", r.Body)
	}
	if dry := testws.Object(t, do("forgeplan_undo_last", `{"scope":"mine","dry_run":true}`).Body); dry["restored"] != "NOTE-002" {
		t.Errorf("mine: %v", dry)
	}
	if r := do("forgeplan_undo_last", `{"scope":"session"}`); r.Failure == nil {
		t.Errorf("session without one: %s", r.Body)
	}
	if r := do("forgeplan_undo_last", `{"scope":"files"}`); r.Failure == nil {
		t.Errorf("files: %s", r.Body)
	}
	if out := ws.Must("forgeplan_undo_last", `{"scope":"mine"}`); out["restored"] != "NOTE-001" || fmt.Sprint(out["warnings"]) != "[]" {
		t.Errorf("the agent's: %v", out)
	}
	if out := ws.Must("forgeplan_undo_last", `{}`); out["restored"] != "NOTE-002" || !strings.Contains(fmt.Sprint(out["warnings"]), "vera") {
		t.Errorf("all: %v", out)
	}
}

// The table of statuses: what is illegal is `rule`, lists what is legal, and
// names no tool.
func TestTransitions(t *testing.T) {
	ws := testws.New(t)
	ws.Must("forgeplan_new", `{"kind":"prd","title":"Stub"}`)
	ws.Must("forgeplan_new", `{"kind":"note","title":"Note"}`)
	refused := func(name, args, part string) {
		t.Helper()
		r := ws.Call(name, args)
		if r.Failure == nil || r.Failure.Class != tools.ClassRule || !strings.Contains(r.Failure.Msg, part) || strings.Contains(r.Failure.Msg, "forgeplan") || strings.Contains(string(r.Body), "force") {
			t.Errorf("%s %s: %s", name, args, r.Body)
		}
	}
	refused("forgeplan_activate", `{"id":"PRD-001"}`, "no evidence")
	refused("forgeplan_activate", `{"id":"PRD-001"}`, "6 passages of the template")
	refused("forgeplan_deprecate", `{"id":"PRD-001","reason":"x"}`, "active")
	ws.Must("forgeplan_activate", `{"id":"NOTE-001"}`)
	refused("forgeplan_activate", `{"id":"NOTE-001"}`, "superseded or deprecated")
	refused("forgeplan_renew", `{"id":"NOTE-001","until":"2030-01-01","reason":"x"}`, "active already")
	refused("forgeplan_renew", `{"id":"PRD-001","until":"2030-01-01","reason":"x"}`, "this step does not lead to active")
	ws.Must("forgeplan_update", `{"id":"NOTE-001","valid_until":"2026-04-20"}`)
	if a := ws.Must("forgeplan_get", `{"id":"NOTE-001"}`); a["status"] != "stale" {
		t.Errorf("status %v", a["status"])
	}
	ws.Must("forgeplan_renew", `{"id":"NOTE-001","until":"2030-01-01","reason":"still true"}`)
	again := ws.Must("forgeplan_reopen", `{"id":"NOTE-001","reason":"more"}`)
	if again["new_id"] != "NOTE-002" {
		t.Errorf("reopen %v", again)
	}
	draft := ws.Must("forgeplan_get", `{"id":"NOTE-002"}`)
	if draft["status"] != "draft" || draft["title"] != "Note (reopened)" || len(draft["links"].([]any)) != 1 || !strings.Contains(ws.File(draft["path"].(string)), "based_on") {
		t.Errorf("draft %v", draft)
	}
	refused("forgeplan_reopen", `{"id":"NOTE-001","reason":"x"}`, "no status follows")
}

// Property: do and undo in any mix leave state and files as they were.
func TestUndoProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ws := testws.New(t)
		ids := []string{active(ws, "prd", "One: a"), active(ws, "prd", "Two"), active(ws, "adr", "Три")}
		for _, l := range [][2]string{{ids[0], ids[1]}, {ids[1], ids[2]}, {ids[2], ids[0]}} {
			ws.Must("forgeplan_link", map[string]any{"source": l[0], "target": l[1]})
		}
		hashes := []([32]byte){ws.Check().StateHash}
		trees := []map[string][32]byte{markdown(t, ws)}
		for range rapid.IntRange(1, 5).Draw(rt, "steps") {
			id := rapid.SampledFrom(ids).Draw(rt, "id")
			var r tools.Reply
			switch rapid.IntRange(0, 2).Draw(rt, "op") {
			case 0:
				r = ws.Call("forgeplan_delete", map[string]any{"id": id})
			case 1:
				r = ws.Call("forgeplan_deprecate", map[string]any{"id": id, "reason": "because"})
			case 2:
				r = ws.Call("forgeplan_supersede", map[string]any{"id": id, "by": rapid.SampledFrom(ids).Draw(rt, "by")})
			}
			if r.Failure == nil {
				hashes, trees = append(hashes, ws.Check().StateHash), append(trees, markdown(t, ws))
			}
		}
		check := func(i int, what string) {
			if ws.Check().StateHash != hashes[i] || !same(markdown(t, ws), trees[i]) {
				rt.Fatalf("after %s, state %d is not what it was", what, i)
			}
		}
		n := len(hashes) - 1
		for i := n; i > 0; i-- {
			ws.Must("forgeplan_undo_last", `{}`)
			check(i-1, "undo")
		}
		for i := 1; i <= n; i++ {
			ws.Must("forgeplan_redo", `{}`)
			check(i, "redo")
		}
	})
}

// A file that a person changed is taken in before it is removed, and comes
// back as that person left it.
func TestDeleteTakesHandEditsIn(t *testing.T) {
	ws := testws.New(t)
	ws.Must("forgeplan_new", `{"kind":"note","title":"Edited"}`)
	edited := edit(t, ws, "notes/NOTE-001-edited.md", func(s string) string { return s + "mine\n" })
	ws.Must("forgeplan_delete", `{"id":"NOTE-001"}`)
	if ws.File("notes/NOTE-001-edited.md") != "" {
		t.Error("the file is still there")
	}
	ws.Must("forgeplan_undo_last", `{}`)
	if got := ws.File("notes/NOTE-001-edited.md"); got != edited {
		t.Errorf("got %q, want %q", got, edited)
	}
}

// A file that is put back after a deletion is not taken away again; it is a
// finding, and restore still works on it.
func TestDeletedFileThatComesBack(t *testing.T) {
	ws := testws.New(t)
	ws.Must("forgeplan_new", `{"kind":"note","title":"Back"}`)
	text := ws.File("notes/NOTE-001-back.md")
	ws.Must("forgeplan_delete", `{"id":"NOTE-001"}`)
	put(t, ws, "notes/NOTE-001-back.md", text)
	for range 2 {
		list := ws.Must("forgeplan_list", nil)
		if list["count"] != 0.0 || !strings.Contains(fmt.Sprint(list["warnings"]), "NOTE-001, which was deleted") || ws.File("notes/NOTE-001-back.md") != text {
			t.Errorf("list %v, file %q", list, ws.File("notes/NOTE-001-back.md"))
		}
	}
	back := ws.Must("forgeplan_restore", `{"id":"NOTE-001"}`)
	if back["projection_restored"] != true || ws.File("notes/NOTE-001-back.md") != text {
		t.Errorf("restore %v", back)
	}
}

// A retitle does not take a name at which somebody's file stands.
func TestRetitleOntoAFile(t *testing.T) {
	ws := testws.New(t)
	ws.Must("forgeplan_new", `{"kind":"note","title":"One"}`)
	put(t, ws, "notes/NOTE-001-two.md", "somebody's\n")
	out := ws.Must("forgeplan_update", `{"id":"NOTE-001","title":"Two"}`)
	if ws.File("notes/NOTE-001-two.md") != "somebody's\n" || !strings.Contains(fmt.Sprint(out["warnings"]), "is there already") {
		t.Errorf("%v, %q", out, ws.File("notes/NOTE-001-two.md"))
	}
}
