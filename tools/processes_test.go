//go:build unix

package tools_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"forgeplan/internal/fault"
	"forgeplan/internal/testws"
	"forgeplan/internal/workspace"
	"forgeplan/tools"
)

// Several processes share one workspace. This test binary is each of them, with
// a registry of its own and the clock of the machine.

const workerEnv = "FORGEPLAN_TEST_WORKER"

// worker is what one process does: once it is told to go, its calls in order;
// with Pause over and over, until its input ends.
type worker struct {
	Dir, Name, Face string
	Calls           []childCall
	Loop            bool
	Pause           time.Duration // after each call
	StopAt          string        // fault point at which it stops itself, as a debugger or Ctrl-Z does
}

// answer is one line of a worker's output.
type answer struct {
	Tool string
	Took time.Duration // from asking to the answer, so every wait is in it
	Body json.RawMessage
}

func runWorker(spec string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	var w worker
	if err := json.Unmarshal([]byte(spec), &w); err != nil {
		fail(err)
	}
	reg, err := tools.New(&workspace.Env{Start: w.Dir, Program: "test", Command: w.Name}, tools.All())
	if err != nil {
		fail(err)
	}
	fault.Hook = func(name string) {
		if name == w.StopAt {
			fault.Hook = nil
			fmt.Println("STOPPED")
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			select {} // the signal may reach this thread last
		}
	}
	fmt.Println("READY")
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		fail(err)
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in)
		close(ended)
	}()
	out := json.NewEncoder(os.Stdout)
	caller := tools.Caller{Face: w.Face, Actor: w.Name, ActorKind: "agent", Session: w.Name}
	for again := true; again; {
		for _, c := range w.Calls {
			begun := time.Now()
			r := reg.Call(context.Background(), caller, c.Tool, c.Args)
			if err := out.Encode(answer{c.Tool, time.Since(begun), r.Body}); err != nil {
				fail(err)
			}
			time.Sleep(w.Pause)
		}
		select {
		case <-ended:
			again = false
		default:
			again = w.Loop
		}
	}
}

