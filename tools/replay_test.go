package tools_test

import (
	"crypto/sha256"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"forgeplan/internal/testws"
	"forgeplan/internal/workspace"
)

// tree hashes the files of the workspace folder that pass.
func tree(t *testing.T, ws *testws.WS, pass func(path string) bool) map[string][32]byte {
	t.Helper()
	out := map[string][32]byte{}
	root := filepath.Join(ws.Dir, workspace.Folder)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !pass(path) {
			return err
		}
		data, err := os.ReadFile(path)
		out[path] = sha256.Sum256(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestReplayRestores: every Markdown file, log line and cache is deleted; a
// replay brings them back byte for byte, and nine more change nothing, not
// even the journal file.
func TestReplayRestores(t *testing.T) {
	ws := testws.New(t)
	seedWorkspace(ws)
	ws.Must("forgeplan_link", `{"source":"RFC-001","target":"PRD-001","relation":"based_on"}`)
	ws.Must("forgeplan_update", `{"id":"PRD-001","title":"Renamed","body":"text\r\nno end"}`)
	written := func(path string) bool { return filepath.Ext(path) == ".md" || filepath.Ext(path) == ".jsonl" }
	ws.Must("forgeplan_list", nil) // brings the log up to date
	want := tree(t, ws, written)
	for path := range want {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(ws.Dir, workspace.Folder, "cache")); err != nil {
		t.Fatal(err)
	}
	ws.Replay()
	got := tree(t, ws, written)
	for path, hash := range want {
		if got[path] != hash {
			t.Errorf("%s is not what it was", filepath.Base(path))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	all := tree(t, ws, func(path string) bool { return filepath.Base(path) != "lock" })
	for range 9 {
		if rep := ws.Replay(); rep.Written != 0 || rep.LogLines != 0 {
			t.Errorf("a later replay wrote %d files and %d lines", rep.Written, rep.LogLines)
		}
	}
	for path, hash := range tree(t, ws, func(path string) bool { return filepath.Base(path) != "lock" }) {
		if all[path] != hash {
			t.Errorf("%s changed in a later replay", filepath.Base(path))
		}
	}
}

// TestReadsLeaveChangesAlone: reads and failures append to `calls` alone, a
// dry run leaves `changes`, tables and files as they were.
func TestReadsLeaveChangesAlone(t *testing.T) {
	ws := testws.New(t)
	ws.Must("forgeplan_new", `{"kind":"prd","title":"One"}`)
	before := ws.Check()
	files := tree(t, ws, func(path string) bool { return filepath.Ext(path) == ".md" })
	ws.Must("forgeplan_list", nil)
	ws.Call("forgeplan_get", `{"id":"PRD-404"}`)
	real := `{"kind":"note","title":"Dry","idempotency_key":"k"}`
	dry := ws.Must("forgeplan_new", `{"kind":"note","title":"Dry","idempotency_key":"k","dry_run":true}`)
	after := ws.Check()
	if after.Changes != before.Changes || after.StateHash != before.StateHash || after.Calls != before.Calls+3 {
		t.Errorf("before %+v, after %+v", before, after)
	}
	for path, hash := range tree(t, ws, func(path string) bool { return filepath.Ext(path) == ".md" }) {
		if files[path] != hash {
			t.Errorf("%s changed", path)
		}
	}
	done := ws.Must("forgeplan_new", real)
	for _, m := range []map[string]any{dry, done} {
		delete(m, "call")
		delete(m, "uid")
		delete(m, "dry_run")
		delete(m, "_next_action")
	}
	if a, b := quoted(string(mustJSON(t, dry))), quoted(string(mustJSON(t, done))); a != b {
		t.Errorf("dry run %s, real %s", a, b)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
