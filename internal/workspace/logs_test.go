package workspace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"forgeplan/internal/testws"
	"forgeplan/internal/workspace"
)

const firstDay = "logs/tools-2026-04-26.jsonl"

// logged is a workspace with three recorded calls.
func logged(t *testing.T) *testws.WS {
	t.Helper()
	ws := testws.New(t)
	ws.Must("forgeplan_new", `{"kind":"prd","title":"First"}`)
	ws.Must("forgeplan_list", nil)
	return ws
}

func logPath(ws *testws.WS, name string) string {
	return filepath.Join(ws.Dir, workspace.Folder, filepath.FromSlash(name))
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// journaled are the calls of the journal, in its order.
func journaled(t *testing.T, ws *testws.WS) (calls []string) {
	t.Helper()
	human := ws.Caller
	human.Face = "cli" // the question itself is not recorded, and writes no line
	r := ws.Reg.Call(context.Background(), human, "forgeplan_activity", json.RawMessage(`{"detail":true,"since_hours":720,"limit":5000}`))
	var out struct{ Entries []struct{ Call string } }
	if err := json.Unmarshal(r.Body, &out); err != nil || r.Failure != nil {
		t.Fatalf("activity: %s (%v)", r.Body, err)
	}
	for _, e := range out.Entries {
		calls = append(calls, e.Call)
	}
	return calls
}

// lines are the calls that a log tells, and how many of its lines tell none.
func lines(t *testing.T, ws *testws.WS, name string) (calls []string, others int) {
	t.Helper()
	text := ws.File(name)
	if text != "" && !strings.HasSuffix(text, "\n") {
		t.Errorf("%s ends in the middle of a line: %q", name, text)
	}
	for line := range strings.Lines(text) {
		var e struct{ Call string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Call != "" {
			calls = append(calls, e.Call)
		} else {
			others++
		}
	}
	return calls, others
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the log tells\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLogTellsEachCallOnce(t *testing.T) {
	ws := logged(t)
	got, _ := lines(t, ws, firstDay)
	if same(t, got, journaled(t, ws)); len(got) != 3 {
		t.Errorf("%d lines, want 3", len(got))
	}
	for name, want := range map[string]os.FileMode{"logs": 0o700, firstDay: 0o600} {
		if fi, err := os.Stat(logPath(ws, name)); err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: %v (%v), want %v", name, fi.Mode(), err, want)
		}
	}
}

// A line that a power cut tore is ended, and its call told anew.
func TestTornLogLine(t *testing.T) {
	for name, tear := range map[string]func(text string) string{
		"our last":            func(text string) string { return text[:len(text)-10] },
		"our last, its end":   func(text string) string { return text[:len(text)-1] },
		"begun":               func(text string) string { return text + `{"ts":"20` },
		"foreign without end": func(text string) string { return text + "a note" },
	} {
		t.Run(name, func(t *testing.T) {
			ws := logged(t)
			put(t, logPath(ws, firstDay), tear(ws.File(firstDay)))
			ws.Must("forgeplan_list", nil)
			ws.Must("forgeplan_list", nil)
			got, others := lines(t, ws, firstDay)
			want := journaled(t, ws)
			same(t, got, want)
			torn := 1
			if name == "our last, its end" { // that one is whole
				torn = 0
			}
			if others != torn {
				t.Errorf("%d other lines, want %d", others, torn)
			}
			ws.Replay()
			again := ws.File(firstDay)
			if rep := ws.Replay(); rep.LogLines != 0 || ws.File(firstDay) != again {
				t.Errorf("a second replay wrote %d lines", rep.LogLines)
			}
			got, _ = lines(t, ws, firstDay)
			for _, call := range want {
				if !strings.Contains(strings.Join(got, " "), call) {
					t.Errorf("replay left out %s", call)
				}
			}
		})
	}
}

// Who deletes the logs wants them gone: a call does not bring them back, a
// replay does, to the byte.
func TestDeletedLogs(t *testing.T) {
	ws := logged(t)
	for range 5 {
		ws.Must("forgeplan_list", nil)
	}
	before := ws.File(firstDay)
	if err := os.RemoveAll(logPath(ws, "logs")); err != nil {
		t.Fatal(err)
	}
	ws.Must("forgeplan_list", nil)
	all := journaled(t, ws)
	got, _ := lines(t, ws, firstDay)
	// The line before the newest may come back: that it was written is noted by
	// the next commit only.
	if len(got) < 1 || len(got) > 2 || got[len(got)-1] != all[len(all)-1] {
		t.Errorf("after the next call the log tells %v of %d calls", got, len(all))
	}
	newest := ws.File(firstDay)
	if rep := ws.Replay(); rep.LogLines != len(all)-len(got) {
		t.Errorf("replay reports %d lines, want %d", rep.LogLines, len(all)-len(got))
	}
	if text := ws.File(firstDay); !strings.HasPrefix(text, before) || !strings.HasSuffix(text, newest) {
		t.Errorf("replay wrote\n%s\nwant at first\n%s", text, before)
	}
	got, _ = lines(t, ws, firstDay)
	same(t, got, all)
	if rep := ws.Replay(); rep.LogLines != 0 {
		t.Errorf("a second replay wrote %d lines", rep.LogLines)
	}
}

// Lines of others stay where they are, and make nobody lose or repeat one.
func TestForeignLogLines(t *testing.T) {
	const note = "# a note of mine\n"
	for name, foreign := range map[string]string{
		"one": note, "without its end": strings.TrimSuffix(note, "\n"), "another program's": `{"tool":"forgeplan_list","status":"ok"}` + "\n",
		"many": strings.Repeat(note, 20_000), // more than is read of the end at first
	} {
		t.Run(name, func(t *testing.T) {
			ws := logged(t)
			before := ws.File(firstDay)
			put(t, logPath(ws, firstDay), note+before+foreign)
			ws.Must("forgeplan_list", nil)
			ws.Must("forgeplan_list", nil)
			all := journaled(t, ws)
			got, _ := lines(t, ws, firstDay)
			same(t, got, all)
			if !strings.HasPrefix(ws.File(firstDay), note+before+foreign) {
				t.Error("lines of others were touched")
			}
			text := ws.File(firstDay)
			if rep := ws.Replay(); rep.LogLines != 0 || ws.File(firstDay) != text {
				t.Errorf("replay wrote %d lines beside those of others", rep.LogLines)
			}
			put(t, logPath(ws, firstDay), strings.TrimSuffix(text, "\n"))
			if rep := ws.Replay(); rep.LogLines != 0 {
				t.Errorf("replay wrote %d lines for one that lacks but its end", rep.LogLines)
			}
			// One of ours is missing: it is appended, nothing else is touched.
			first, rest, _ := strings.Cut(before, "\n")
			put(t, logPath(ws, firstDay), strings.Replace(text, first+"\n", "", 1))
			if rep := ws.Replay(); rep.LogLines != 1 {
				t.Errorf("replay wrote %d lines, want the missing one", rep.LogLines)
			}
			if text = ws.File(firstDay); !strings.HasPrefix(text, note+rest) || !strings.HasSuffix(text, "\n"+first+"\n") {
				t.Errorf("after the replay: %.300q…", text)
			}
		})
	}
}

// A call stands in the file of the day it started on.
func TestLogDays(t *testing.T) {
	ws := logged(t)
	ws.Clock.Set(time.Date(2026, 4, 26, 23, 59, 59, 998_500_000, time.UTC))
	ws.Must("forgeplan_new", `{"kind":"prd","title":"Across midnight"}`) // every look at the clock moves it on by 1 ms
	ws.Must("forgeplan_list", nil)
	ws.Must("forgeplan_list", nil)
	first, _ := lines(t, ws, firstDay)
	second, _ := lines(t, ws, "logs/tools-2026-04-27.jsonl")
	if len(first) != 4 || len(second) != 2 {
		t.Errorf("%d and %d lines, want 4 and 2", len(first), len(second))
	}
	same(t, append(first, second...), journaled(t, ws))
	if rep := ws.Replay(); rep.LogLines != 0 {
		t.Errorf("replay wrote %d lines", rep.LogLines)
	}
}

// A lost journal is told apart from none, and never made anew.
func TestLostJournal(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"removed":   os.Remove,
		"truncated": func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			ws := testws.Bare(t)
			ws.Must("forgeplan_init", nil)
			ws.Must("forgeplan_new", `{"kind":"prd","title":"First"}`)
			if err := lose(logPath(ws, "journal.db")); err != nil {
				t.Fatal(err)
			}
			for _, tool := range []string{"forgeplan_list", "forgeplan_init", "forgeplan_activity"} {
				if r := ws.Call(tool, nil); r.Failure == nil || r.Failure.Class != "corrupt" {
					t.Errorf("%s: %s, want corrupt", tool, r.Body)
				}
			}
			if got := len(ws.File("journal.db")); got != 0 {
				t.Errorf("a journal of %d bytes was made", got)
			}
		})
	}
}
