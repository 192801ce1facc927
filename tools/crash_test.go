//go:build unix

package tools_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"forgeplan/internal/fault"
	"forgeplan/internal/testws"
	"forgeplan/internal/workspace"
	"forgeplan/tools"
)

// The crash sweep starts this test binary as a child that kills itself with
// SIGKILL at the k-th fault point, for k = 1, 2, 3 … until a child survives.
// It proves the order of our writes, not the disk.

const childEnv = "FORGEPLAN_TEST_CHILD"

// child is what one child does: calls in a folder, and where to die.
type child struct {
	Dir    string
	Calls  []childCall
	KillAt int // fault point, counted from 1; 0 = never
}

type childCall struct {
	Tool string
	Args json.RawMessage
}

func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		runChild(spec)
		return
	}
	if spec := os.Getenv(workerEnv); spec != "" {
		runWorker(spec)
		return
	}
	os.Exit(m.Run())
}

func runChild(spec string) {
	var c child
	if err := json.Unmarshal([]byte(spec), &c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	env := &workspace.Env{Start: c.Dir, Program: "test", Command: "crash child"}
	reg, err := tools.New(env, tools.All())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	n := 0
	fault.Hook = func(string) {
		if n++; n == c.KillAt {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // never goes on: the signal is on its way
		}
	}
	caller := tools.Caller{Face: "mcp", Actor: "child", ActorKind: "agent"}
	for _, call := range c.Calls {
		r := reg.Call(context.Background(), caller, call.Tool, call.Args)
		fmt.Printf("%s\n", r.Body) // the answer: from here on it is promised
	}
	fmt.Println("END")
}

// runs starts a child and returns the answers that came out of it, and whether
// it reached its end.
func (c child) runs(t *testing.T) (answers []map[string]any, ended bool) {
	t.Helper()
	spec, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=NONE")
	cmd.Env = append(os.Environ(), childEnv+"="+string(spec))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if ee, ok := err.(*exec.ExitError); err != nil && (!ok || !killed(ee)) {
		t.Fatalf("child: %v", err)
	}
	sc := bufio.NewScanner(strings.NewReader(string(out)))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if sc.Text() == "END" {
			return answers, true
		}
		answers = append(answers, testws.Object(t, sc.Bytes()))
	}
	return answers, false
}

func killed(e *exec.ExitError) bool {
	st, ok := e.Sys().(syscall.WaitStatus)
	return ok && st.Signaled() && st.Signal() == syscall.SIGKILL
}

func TestCrashSweep(t *testing.T) {
	cases := []struct {
		name string
		call childCall
		// done reports whether the call's effect is there, whole; it fails the
		// test if it is there in part.
		done func(t *testing.T, ws *testws.WS) bool
	}{
		{"init", childCall{"forgeplan_init", nil}, nil},
		{"new", childCall{"forgeplan_new", json.RawMessage(`{"kind":"prd","title":"Third"}`)}, func(t *testing.T, ws *testws.WS) bool {
			r := ws.Call("forgeplan_get", `{"id":"PRD-003"}`)
			return r.Failure == nil
		}},
		{"update body", childCall{"forgeplan_update", json.RawMessage(`{"id":"PRD-001","body":"new text\n","depth":"deep"}`)}, func(t *testing.T, ws *testws.WS) bool {
			a := ws.Must("forgeplan_get", `{"id":"PRD-001"}`)
			body, depth := a["body"] == "new text\n", a["depth"] == "deep"
			if body != depth {
				t.Errorf("half an update: body %v, depth %v", a["body"], a["depth"])
			}
			return body
		}},
		{"retitle", childCall{"forgeplan_update", json.RawMessage(`{"id":"PRD-001","title":"Renamed"}`)}, func(t *testing.T, ws *testws.WS) bool {
			return ws.Must("forgeplan_get", `{"id":"PRD-001"}`)["title"] == "Renamed"
		}},
		{"link", childCall{"forgeplan_link", json.RawMessage(`{"source":"PRD-001","target":"PRD-002"}`)}, func(t *testing.T, ws *testws.WS) bool {
			out := len(ws.Must("forgeplan_get", `{"id":"PRD-001"}`)["links"].([]any))
			in := len(ws.Must("forgeplan_get", `{"id":"PRD-002"}`)["linked_from"].([]any))
			if out != in {
				t.Errorf("half a link: %d out, %d in", out, in)
			}
			return out == 1
		}},
		{"tag", childCall{"forgeplan_tag", json.RawMessage(`{"id":"PRD-002","tags":["a","b"]}`)}, func(t *testing.T, ws *testws.WS) bool {
			n := len(ws.Must("forgeplan_get", `{"id":"PRD-002"}`)["tags"].([]any))
			if n == 1 {
				t.Error("half the tags")
			}
			return n == 2
		}},
		{"a read", childCall{"forgeplan_list", nil}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for k := 1; ; k++ {
				ws := testws.Bare(t)
				if c.name != "init" {
					ws.Must("forgeplan_init", nil)
					ws.Must("forgeplan_new", `{"kind":"prd","title":"First","body":"one\n"}`)
					ws.Must("forgeplan_new", `{"kind":"prd","title":"Second"}`)
				}
				answers, ended := child{Dir: ws.Dir, Calls: []childCall{c.call}, KillAt: k}.runs(t)
				answered := len(answers) == 1
				if c.name == "init" && !answered {
					if r := ws.Call("forgeplan_init", nil); r.Failure != nil {
						t.Fatalf("killed at point %d: init again: %s", k, r.Body)
					}
				}
				// One command of any kind brings everything up to the journal.
				human := ws.Caller
				human.Face = "cli"
				if r := ws.Reg.Call(context.Background(), human, "forgeplan_list", nil); r.Failure != nil {
					t.Fatalf("killed at point %d: list: %s", k, r.Body)
				}
				filesAsWanted(t, ws, k)
				if c.done != nil {
					if done := c.done(t, ws); answered && !done {
						t.Errorf("killed at point %d: answered but not there", k)
					}
				}
				rep := ws.Check()
				logged(t, ws, k, rep.Changes+rep.Calls > 0)
				if t.Failed() {
					t.Fatalf("killed at point %d of %s", k, c.name)
				}
				if ended {
					if k < 3 {
						t.Fatalf("only %d fault points were met", k-1)
					}
					return
				}
			}
		})
	}
}

