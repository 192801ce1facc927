package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"forgeplan/internal/event"
	"forgeplan/internal/testws"
	"forgeplan/internal/workspace"
	"forgeplan/journal"
	"forgeplan/tools"

	"github.com/oklog/ulid/v2"
)

// entries are the activity of a workspace, oldest first.
func entries(ws *testws.WS, args string) []map[string]any {
	ws.TB.Helper()
	var out []map[string]any
	for _, e := range ws.Must("forgeplan_activity", args)["entries"].([]any) {
		out = append(out, e.(map[string]any))
	}
	return out
}

// Two people change different fields: both changes stay. Both change the body
// and say which version they read: the second is refused, naming both versions.
func TestTwoEditors(t *testing.T) {
	ws := testws.New(t)
	ws.Must("forgeplan_new", `{"kind":"prd","title":"Shared"}`)
	v := int(ws.Must("forgeplan_get", `{"id":"PRD-001"}`)["version"].(float64))
	ws.Must("forgeplan_update", fmt.Sprintf(`{"id":"PRD-001","title":"Shared, renamed","if_version":%d}`, v))
	out := ws.Must("forgeplan_update", fmt.Sprintf(`{"id":"PRD-001","depth":"deep","if_version":%d}`, v))
	if w := fmt.Sprint(out["warnings"]); !strings.Contains(w, "title") {
		t.Errorf("no warning of the other change: %s", w)
	}
	a := ws.Must("forgeplan_get", `{"id":"PRD-001"}`)
	if a["title"] != "Shared, renamed" || a["depth"] != "deep" {
		t.Errorf("a change is lost: %v", a)
	}
	first := ws.Must("forgeplan_update", fmt.Sprintf(`{"id":"PRD-001","body":"text from A","if_version":%d}`, v))
	if b := first["body"].(map[string]any); b["bytes"] != 11.0 || b["bytes_before"] == 0.0 || b["replaced"] == "" {
		t.Errorf("the reply does not say what was replaced: %v", b)
	}
	r := ws.Call("forgeplan_update", fmt.Sprintf(`{"id":"PRD-001","body":"text from B","if_version":%d}`, v))
	if r.Failure == nil || r.Failure.Class != tools.ClassConflict {
		t.Fatalf("second writer: %s", r.Body)
	}
	if !strings.Contains(r.Failure.Msg, fmt.Sprintf("version %d ", v)) && !strings.Contains(r.Failure.Msg, fmt.Sprintf("version %d that", v)) {
		t.Errorf("the refusal does not name both versions: %s", r.Failure.Msg)
	}
	a = ws.Must("forgeplan_get", `{"id":"PRD-001"}`)
	if a["body"] != "text from A" || !strings.HasSuffix(ws.File(a["path"].(string)), "text from A") {
		t.Errorf("body %q, file %q", a["body"], ws.File(a["path"].(string)))
	}
}

// A retry with the same key is answered from the first call, also by another
// process; other arguments are a conflict; a dry run binds nothing.
func TestIdempotencyKey(t *testing.T) {
	ws := testws.New(t)
	args := `{"kind":"prd","title":"Once","idempotency_key":"k-1"}`
	ws.Must("forgeplan_new", `{"kind":"prd","title":"Once","idempotency_key":"k-1","dry_run":true}`)
	first := ws.Must("forgeplan_new", args)
	before := ws.Check().Changes
	again := ws.Must("forgeplan_new", args)
	other, err := tools.New(ws.NewEnv(2), tools.All())
	if err != nil {
		t.Fatal(err)
	}
	third := testws.Object(t, other.Call(context.Background(), ws.Caller, "forgeplan_new", json.RawMessage(`{"title":"Once","idempotency_key":"k-1","kind":"prd"}`)).Body)
	for _, m := range []map[string]any{again, third} {
		if m["replayed"] != true || m["id"] != first["id"] || m["call"] != first["call"] || m["uid"] != first["uid"] {
			t.Errorf("replay %v, first %v", m, first)
		}
	}
	if r := ws.Call("forgeplan_new", `{"kind":"prd","title":"Other","idempotency_key":"k-1"}`); r.Failure == nil || r.Failure.Class != tools.ClassConflict {
		t.Errorf("other arguments: %s", r.Body)
	}
	if ws.Check().Changes != before {
		t.Error("a replay added to changes")
	}
	if n := ws.Must("forgeplan_list", nil)["count"]; n != 1.0 {
		t.Errorf("%v artifacts", n)
	}
	dry := ws.Must("forgeplan_new", `{"kind":"prd","title":"Once","idempotency_key":"k-1","dry_run":true}`)
	if w := fmt.Sprint(dry["warnings"]); !strings.Contains(w, first["call"].(string)) || dry["replayed"] != nil {
		t.Errorf("dry run of a bound key: %v", dry)
	}
	effects := map[string]int{}
	for _, e := range entries(ws, `{"tool":"forgeplan_new"}`) {
		effects[e["effect"].(string)]++
	}
	if fmt.Sprint(effects) != "map[changed:1 dry_run:2 none:1 replayed:2]" {
		t.Errorf("effects %v", effects)
	}
}