// working is a worker that runs.
type working struct {
	worker
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts a worker and waits until it is ready to go.
func (w worker) start(t *testing.T) *working {
	t.Helper()
	spec, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &working{worker: w, cmd: exec.Command(exe, "-test.run=NONE")}
	p.cmd.Env = append(os.Environ(), workerEnv+"="+string(spec))
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	p.says(t, "READY")
	return p
}

func (p *working) says(t *testing.T, want string) {
	t.Helper()
	got, err := p.out.ReadString('\n')
	if strings.TrimSpace(got) != want {
		t.Fatalf("%s says %q (%v), want %q", p.Name, got, err, want)
	}
}

func (p *working) goes(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(p.in, "\n"); err != nil {
		t.Fatal(err)
	}
}

// answers reads what the worker was answered until its output ends.
func (p *working) answers(t *testing.T) (all []answer) {
	t.Helper()
	for dec := json.NewDecoder(p.out); ; {
		var a answer
		switch err := dec.Decode(&a); err {
		case nil:
			all = append(all, a)
		case io.EOF:
			return all
		default:
			t.Errorf("%s: %v", p.Name, err)
			return all
		}
	}
}

// shared is a workspace on the machine's clock, which all processes share.
func shared(t *testing.T) *testws.WS {
	t.Helper()
	ws := testws.Bare(t)
	ws.Env.Now = nil
	ws.Must("forgeplan_init", nil)
	return ws
}

// recorded are all calls of the journal, in its order.
func recorded(t *testing.T, ws *testws.WS) []entry {
	t.Helper()
	human := ws.Caller
	human.Face = "cli" // the question itself is not recorded
	r := ws.Reg.Call(context.Background(), human, "forgeplan_activity", json.RawMessage(`{"detail":true,"limit":5000}`))
	if r.Failure != nil {
		t.Fatalf("activity: %s", r.Body)
	}
	var out struct{ Entries []entry }
	if err := json.Unmarshal(r.Body, &out); err != nil {
		t.Fatal(err)
	}
	return out.Entries
}

type entry struct {
	Call, Tool, Status, Session, Effect string
	Class                               string `json:"error_class"`
}

// TestManyProcesses: eight processes create ten artifacts each while a server
// and a reader are at work. Nobody waits for long, and nothing is lost, mixed up
// or told twice.
func TestManyProcesses(t *testing.T) {
	t.Setenv("FORGEPLAN_LOCK_WAIT", "1m") // waits are judged below
	const writers, each = 8, 10
	ws := shared(t)
	procs := []*working{
		worker{Dir: ws.Dir, Name: "server", Face: "mcp", Loop: true, Pause: 15 * time.Millisecond, Calls: []childCall{
			{"forgeplan_list", json.RawMessage(`{"limit":5}`)},
			{"forgeplan_get", json.RawMessage(`{"id":"PRD-001"}`)}, // not found at first: recorded as well
			{"forgeplan_activity", json.RawMessage(`{"limit":5}`)},
		}}.start(t),
		worker{Dir: ws.Dir, Name: "reader", Face: "cli", Loop: true, Calls: []childCall{{"forgeplan_list", nil}}}.start(t),
	}
	body := func(name string, i int) string { return fmt.Sprintf("number %d of %s\n", i, name) }
	for w := range writers {
		p := worker{Dir: ws.Dir, Name: fmt.Sprintf("writer-%d", w), Face: "mcp"}
		for i := range each {
			args, err := json.Marshal(map[string]string{"kind": "prd", "title": fmt.Sprintf("%s %d", p.Name, i), "body": body(p.Name, i)})
			if err != nil {
				t.Fatal(err)
			}
			p.Calls = append(p.Calls, childCall{"forgeplan_new", args})
		}
		procs = append(procs, p.start(t))
	}
	begun := time.Now()
	got := make([][]answer, len(procs))
	var loops, all sync.WaitGroup
	for i, p := range procs {
		p.goes(t)
		wg := &all
		if p.Loop {
			wg = &loops
		} else {
			p.in.Close()
		}
		wg.Go(func() { got[i] = p.answers(t) })
	}
	all.Wait()
	for _, p := range procs {
		p.in.Close()
	}
	loops.Wait()
	took := time.Since(begun)

	made := map[string]string{} // id: what its body must be
	calls := map[string]bool{}  // ULIDs that were promised
	asked := map[string]int{}   // calls of each recorded process
	var waits []time.Duration
	for i, p := range procs {
		if p.Loop && len(got[i]) < 3 {
			t.Errorf("%s was answered %d times only: nothing was contended", p.Name, len(got[i]))
		}
		for n, a := range got[i] {
			waits = append(waits, a.Took)
			if p.Face == "mcp" {
				asked[p.Name]++
			}
			if p.Loop {
				continue
			}
			var out struct{ ID, Call string }
			if err := json.Unmarshal(a.Body, &out); err != nil || out.ID == "" || made[out.ID] != "" || calls[out.Call] {
				t.Fatalf("%s: answer %s (%v): want a new id and a new call", p.Name, a.Body, err)
			}
			made[out.ID], calls[out.Call] = body(p.Name, n), true
		}
	}
	slices.Sort(waits)
	longest := waits[len(waits)-1]
	// What each call would take if all took turns. A second is a long time for
	// ten processes, unless the machine has other things to do.
	turn := took * time.Duration(len(procs)) / time.Duration(len(waits))
	if longest > max(time.Second, 5*turn) {
		t.Errorf("a call took %v where %v would be a fair turn", longest, turn)
	}
	t.Logf("%d calls, half of them within %v, the longest %v", len(waits), waits[len(waits)/2].Round(time.Microsecond), longest.Round(time.Microsecond))

	if len(made) != writers*each {
		t.Errorf("%d numbers, want %d", len(made), writers*each)
	}
	for n := 1; n <= writers*each; n++ {
		id := fmt.Sprintf("PRD-%03d", n)
		want, ok := made[id]
		if !ok {
			t.Errorf("nobody was given %s", id)
			continue
		}
		a := ws.Must("forgeplan_get", map[string]any{"id": id})
		if a["body"] != want {
			t.Errorf("%s has the body %q, want %q", id, a["body"], want)
		}
		if file := ws.File(a["path"].(string)); !strings.HasSuffix(file, "\n\n"+want) {
			t.Errorf("the file of %s is %q", id, file)
		}
	}
	asked[ws.Caller.Session] = 1 + writers*each // init, and the gets of this very test
	files, err := filepath.Glob(filepath.Join(ws.Dir, workspace.Folder, "prds", "*"))
	if err != nil || len(files) != writers*each {
		t.Errorf("%d files (%v), want %d", len(files), err, writers*each)
	}
	found := map[string]int{}
	last := ""
	for _, e := range recorded(t, ws) {
		if e.Call <= last {
			t.Errorf("call %s stands behind %s", e.Call, last)
		}
		last = e.Call
		found[e.Session]++
		delete(calls, e.Call)
	}
	if len(calls) > 0 {
		t.Errorf("%d promised calls are not in the journal", len(calls))
	}
	for who, n := range asked {
		if found[who] != n {
			t.Errorf("%d entries of %s, which made %d calls", found[who], who, n)
		}
		delete(found, who)
	}
	if len(found) > 0 {
		t.Errorf("entries of nobody we know: %v", found)
	}
	if rep := ws.Check(); rep.Artifacts != writers*each || len(rep.Pending)+len(rep.Missing) > 0 {
		t.Errorf("verified: %+v", rep)
	}
}

// TestStoppedHolder: a process that holds the lock and does not go on costs the
// others their patience, not their data; once it is killed, the lock is free.
func TestStoppedHolder(t *testing.T) {
	const patience = 300 * time.Millisecond
	for point, kept := range map[string]bool{"journal.before-commit": false, "workspace.committed": true} {
		t.Run(point, func(t *testing.T) {
			t.Setenv("FORGEPLAN_LOCK_WAIT", patience.String())
			ws := shared(t)
			ws.Must("forgeplan_new", `{"kind":"prd","title":"First"}`)
			holder := worker{Dir: ws.Dir, Name: "sleeper", Face: "mcp", StopAt: point,
				Calls: []childCall{{"forgeplan_new", json.RawMessage(`{"kind":"prd","title":"Second"}`)}}}.start(t)
			holder.goes(t)
			holder.says(t, "STOPPED")
			before := snapshot(t, ws)
			refused := []childCall{{"forgeplan_new", json.RawMessage(`{"kind":"prd","title":"Third"}`)}, {"forgeplan_list", nil}}
			for _, c := range refused {
				begun := time.Now()
				r := ws.Reg.Call(context.Background(), ws.Caller, c.Tool, c.Args)
				took := time.Since(begun)
				if r.Failure == nil || r.Failure.Class != tools.ClassBusy {
					t.Fatalf("%s: %s, want busy", c.Tool, r.Body)
				}
				if pid := strconv.Itoa(holder.cmd.Process.Pid); !strings.Contains(r.Failure.Msg, pid) || !strings.Contains(r.Failure.Msg, holder.Name) {
					t.Errorf("%q does not name process %s and its command", r.Failure.Msg, pid)
				}
				if !bytes.Contains(r.Body, []byte(`"recorded":false`)) {
					t.Errorf("%s: a call that is not recorded does not say so", r.Body)
				}
				if took < patience || took > patience+2*time.Second {
					t.Errorf("%s gave up after %v, want %v", c.Tool, took, patience)
				}
			}
			if after := snapshot(t, ws); after != before {
				t.Errorf("a refused call wrote something:\n%s\nbefore:\n%s", after, before)
			}

			if err := holder.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			ws.Must("forgeplan_tag", `{"id":"PRD-001","tags":["after"]}`) // at once: it has the same patience
			if r := ws.Call("forgeplan_get", `{"id":"PRD-002"}`); (r.Failure == nil) != kept {
				t.Errorf("killed at %s, the artifact is there: %v, want %v", point, r.Failure == nil, kept)
			}
			// The refused calls were waiting for a commit of this process.
			busy := 0
			for _, e := range recorded(t, ws) {
				if e.Class == tools.ClassBusy {
					busy++
				}
			}
			if busy != len(refused) {
				t.Errorf("%d entries of refused calls, want %d", busy, len(refused))
			}
			if rep := ws.Check(); len(rep.Pending)+len(rep.Missing) > 0 {
				t.Errorf("verified: %+v", rep)
			}
		})
	}
}

// snapshot is a list of all files of the workspace with their hashes.
func snapshot(t *testing.T, ws *testws.WS) string {
	t.Helper()
	var b strings.Builder
	root := os.DirFS(filepath.Join(ws.Dir, workspace.Folder))
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		fmt.Fprintf(&b, "%x %s\n", sha256.Sum256(data), name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestParallelCalls: one registry serves calls side by side, half of them to
// the same artifact.
func TestParallelCalls(t *testing.T) {
	const n = 20
	ws := testws.New(t)
	ws.Must("forgeplan_new", `{"kind":"epic","title":"Shared"}`)
	var wg sync.WaitGroup
	replies := make([]tools.Reply, n)
	for i := range n {
		name, args := "forgeplan_new", fmt.Sprintf(`{"kind":"prd","title":"Number %d"}`, i)
		if i%2 == 1 {
			name, args = "forgeplan_tag", fmt.Sprintf(`{"id":"EPIC-001","tags":["t-%d"]}`, i)
		}
		wg.Go(func() { replies[i] = ws.Reg.Call(context.Background(), ws.Caller, name, json.RawMessage(args)) })
	}
	wg.Wait()
	calls := map[string]int{}
	for _, r := range replies {
		if r.Failure != nil {
			t.Fatalf("%s", r.Body)
		}
		calls[testws.Object(t, r.Body)["call"].(string)]++
	}
	list := ws.Must("forgeplan_list", `{"kind":"prd"}`)
	ids := map[any]bool{}
	for _, row := range list["artifacts"].([]any) {
		ids[row.(map[string]any)["id"]] = true
	}
	if len(ids) != n/2 {
		t.Errorf("%d new artifacts, want %d", len(ids), n/2)
	}
	if tags := ws.Must("forgeplan_get", `{"id":"EPIC-001"}`)["tags"].([]any); len(tags) != n/2 {
		t.Errorf("tags %v, want %d of them", tags, n/2)
	}
	all := ws.Must("forgeplan_activity", `{"detail":true,"since_hours":1,"limit":100}`)
	found := map[string]int{}
	for _, e := range all["entries"].([]any) {
		found[e.(map[string]any)["call"].(string)]++
	}
	for call, promised := range calls {
		if promised != 1 || found[call] != 1 {
			t.Errorf("call %s: promised %d times, found %d times", call, promised, found[call])
		}
	}
	if want := 2 + n + 2; len(all["entries"].([]any)) != want { // init, new, the twenty, list, get
		t.Errorf("%d entries, want %d", len(all["entries"].([]any)), want)
	}
}
