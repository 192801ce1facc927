package tools_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"forgeplan/internal/testws"
	"forgeplan/internal/workspace"
	"forgeplan/journal"
)

// Golden journals are what a release wrote: testdata/journals/<version> holds
// the journal, its events one a line, and what it comes to. Today's program has
// to read all of them. They are added, never made anew: -update only makes one
// that is missing.
const journals = "../testdata/journals"

// stored is one event as a line: the value as it is stored, and where.
type stored struct {
	Lane  string `json:"lane"`
	ID    string `json:"id"`
	Value []byte `json:"value"`
	Body  []byte `json:"body,omitempty"`
}

// told is what a golden journal has to come to.
type told struct {
	StateHash string          `json:"state_hash"`
	Changes   uint64          `json:"changes"`
	Calls     uint64          `json:"calls"`
	List      json.RawMessage `json:"list"`
}

func TestGoldenJournals(t *testing.T) {
	if *update {
		makeJournal(t, filepath.Join(journals, "v0.1.0"))
	}
	dirs, err := filepath.Glob(filepath.Join(journals, "v*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no golden journals: %v", err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			ws := testws.Bare(t)
			base := filepath.Join(ws.Dir, workspace.Folder)
			if err := os.Mkdir(base, 0o755); err != nil {
				t.Fatal(err)
			}
			gunzip(t, filepath.Join(dir, "journal.db.gz"), filepath.Join(base, "journal.db"))
			if got, want := lines(t, base), readLines(t, filepath.Join(dir, "events.jsonl")); !bytes.Equal(got, want) {
				t.Errorf("the events are not what was written:\n%s", got)
			}
			var want told
			raw, err := os.ReadFile(filepath.Join(dir, "state.json"))
			if err == nil {
				err = json.Unmarshal(raw, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			rep := ws.Replay()
			if got := hex.EncodeToString(rep.StateHash[:]); got != want.StateHash || rep.Changes != want.Changes || rep.Calls != want.Calls || rep.Newer != 0 {
				t.Errorf("state %s, %d changes, %d calls; want %+v", got, rep.Changes, rep.Calls, want)
			}
			var list bytes.Buffer
			if err := json.Compact(&list, want.List); err != nil {
				t.Fatal(err)
			}
			if got := listed(t, ws); !bytes.Equal(got, list.Bytes()) {
				t.Errorf("list %s\nwant %s", got, want.List)
			}
			ws.Check()
			ws.Must("forgeplan_undo_last", `{"within_hours":720}`)
			ws.Check()
		})
	}
}

func listed(t *testing.T, ws *testws.WS) []byte {
	t.Helper()
	human := ws.Caller
	human.Face = "cli"
	var out struct {
		Artifacts json.RawMessage `json:"artifacts"`
	}
	if err := json.Unmarshal(ws.Reg.Call(context.Background(), human, "forgeplan_list", json.RawMessage(`{"detail":true}`)).Body, &out); err != nil {
		t.Fatal(err)
	}
	return out.Artifacts
}

// makeJournal writes a golden journal that has every event of the day in it.
func makeJournal(t *testing.T, dir string) {
	if _, err := os.Stat(dir); err == nil {
		return
	}
	ws := testws.Bare(t)
	for _, c := range [][2]string{
		{"forgeplan_init", `{}`}, {"forgeplan_new", `{"kind":"epic","title":"Everything"}`}, {"forgeplan_new", `{"kind":"prd","title":"Вход 🔑","parent_epic":"EPIC-001","tags":["a=b"]}`},
		{"forgeplan_new", `{"kind":"evidence","title":"Measured","body":"verdict: supports\r\n","idempotency_key":"k"}`}, {"forgeplan_link", `{"source":"EVID-001","target":"PRD-001"}`},
		{"forgeplan_link", `{"source":"PRD-001","target":"EPIC-001","relation":"refines"}`}, {"forgeplan_unlink", `{"source":"PRD-001","target":"EPIC-001","relation":"refines"}`},
		{"forgeplan_update", `{"id":"PRD-001","title":"Sign-in","body":"# Text\n","depth":"deep","author":"vera","valid_until":"2026-01-01","tags":["c"]}`},
		{"forgeplan_activate", `{"id":"PRD-001","force":true}`}, {"forgeplan_renew", `{"id":"PRD-001","until":"2030-01-01","reason":"still true"}`},
		{"forgeplan_reopen", `{"id":"PRD-001","reason":"more"}`}, {"forgeplan_activate", `{"id":"PRD-002","force":true}`}, {"forgeplan_new", `{"kind":"prd","title":"Next"}`},
		{"forgeplan_supersede", `{"id":"PRD-002","by":"PRD-003"}`}, {"forgeplan_undo_last", `{}`}, {"forgeplan_redo", `{}`}, {"forgeplan_restore", `{"id":"PRD-002"}`},
		{"forgeplan_deprecate", `{"id":"PRD-002","reason":"old"}`}, {"forgeplan_delete", `{"id":"EVID-001"}`}, {"forgeplan_renumber", `{"id":"PRD-003"}`}, {"forgeplan_get", `{"id":"PRD-404"}`},
	} {
		if r := ws.Call(c[0], c[1]); r.Failure != nil && c[1] != `{"id":"PRD-404"}` {
			t.Fatalf("%v: %s", c, r.Body)
		}
	}
	edit(t, ws, "epics/EPIC-001-everything.md", func(s string) string {
		return strings.Replace(strings.Replace(s, "status: draft", "status: active", 1), "kind: epic", "kind: epic\nx: 1", 1)
	})
	ws.Must("forgeplan_sync", `{}`)
	ws.Clock.Set(testws.Start.Add(-1))
	ws.Must("forgeplan_list", nil)
	rep := ws.Check()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(ws.Dir, workspace.Folder)
	raw, err := os.ReadFile(filepath.Join(base, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(raw); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	state, err := json.MarshalIndent(told{StateHash: hex.EncodeToString(rep.StateHash[:]), Changes: rep.Changes, Calls: rep.Calls, List: listed(t, ws)}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"journal.db.gz": packed.Bytes(), "events.jsonl": lines(t, base), "state.json": append(state, '\n')} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// lines are the events of a journal, one a line.
func lines(t *testing.T, base string) []byte {
	t.Helper()
	j, err := journal.Open(filepath.Join(base, "journal.db"), journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	if err := j.View(func(tx *journal.Tx) error {
		for r, err := range tx.All(zeroID, zeroID) {
			if err != nil {
				return err
			}
			body, _ := tx.Body(r.ID)
			if err := enc.Encode(stored{Lane: r.Lane.String(), ID: r.ID.String(), Value: r.Stored, Body: body}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func readLines(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for sc := bufio.NewScanner(bytes.NewReader(data)); sc.Scan(); {
		var s stored
		if err := json.Unmarshal(sc.Bytes(), &s); err != nil {
			t.Fatalf("%v in %s", err, base64.StdEncoding.EncodeToString(sc.Bytes()))
		}
	}
	return data
}

func gunzip(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