// Every call leaves exactly one entry, with its class and digest; the query
// does not list itself.
func TestEveryCallIsRecorded(t *testing.T) {
	ws := testws.New(t)
	ws.Clock.Set(testws.Start.Add(2 * time.Hour))
	ws.Call("forgeplan_list", `{}`)
	ws.Call("forgeplan_activity", `{"since_hours":"abc"}`)
	ws.Call("forgeplan_list", `{"colour":"red"}`)
	ws.Call("forgeplan_get", `{}`)
	ws.Call("forgeplan_nope", `{}`)
	ws.Call("forgeplan_get", `{"id":"PRD-404"}`)
	ws.Reg.Protocol(context.Background(), ws.Caller, "", []byte(`[]`), "params must be an object")
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	ws.Reg.Call(cancelled, ws.Caller, "forgeplan_new", json.RawMessage(`{"kind":"note","title":"Gone"}`))
	var got []string
	for _, e := range entries(ws, `{"since_hours":1}`) {
		class, _ := e["error_class"].(string)
		if len(e["args_digest"].(string)) != 12 {
			t.Errorf("digest %v", e["args_digest"])
		}
		got = append(got, strings.TrimSpace(fmt.Sprint(e["status"], " ", class)))
	}
	want := "ok|tool_err invalid_input|tool_err invalid_input|tool_err invalid_input|rpc_err protocol|tool_err not_found|rpc_err protocol|tool_err canceled"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
	if n := ws.Must("forgeplan_list", nil)["count"]; n != 0.0 {
		t.Error("the cancelled call had an effect")
	}
}

