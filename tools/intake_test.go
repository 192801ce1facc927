package tools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"forgeplan/internal/testws"
	"forgeplan/internal/workspace"
	"forgeplan/tools"
)

var saves time.Duration

// put writes a file of the workspace folder as an editor would; it is old
// enough to count.
func put(t *testing.T, ws *testws.WS, name, text string) {
	t.Helper()
	path := filepath.Join(ws.Dir, workspace.Folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	saves++ // no two saves at one time
	old := testws.Start.Add(-time.Hour + saves*time.Second)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

// edit changes a file by hand and returns its new text.
func edit(t *testing.T, ws *testws.WS, name string, change func(string) string) string {
	t.Helper()
	text := ws.File(name)
	if text == "" {
		t.Fatalf("no file %s", name)
	}
	text = change(text)
	put(t, ws, name, text)
	return text
}

// A hand edit becomes the events that it means, before a call reads or writes,
// as one recorded sync; the call's own change goes on top; nothing else in the
// file moves.
func TestHandEditIsTakenIn(t *testing.T) {
	ws := testws.New(t)
	ws.Must("forgeplan_new", `{"kind":"prd","title":"Edited","body":"one\n"}`)
	edited := edit(t, ws, "prds/PRD-001-edited.md", func(s string) string {
		return strings.Replace(s, "depth: standard", "depth: Deep   # by hand\nx-team: 007", 1) + "A sentence typed by a person.\n"
	})
	a := ws.Must("forgeplan_get", `{"id":"PRD-001"}`)
	if a["depth"] != "deep" || a["body"] != "one\nA sentence typed by a person.\n" {
		t.Errorf("get %v", a)
	}
	if got := ws.File("prds/PRD-001-edited.md"); got != edited {
		t.Errorf("the file was changed: %q", got)
	}
	edited = edit(t, ws, "prds/PRD-001-edited.md", func(s string) string { return s + "Another.\n" })
	ws.Must("forgeplan_update", `{"id":"PRD-001","title":"By a tool"}`)
	want := strings.Replace(edited, `title: "Edited"`, `title: "By a tool"`, 1)
	if got := ws.File("prds/PRD-001-by-a-tool.md"); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	var syncs int
	for _, e := range entries(ws, `{"detail":true}`) {
		if e["tool"] == "forgeplan_sync" {
			syncs++
			if e["actor_kind"] != "file" || e["effect"] != "changed" || e["cause"] == "" {
				t.Errorf("sync %v", e)
			}
		}
	}
	if syncs != 2 {
		t.Errorf("%d syncs", syncs)
	}
	if again := ws.Must("forgeplan_sync", `{}`); again["changed"] != false {
		t.Errorf("a sync of nothing: %v", again)
	}
}

// Every kind of file that people and systems leave behind is read as what it
// is, and a change of one key changes one line.
func TestFilesAsTheyAre(t *testing.T) {
	files := map[string]string{
		"notes/NOTE-031-typed.md":     "---\nid: NOTE-031\nkind: note\nstatus: draft\ntitle: 2026-04-26\ncreated: 2026-04-26\nversion: 1.10\ncode: 007\nwake_up: 06:20\ncountry: no\nempty_value: ~\nlong_number: 12345678901234567890\ndue: 2026-04-26T10:14:22-04:00\n---\n\n# Body\n",
		"specs/SPEC-007-windows.md":   "---\r\nid: SPEC-007\r\nkind: spec\r\nstatus: draft\r\ntitle: From Windows\r\n---\r\n\r\n# Body\r\n\r\nline two\r\nlf only line\nlast line without end",
		"problems/PROB-010-two.md":    "---\nid: PROB-010\nkind: problem\nstatus: deprecated\ntitle: Two blocks\n---\n\n---\nid: PROB-999\nstatus: Draft\n---\n\n# Body\n\n---\n\n```yaml\n---\nstatus: superseded\n---\n```\n\n----\n",
		"problems/PROB-004-case.md":   "---\nid: PROB-004\nkind: Problem\nstatus: Draft                # one of: draft, active\ntitle: Status in capitals\n---\n\n# Body\n",
		"memory/mem-a.md":             "---\nid: mem-a\nkind: memory\nstatus: active\ntitle: A memory\n---\ntext",
		"notes/SESSION-2026-04-06.md": "---\nid: SESSION-2026-04-06\nkind: note\nstatus: draft\ntitle: A session\nlinks:\n- target: SPEC-007\n  relation: informs\n- target: NOWHERE-1\n  relation: based_on\n---\nx",
	}
	ws := testws.Bare(t)
	for name, text := range files {
		put(t, ws, name, text)
	}
	made := ws.Must("forgeplan_init", nil)
	defer ws.Check()
	if n := len(made["created"].([]any)); n != len(files) || len(made["findings"].([]any)) != 0 {
		t.Fatalf("init %v", made)
	}
	for name, text := range files {
		if ws.File(name) != text {
			t.Errorf("%s was changed", name)
		}
	}
	if again := ws.Must("forgeplan_init", nil); again["changed"] != false {
		t.Errorf("init again: %v", again)
	}
	if again := ws.Must("forgeplan_sync", nil); again["changed"] != false {
		t.Errorf("sync: %v", again)
	}
	if n := ws.Must("forgeplan_list", `{"status":"draft","kind":"problem"}`)["count"]; n != 1.0 {
		t.Errorf("%v draft problems", n)
	}
	if a := ws.Must("forgeplan_get", `{"id":"NOTE-031"}`); a["title"] != "2026-04-26" || a["created_at"] != "2026-04-26T00:00:00.000Z" {
		t.Errorf("NOTE-031 %v", a)
	}
	if a := ws.Must("forgeplan_get", `{"id":"SESSION-2026-04-06"}`); fmt.Sprint(a["links"]) != "[map[id:NOWHERE-1 relation:based_on status: title:] map[id:SPEC-007 relation:informs status:draft title:From Windows]]" {
		t.Errorf("links %v", a["links"])
	}
	for id, name := range map[string]string{"NOTE-031": "notes/NOTE-031-typed.md", "SPEC-007": "specs/SPEC-007-windows.md", "PROB-010": "problems/PROB-010-two.md"} {
		before := ws.File(name)
		ws.Must("forgeplan_update", map[string]any{"id": id, "depth": "deep"})
		var changed []string
		old := strings.SplitAfter(before, "\n")
		for _, line := range strings.SplitAfter(ws.File(name), "\n") {
			if len(old) > 0 && line == old[0] {
				old = old[1:]
				continue
			}
			changed = append(changed, line)
		}
		if len(old) != 0 || len(changed) != 2 || !strings.HasPrefix(changed[0], "depth: deep") || !strings.HasPrefix(changed[1], "uid: ") {
			t.Errorf("%s: new lines %q, lost %q", id, changed, old)
		}
	}
	if n := ws.Must("forgeplan_new", `{"kind":"note","title":"Next"}`)["id"]; n != "NOTE-032" {
		t.Errorf("next number %v", n)
	}
}

// A file that cannot be read is named with its line and left alone; the others
// go on.
func TestUnreadableFiles(t *testing.T) {
	ws := testws.New(t)
	bad := map[string]string{
		"prds/PRD-021-colon.md":    "---\nid: PRD-021\nkind: prd\nstatus: draft\ntitle: Console transcript: skip rows that don't move\n---\n\n# Body stays\n",
		"prds/PRD-022-twice.md":    "---\nid: PRD-022\ntitle: a\ntitle: b\n---\n",
		"prds/PRD-023-conflict.md": "---\nid: PRD-023\nkind: prd\ntitle: c\n---\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n",
		"prds/PRD-024-bare.md":     "# No frontmatter\n",
	}
	for name, text := range bad {
		put(t, ws, name, text)
	}
	put(t, ws, "prds/PRD-020-good.md", "---\nid: PRD-020\nkind: prd\nstatus: odd\ntitle: Good\n---\nx")
	out := ws.Must("forgeplan_sync", nil)
	text := fmt.Sprint(out["findings"])
	for _, part := range []string{"line:5 path:prds/PRD-021-colon.md", "line:4 path:prds/PRD-022-twice.md", "line:7 path:prds/PRD-023-conflict.md", "path:prds/PRD-024-bare.md", "path:prds/PRD-020-good.md"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
	if fmt.Sprint(out["created"]) != "[PRD-020]" {
		t.Errorf("created %v", out["created"])
	}
	for name, text := range bad {
		if ws.File(name) != text {
			t.Errorf("%s was changed", name)
		}
	}
	list := ws.Must("forgeplan_list", nil)
	if list["count"] != 1.0 || !strings.Contains(fmt.Sprint(list["warnings"]), "prds/PRD-021-colon.md:5") {
		t.Errorf("list %v", list)
	}
}

// Absence never deletes: the artifact stays, is named, and its file comes back
// with the next change or a replay.
func TestMissingFile(t *testing.T) {
	ws := testws.New(t)
	ws.Must("forgeplan_new", `{"kind":"note","title":"Gone","body":"text"}`)
	file := ws.File("notes/NOTE-001-gone.md")
	remove := func() {
		if err := os.Remove(filepath.Join(ws.Dir, workspace.Folder, "notes", "NOTE-001-gone.md")); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	list := ws.Must("forgeplan_list", nil)
	if list["count"] != 1.0 || !strings.Contains(fmt.Sprint(list["warnings"]), "NOTE-001: its file is missing") {
		t.Errorf("list %v", list)
	}
	if ws.File("notes/NOTE-001-gone.md") != "" {
		t.Error("a read wrote it again")
	}
	ws.Replay()
	if ws.File("notes/NOTE-001-gone.md") != file {
		t.Error("replay did not write it again")
	}
	remove()
	ws.Must("forgeplan_tag", `{"id":"NOTE-001","tags":["a"]}`)
	if !strings.Contains(ws.File("notes/NOTE-001-gone.md"), "text") {
		t.Error("a change did not write it again")
	}
}

// A file renamed by hand is the same artifact; two files with one id are a
// clash that renumber settles; one uid twice is a finding.
func TestNamesAndClashes(t *testing.T) {
	ws := testws.New(t)
	ws.Must("forgeplan_new", `{"kind":"prd","title":"Onboarding","body":"# Body a\n"}`)
	old := filepath.Join(ws.Dir, workspace.Folder, "prds", "PRD-001-onboarding.md")
	if err := os.Rename(old, filepath.Join(filepath.Dir(old), "PRD-001-renamed-by-hand.md")); err != nil {
		t.Fatal(err)
	}
	a := ws.Must("forgeplan_get", `{"id":"PRD-001"}`)
	if a["path"] != "prds/PRD-001-renamed-by-hand.md" || a["title"] != "Onboarding" {
		t.Errorf("renamed: %v", a)
	}
	other := "---\nid: PRD-001\nkind: prd\nstatus: active\ntitle: Onboarding with a longer name\n---\n\n# Body b\n"
	put(t, ws, "prds/PRD-001-other.md", other)
	out := ws.Must("forgeplan_sync", nil)
	clash := out["clashes"].([]any)
	if len(clash) != 1 || !strings.HasPrefix(clash[0].(string), "PRD-001~") || ws.File("prds/PRD-001-other.md") != other {
		t.Fatalf("clash %v", out)
	}
	id := clash[0].(string)
	if b := ws.Must("forgeplan_get", map[string]any{"id": id}); b["title"] != "Onboarding with a longer name" {
		t.Errorf("get %s: %v", id, b)
	}
	if got := ws.Must("forgeplan_get", `{"id":"PRD-001"}`); got["uid"] != a["uid"] || !strings.Contains(fmt.Sprint(got["warnings"]), id) {
		t.Errorf("the holder: %v", got)
	}
	moved := ws.Must("forgeplan_renumber", map[string]any{"id": id})
	if moved["id"] != "PRD-002" || ws.File("prds/PRD-001-other.md") != "" || !strings.Contains(ws.File(moved["path"].(string)), "id: PRD-002\n") {
		t.Errorf("renumber: %v", moved)
	}
	if b := ws.Must("forgeplan_get", map[string]any{"id": id}); b["id"] != "PRD-002" {
		t.Errorf("the provisional id: %v", b)
	}
	copied := ws.File("prds/PRD-001-renamed-by-hand.md")
	put(t, ws, "prds/PRD-001-copy.md", copied)
	if out := ws.Must("forgeplan_sync", nil); !strings.Contains(fmt.Sprint(out["findings"]), "has the uid of") {
		t.Errorf("one uid twice: %v", out)
	}
}

// Two clones adopt the same files under the same ids and uids.
func TestFreshClones(t *testing.T) {
	source := testws.New(t)
	source.Must("forgeplan_new", `{"kind":"prd","title":"Shared"}`)
	text := source.File("prds/PRD-001-shared.md")
	var seen []string
	for range 2 {
		ws := testws.Bare(t)
		put(t, ws, "prds/PRD-001-shared.md", text)
		put(t, ws, "notes/NOTE-001-old.md", "---\nid: NOTE-001\nkind: note\ntitle: Old\n---\nx")
		if r := ws.Call("forgeplan_list", `{}`); r.Failure == nil || r.Failure.Class != tools.ClassNotFound || !strings.Contains(string(r.Body), "forgeplan_init") {
			t.Errorf("before init: %s", r.Body)
		}
		ws.Must("forgeplan_init", nil)
		ws.Check()
		var rows []string
		for _, row := range ws.Must("forgeplan_list", `{"detail":true}`)["artifacts"].([]any) {
			m := row.(map[string]any)
			rows = append(rows, fmt.Sprint(m["id"], " ", m["uid"]))
		}
		seen = append(seen, strings.Join(rows, "|"))
	}
	if seen[0] != seen[1] || !strings.Contains(seen[0], "PRD-001 ") {
		t.Errorf("%q", seen)
	}
}

// Deletions of files are accepted only when a person says so; they have
// receipts that only `scope: files` or restore use, a whole batch at once.
func TestAcceptedDeletions(t *testing.T) {
	ws := testws.New(t)
	ws.Must("forgeplan_new", `{"kind":"note","title":"A"}`)
	ws.Must("forgeplan_new", `{"kind":"note","title":"B"}`)
	a, b := ws.File("notes/NOTE-001-a.md"), ws.File("notes/NOTE-002-b.md")
	for _, name := range []string{"NOTE-001-a.md", "NOTE-002-b.md"} {
		if err := os.Remove(filepath.Join(ws.Dir, workspace.Folder, "notes", name)); err != nil {
			t.Fatal(err)
		}
	}
	if r := ws.Call("forgeplan_sync", `{"accept_deletions":true}`); r.Failure == nil {
		t.Errorf("over MCP: %s", r.Body)
	}
	ws.Caller.Face = "cli"
	out := ws.Must("forgeplan_sync", `{"accept_deletions":"true"}`)
	ws.Caller.Face = "mcp"
	if fmt.Sprint(out["deleted"]) != "[NOTE-001 NOTE-002]" {
		t.Errorf("sync %v", out)
	}
	if r := ws.Call("forgeplan_undo_last", `{}`); r.Failure == nil {
		t.Errorf("undo_last took a file deletion: %s", r.Body)
	}
	back := ws.Must("forgeplan_undo_last", `{"scope":"files"}`)
	if fmt.Sprint(back["restored_all"]) != "[NOTE-001 NOTE-002]" || ws.File("notes/NOTE-001-a.md") != a || ws.File("notes/NOTE-002-b.md") != b {
		t.Errorf("undo %v", back)
	}
}

// What is wrong in a file stays named as long as it is in there, by every call
// that sees all files, and nothing is recorded again for it.
func TestFindingsStand(t *testing.T) {
	ws := testws.New(t)
	ws.Must("forgeplan_new", `{"kind":"prd","title":"Sign in"}`)
	ws.Must("forgeplan_new", `{"kind":"prd","title":"Other"}`)
	const name = "prds/PRD-001-sign-in.md"
	whole := ws.File(name)
	for _, c := range []struct{ old, new, reason string }{
		{"status: draft", "status: drafft", "invalid status"},
		{"depth: standard", "depth: abyss", "invalid depth"},
		{"id: PRD-001", "id: PRD-777", "the id was changed by hand; it stays PRD-001"},
		{"kind: prd", "kind: story", "invalid kind"},
		{"depth: standard", "depth: standard\nvalid_until: soon", "valid_until"},
		{`title: "Sign in"`, `title: ""`, "the title is gone"},
	} {
		put(t, ws, name, strings.Replace(whole, c.old, c.new, 1))
		first := ws.Must("forgeplan_sync", nil)
		if !strings.Contains(fmt.Sprint(first["findings"]), c.reason) {
			t.Errorf("%s: first sync %v", c.new, first["findings"])
		}
		for range 2 {
			again := ws.Must("forgeplan_sync", nil)
			if again["changed"] != false || len(again["findings"].([]any)) != 1 || !strings.Contains(fmt.Sprint(again["findings"]), c.reason) {
				t.Errorf("%s: later sync %v", c.new, again)
			}
			list := ws.Must("forgeplan_list", nil)
			if !strings.Contains(fmt.Sprint(list["warnings"]), c.reason) {
				t.Errorf("%s: list %v", c.new, list["warnings"])
			}
		}
		if rep := ws.Check(); len(rep.Findings) != 1 || !strings.Contains(rep.Findings[0].Reason, c.reason) {
			t.Errorf("%s: verify %v", c.new, rep.Findings)
		}
		put(t, ws, name, whole)
		if mended := ws.Must("forgeplan_sync", nil); len(mended["findings"].([]any)) != 0 {
			t.Errorf("%s: mended, and still %v", c.new, mended["findings"])
		}
	}
	// A status that does not follow is taken as written, and said once.
	edit(t, ws, name, func(s string) string { return strings.Replace(s, "status: draft", "status: superseded", 1) })
	if out := ws.Must("forgeplan_sync", nil); !strings.Contains(fmt.Sprint(out["findings"]), "superseded does not follow draft; taken as written") {
		t.Errorf("illegal step: %v", out)
	}
	if a := ws.Must("forgeplan_get", `{"id":"PRD-001"}`); a["status"] != "superseded" {
		t.Errorf("status %v", a["status"])
	}
}