// filesAsWanted: every artifact's file stands where its row says, with its
// bytes, and there is no other Markdown file and no temporary one.
func filesAsWanted(t *testing.T, ws *testws.WS, k int) {
	t.Helper()
	rep := ws.Check()
	if len(rep.Pending)+len(rep.Missing) > 0 {
		t.Errorf("killed at point %d: files behind the journal: changed %v, missing %v", k, rep.Pending, rep.Missing)
	}
	n := 0
	root := filepath.Join(ws.Dir, workspace.Folder)
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") && !strings.HasPrefix(d.Name(), ".") {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n != rep.Artifacts {
		t.Errorf("killed at point %d: %d Markdown files for %d artifacts", k, n, rep.Artifacts)
	}
}

// logged: each call has exactly one line, but for the newest, which the next
// call writes at the latest.
func logged(t *testing.T, ws *testws.WS, k int, there bool) {
	t.Helper()
	if !there {
		return
	}
	human := ws.Caller
	human.Face = "cli"
	ws.Reg.Call(context.Background(), human, "forgeplan_list", nil)
	files, _ := filepath.Glob(filepath.Join(ws.Dir, workspace.Folder, "logs", "*.jsonl"))
	lines := map[string]int{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
			var e struct {
				Call string `json:"call"`
			}
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Errorf("killed at point %d: torn line %q", k, line)
			}
			lines[e.Call]++
		}
	}
	r := ws.Reg.Call(context.Background(), human, "forgeplan_activity", json.RawMessage(`{"detail":true,"since_hours":720,"limit":5000}`))
	entries := testws.Object(t, r.Body)["entries"].([]any)
	for _, e := range entries {
		if call := e.(map[string]any)["call"].(string); lines[call] != 1 {
			t.Errorf("killed at point %d: call %s has %d log lines", k, call, lines[call])
		}
	}
}

// TestKilledRetrySameKey: a child is killed at any point of a keyed creation;
// the retry with the same key finds exactly one artifact.
func TestKilledRetrySameKey(t *testing.T) {
	call := childCall{"forgeplan_new", json.RawMessage(`{"kind":"prd","title":"Once","idempotency_key":"k-1"}`)}
	for k := 1; ; k++ {
		ws := testws.New(t)
		_, ended := child{Dir: ws.Dir, Calls: []childCall{call}, KillAt: k}.runs(t)
		ws.Must("forgeplan_new", string(call.Args))
		if n := ws.Must("forgeplan_list", nil)["count"]; n != 1.0 {
			t.Fatalf("killed at point %s: %v artifacts after the retry", strconv.Itoa(k), n)
		}
		if ended {
			return
		}
	}
}

// TestKilledThenEdited: a call is answered by nobody, killed between its commit
// and its file; a person edits the older file. Both changes stay.
func TestKilledThenEdited(t *testing.T) {
	for k := 1; k < 40; k++ {
		ws := testws.Bare(t)
		ws.Must("forgeplan_init", nil)
		ws.Must("forgeplan_new", `{"kind":"prd","title":"First","body":"one\n"}`)
		_, ended := child{Dir: ws.Dir, Calls: []childCall{{"forgeplan_update", json.RawMessage(`{"id":"PRD-001","depth":"deep","tags":["x"]}`)}}, KillAt: k}.runs(t)
		edit(t, ws, "prds/PRD-001-first.md", func(s string) string { return s + "by hand\n" })
		a := ws.Must("forgeplan_get", `{"id":"PRD-001"}`)
		file := ws.File("prds/PRD-001-first.md")
		if a["body"] != "one\nby hand\n" || !strings.HasSuffix(file, "one\nby hand\n") {
			t.Fatalf("killed at point %d: the edit is lost: %v, file %q", k, a["body"], file)
		}
		if deep := a["depth"] == "deep"; deep != strings.Contains(file, "depth: deep") || deep != strings.Contains(file, "- x\n") || deep != (fmt.Sprint(a["tags"]) == "[x]") {
			t.Fatalf("killed at point %d: depth %v, tags %v, file %q", k, a["depth"], a["tags"], file)
		}
		if ended && a["depth"] != "deep" {
			t.Fatalf("an answered change is gone: %v", a)
		}
		if rep := ws.Check(); len(rep.Pending)+len(rep.Missing) > 0 {
			t.Fatalf("killed at point %d: %v %v", k, rep.Pending, rep.Missing)
		}
		if ended {
			return
		}
	}
	t.Fatal("no child came to its end")
}