// Secrets in arguments reach no log, no activity and no error in full.
func TestSecretsStayOut(t *testing.T) {
	const secret = "tok-TEST-0123456789abcdef"
	ws := testws.New(t)
	ws.Must("forgeplan_new", `{"kind":"note","title":"key `+secret+`"}`)
	for _, c := range [][2]string{{"forgeplan_list", `{"api_key":"` + secret + `"}`}, {"forgeplan_get", `{"id":"` + secret + `"}`},
		{"forgeplan_get", `{"id":"PRD-1","` + secret + `":1}`}, {"forgeplan_list", `{"kind":"` + secret + `"}`}, {"forgeplan_list", `{"cursor":"` + secret + `"}`},
		{"forgeplan_activity", `{"since":"` + secret + `"}`}, {"forgeplan_link", `{"source":"` + secret + `","target":"` + secret + `"}`}} {
		if r := ws.Call(c[0], c[1]); r.Failure == nil || strings.Contains(string(r.Body), secret) && !strings.Contains(c[1], `"`+secret+`":1`) {
			t.Errorf("%v: %s", c, r.Body)
		}
	}
	if body := ws.Call("forgeplan_activity", `{}`).Body; strings.Contains(string(body), secret) {
		t.Errorf("activity: %s", body)
	}
	ws.Must("forgeplan_list", nil)
	logs := filepath.Join(ws.Dir, workspace.Folder, "logs")
	err := filepath.WalkDir(logs, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		} else if data, _ := os.ReadFile(path); strings.Contains(string(data), `"api_key"`) && strings.Contains(string(data), secret+`":1`) {
			t.Errorf("%s holds the secret", d.Name())
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", d.Name(), info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Titles are never a template, a pattern or a type: they come back as given
// from list, get and the file.
func TestTitlesStay(t *testing.T) {
	ws := testws.New(t)
	for i, title := range []string{
		"Budget $15,000 to $1", "R&D | ops & more", `back\1slash \n stays`, "100% of %s and %d", "{{title}} {placeholder} TITLE NUMBER",
		"a #hash and a  double space", "~", "null", "- dash first", `quote " and ' both`, "Привет 🚀 café 𝒳 日本", "007", "2026-04-26", "no", "1.10",
		"Console transcript: skip rows that don't move", "[WIP] x", "*star", "`tick`", "@owner fix", "trailing space ", "a\u00a0b", "é", "e\u0301",
	} {
		made := ws.Must("forgeplan_new", map[string]any{"kind": "note", "title": title})
		if made["title"] != title || made["id"] != fmt.Sprintf("NOTE-%03d", i+1) {
			t.Errorf("new %q: %v", title, made)
		}
		got := ws.Must("forgeplan_get", map[string]any{"id": made["id"]})
		file := ws.File(got["path"].(string))
		if got["title"] != title || !strings.Contains(file, "\ntitle: "+quoted(title)+"\n") || strings.HasPrefix(file, "\ufeff") {
			t.Errorf("get %q: %q, file %q", title, got["title"], file)
		}
	}
	for _, bad := range []string{"", " ", "\u200b", "a\nb", "a\x1b[31mb", "a\u202eb", strings.Repeat("x", 501)} {
		if r := ws.Call("forgeplan_new", map[string]any{"kind": "note", "title": bad}); r.Failure == nil || r.Failure.Class != tools.ClassInvalidInput {
			t.Errorf("title %q: %s", bad, r.Body)
		}
	}
}

// File names begin with the id, are legal everywhere, at most 100 bytes, and
// stay in their folder.
func TestFileNames(t *testing.T) {
	ws := testws.New(t)
	legal := regexp.MustCompile(`^NOTE-[0-9]+(-[^:?*"<>|\\/\x00-\x1f]+)?\.md$`)
	names := map[string]string{}
	for _, title := range []string{"Chapter 1: Intro", "Why? *now* <soon>", `a/b\c|d`, "aux", "CON", "nul.txt", "trailing dot.", "trailing space ", "..",
		"../../etc/passwd", strings.Repeat("x", 300), strings.Repeat("ы", 200), "Проверка гипотезы", "Проверка гипотез", "日本語ドキュメント", "인증 아키텍처", "🚀🚀", "!!!",
		"Ёлка й ы", "mixed Смесь title"} {
		made := ws.Must("forgeplan_new", map[string]any{"kind": "note", "title": title})
		dir, name := filepath.Split(made["path"].(string))
		if dir != "notes/" || !legal.MatchString(name) || len(name) > 100 || !utf8.ValidString(name) || strings.HasSuffix(name, "-.md") ||
			strings.HasSuffix(strings.TrimSuffix(name, ".md"), ".") || names[name] != "" {
			t.Errorf("%q → %q", title, made["path"])
		}
		names[name] = title
		if ws.File(made["path"].(string)) == "" {
			t.Errorf("%q: no file", title)
		}
		if made["title"] != title {
			t.Errorf("title %q became %v", title, made["title"])
		}
	}
}

// A list longer than an answer says so, and its cursor walks through all of
// it without gaps or repeats.
func TestLongList(t *testing.T) {
	ws := testws.New(t)
	w, err := ws.Env.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	const total = 1200
	if _, err := w.Update(context.Background(), workspace.Request{Started: ws.Clock.Now()}, func(world *workspace.World) (workspace.Verdict, error) {
		for i := range total {
			if _, err := world.Create(workspace.New{Kind: "note", Title: fmt.Sprintf("%d %s", i, strings.Repeat("длинное имя ", 40)), Body: []byte("x")}); err != nil {
				return workspace.Verdict{}, err
			}
		}
		return workspace.Verdict{Call: event.Call{Tool: "test", Status: "ok", Effect: "changed"}, Keep: true}, nil
	}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	args := map[string]any{}
	for page := 0; ; page++ {
		r := ws.Call("forgeplan_list", args)
		if len(r.Body) > 80_000 {
			t.Fatalf("an answer of %d bytes", len(r.Body))
		}
		out := testws.Object(t, r.Body)
		rows := out["artifacts"].([]any)
		if out["count"] != float64(total) || out["returned"] != float64(len(rows)) {
			t.Fatalf("count %v returned %v rows %d", out["count"], out["returned"], len(rows))
		}
		for _, row := range rows {
			id := row.(map[string]any)["id"].(string)
			if seen[id] {
				t.Fatalf("%s twice", id)
			}
			seen[id] = true
		}
		if page == 0 && rows[0].(map[string]any)["id"] != fmt.Sprintf("NOTE-%d", total) {
			t.Errorf("first row %v", rows[0])
		}
		if out["truncated"] != true {
			break
		}
		args["cursor"] = out["next_cursor"]
	}
	if len(seen) != total {
		t.Errorf("%d of %d rows", len(seen), total)
	}
	exact := ws.Must("forgeplan_list", `{"limit":1000}`)
	if exact["returned"] != 1000.0 || exact["truncated"] != true {
		t.Errorf("limit 1000: %v of %v", exact["returned"], exact["count"])
	}
	human := ws.Caller
	human.Face = "cli"
	all := testws.Object(t, ws.Reg.Call(context.Background(), human, "forgeplan_list", nil).Body)
	if all["returned"] != float64(total) || all["truncated"] != false || all["next_cursor"] != nil {
		t.Errorf("command line: %v of %v", all["returned"], all["count"])
	}
}

// The clock steps back an hour and jumps years ahead: order follows the
// journal, the step is noted once, and nothing is hidden.
func TestHostileClock(t *testing.T) {
	ws := testws.New(t)
	ws.Clock.Set(testws.Start.Add(5 * 365 * 24 * time.Hour))
	ws.Must("forgeplan_new", `{"kind":"note","title":"From the future"}`)
	ws.Clock.Set(testws.Start.Add(time.Minute))
	ws.Must("forgeplan_new", `{"kind":"note","title":"Back"}`)
	ws.Must("forgeplan_new", `{"kind":"note","title":"Later"}`)
	out := ws.Must("forgeplan_activity", `{"since_hours":1,"tool":"forgeplan_new"}`)
	list := out["entries"].([]any)
	if len(list) != 3 || !strings.HasPrefix(list[0].(map[string]any)["ts"].(string), "2031-") {
		t.Errorf("entries %v", list)
	}
	if w := fmt.Sprint(out["warnings"]); !strings.Contains(w, "clock skew") {
		t.Errorf("warnings %v", w)
	}
	j, err := journal.Open(filepath.Join(ws.Dir, workspace.Folder, "journal.db"), journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	steps := 0
	if err := j.View(func(tx *journal.Tx) error {
		for r, err := range tx.All(zeroID, zeroID) {
			if err != nil {
				return err
			}
			if r.Type == "journal.clock_stepped" {
				steps++
				if r.Lane != journal.Changes {
					t.Errorf("noted in lane %v, the call's is changes", r.Lane)
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if steps != 1 {
		t.Errorf("%d notes of one step", steps)
	}
}

// An event of a newer program: its subject is readable, not writable; the rest
// goes on; its bytes stay.
func TestNewerEvent(t *testing.T) {
	ws := testws.New(t)
	made := ws.Must("forgeplan_new", `{"kind":"prd","title":"Sealed"}`)
	ws.Must("forgeplan_new", `{"kind":"prd","title":"Free"}`)
	uid := parseULID(t, made["uid"].(string))
	payload := []byte{0x81, 0xa4, 's', 'e', 'a', 'l', 0xa1, 'x'}
	j, err := journal.Open(filepath.Join(ws.Dir, workspace.Folder, "journal.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Update(func(tx *journal.Tx) error {
		id, err := tx.Next(ws.Clock.Now(), ws.Env.Entropy)
		if err != nil {
			return err
		}
		return tx.Append(journal.Changes, journal.Draft{ID: id, Type: "artifact.sealed", Version: 99, Wall: ws.Clock.Now().UnixNano(), Run: id, Subject: uid, Payload: payload})
	}); err != nil {
		t.Fatal(err)
	}
	j.Close()
	list := ws.Must("forgeplan_list", nil)
	if list["count"] != 2.0 || !strings.Contains(fmt.Sprint(list["warnings"]), "1 newer event") {
		t.Errorf("list %v", list)
	}
	if r := ws.Call("forgeplan_update", `{"id":"PRD-001","depth":"deep"}`); r.Failure == nil || r.Failure.Class != tools.ClassNewer {
		t.Errorf("update of the sealed one: %s", r.Body)
	}
	ws.Must("forgeplan_update", `{"id":"PRD-002","depth":"deep"}`)
	if rep := ws.Replay(); rep.Newer != 1 {
		t.Errorf("replay counts %d newer events", rep.Newer)
	}
}

// Only artifacts and settings are git's business.
func TestGitSeesArtifactsOnly(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	ws := testws.New(t)
	for i := range 10 {
		ws.Must("forgeplan_new", map[string]any{"kind": "note", "title": fmt.Sprint("n", i)})
	}
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = ws.Dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	for _, line := range strings.Split(strings.TrimSpace(git("status", "--porcelain", "-uall")), "\n") {
		name := strings.TrimPrefix(line, "?? .forgeplan/")
		if !strings.HasSuffix(name, ".md") && name != ".gitignore" && name != "config.yaml" {
			t.Errorf("git sees %q", line)
		}
	}
}

// Without a workspace every tool names init, nothing is made, and the calls
// are recorded once init has made one.
func TestBeforeInit(t *testing.T) {
	ws := testws.Bare(t)
	for _, tool := range tools.All() {
		if tool.Name == "forgeplan_init" {
			continue
		}
		r := ws.Call(tool.Name, orEmpty(tool.Example))
		out := testws.Object(t, r.Body)
		if r.Failure == nil || out["recorded"] != false || !strings.Contains(out["_next_action"].(string), "forgeplan_init") {
			t.Errorf("%s: %s", tool.Name, r.Body)
		}
	}
	if _, err := os.Stat(filepath.Join(ws.Dir, workspace.Folder)); !os.IsNotExist(err) {
		t.Fatal("a call made a workspace")
	}
	ws.Must("forgeplan_init", nil)
	defer ws.Check()
	if got, want := len(entries(ws, `{}`)), len(tools.All()); got != want {
		t.Errorf("%d calls recorded, want %d", got, want)
	}
}

func orEmpty(s string) string {
	if s == "" {
		return "{}"
	}
	return s
}

// init again changes nothing and says so, also with flags that elsewhere erase.
func TestInitAgain(t *testing.T) {
	ws := testws.New(t)
	ws.Must("forgeplan_new", `{"kind":"prd","title":"Precious"}`)
	before := ws.Check()
	human := ws.Caller
	human.Face = "cli"
	for _, args := range []string{`{}`, `{"yes":"true"}`, `{"force":"true","yes":"true"}`} {
		out := testws.Object(t, ws.Reg.Call(context.Background(), human, "forgeplan_init", json.RawMessage(args)).Body)
		if out["changed"] != false || strings.Contains(fmt.Sprint(out), "force") {
			t.Errorf("init %s: %v", args, out)
		}
	}
	if after := ws.Check(); after.StateHash != before.StateHash || after.Changes != before.Changes {
		t.Error("init changed something")
	}
}

// A journal that is gone or empty is never an empty workspace.
func TestLostJournal(t *testing.T) {
	for _, how := range []string{"removed", "emptied"} {
		ws := testws.Bare(t)
		ws.Must("forgeplan_init", nil)
		ws.Must("forgeplan_new", `{"kind":"prd","title":"Keep me"}`)
		path := filepath.Join(ws.Dir, workspace.Folder, "journal.db")
		if how == "removed" {
			os.Remove(path)
		} else {
			os.Truncate(path, 0)
		}
		for _, name := range []string{"forgeplan_list", "forgeplan_init"} {
			r := ws.Call(name, nil)
			if r.Failure == nil || r.Failure.Class != tools.ClassCorrupt || !strings.Contains(r.Failure.Msg, "journal lost") {
				t.Errorf("%s, %s: %s", how, name, r.Body)
			}
		}
		if ws.File("prds/PRD-001-keep-me.md") == "" {
			t.Error("the file is gone")
		}
		if fi, err := os.Stat(path); err == nil && fi.Size() > 0 {
			t.Error("a journal was made")
		}
	}
}

var zeroID ulid.ULID

func parseULID(t *testing.T, s string) ulid.ULID {
	t.Helper()
	id, err := ulid.ParseStrict(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
