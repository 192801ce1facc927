package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"forgeplan/internal/filelock"
	"forgeplan/internal/testws"
	"forgeplan/journal"

	"github.com/oklog/ulid/v2"
)

// start runs the program as a process of its own, in folder dir.
func start(t *testing.T, dir string, env []string, args ...string) (*exec.Cmd, io.WriteCloser, *bufio.Reader, *strings.Builder) {
	t.Helper()
	cmd := exec.Command("forgeplan", args...) // this test binary, under the name that makes it the program
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "FORGEPLAN_ACTOR=vera"), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, in, bufio.NewReader(out), &errs
}

// gone waits for the end of a process, for two seconds, and returns its exit
// code.
func gone(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	select {
	case <-done:
		return cmd.ProcessState.ExitCode()
	case <-time.After(soon + time.Second/2):
		t.Fatal("still there after two seconds")
		return -1
	}
}

// talk sends one request and reads the next line, which has to be its answer.
func talk(t *testing.T, in io.Writer, out *bufio.Reader, id int, method, params string) map[string]any {
	t.Helper()
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(line), &m); err != nil || m["id"] != float64(id) || m["result"] == nil {
		t.Fatalf("%s: %v in %s", method, err, line)
	}
	return m["result"].(map[string]any)
}

const hello = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`

// A server ends within two seconds of the end of its input or a signal, says
// nothing but protocol on stdout, and leaves nothing locked.
func TestServeEnds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("signals")
	}
	dir := t.TempDir()
	must(t, dir, "init")
	for name, end := range map[string]func(*exec.Cmd, io.Closer){
		"end of input": func(_ *exec.Cmd, in io.Closer) { in.Close() },
		"SIGTERM":      func(cmd *exec.Cmd, _ io.Closer) { _ = cmd.Process.Signal(syscall.SIGTERM) },
		"SIGINT":       func(cmd *exec.Cmd, _ io.Closer) { _ = cmd.Process.Signal(syscall.SIGINT) },
		"SIGHUP":       func(cmd *exec.Cmd, _ io.Closer) { _ = cmd.Process.Signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			cmd, in, out, errs := start(t, t.TempDir(), []string{"FORGEPLAN_TOOLSET=all"}, "serve", "--workspace", dir)
			talk(t, in, out, 1, "initialize", hello)
			fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			list := talk(t, in, out, 2, "tools/list", `{}`)["tools"].([]any)
			if len(list) != len(registry(t).Tools("all")) {
				t.Errorf("%d tools", len(list))
			}
			r := talk(t, in, out, 3, "tools/call", `{"name":"forgeplan_new","arguments":{"kind":"note","title":"Seen"}}`)
			if r["isError"] == true {
				t.Errorf("got %v", r)
			}
			end(cmd, in)
			if code := gone(t, cmd); code != 0 {
				t.Errorf("ended with %d", code)
			}
			if errs.Len() > 0 {
				t.Errorf("stderr: %s", errs)
			}
		})
	}
	entries := at(t, dir, nil, "activity", "--tool", "forgeplan_new", "--detail", "--json").object(t)["entries"].([]any)
	sessions := map[any]bool{}
	for _, e := range entries {
		s := e.(map[string]any)["session"]
		if _, err := ulid.ParseStrict(fmt.Sprint(s)); err != nil {
			t.Errorf("session %v", s)
		}
		sessions[s] = true
	}
	if len(sessions) != 4 {
		t.Errorf("%d sessions of 4 servers", len(sessions))
	}
	must(t, dir, "verify")
}

// A server without a workspace answers, and makes none.
func TestServeNowhere(t *testing.T) {
	dir := t.TempDir()
	_, in, out, _ := start(t, dir, nil, "serve")
	talk(t, in, out, 1, "initialize", hello)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	r := talk(t, in, out, 2, "tools/call", `{"name":"forgeplan_list","arguments":{}}`)
	if text := fmt.Sprint(r["content"]); r["isError"] != true || !strings.Contains(text, "forgeplan_init") {
		t.Errorf("got %v", r)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("made %v", files)
	}
}

// hold takes the lock of a workspace as another program would.
func hold(t *testing.T, dir string) (release func()) {
	t.Helper()
	release, err := filelock.For(filepath.Join(dir, ".forgeplan", "lock")).Acquire(context.Background(), time.Second, filelock.Holder{PID: 7, Command: "another program"})
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// A command that waits for the lock ends at a signal, and changed nothing.
func TestSignalWhileWaiting(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("signals")
	}
	dir := t.TempDir()
	must(t, dir, "init")
	release := hold(t, dir)
	for _, wait := range []time.Duration{300 * time.Millisecond, time.Second, 3 * time.Second} { // it waits five seconds
		cmd, _, out, errs := start(t, dir, nil, "new", "note", "Never")
		time.Sleep(wait)
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(out)
		code := gone(t, cmd)
		if code == -1 && wait < 3*time.Second {
			continue // a busy machine: it was not up yet
		}
		if code != 1 || len(text) > 0 || !strings.HasPrefix(errs.String(), "error: ") {
			t.Errorf("ended with %d: %s%s", code, text, errs)
		}
		break
	}
	release()
	if o := at(t, dir, nil, "list", "--json").object(t); o["count"] != 0.0 {
		t.Errorf("got %v", o)
	}
	must(t, dir, "verify")
}

// Where another program holds the workspace, that is said in time.
func TestBusy(t *testing.T) {
	dir := t.TempDir()
	must(t, dir, "init")
	if err := os.WriteFile(filepath.Join(dir, ".forgeplan", "config.yaml"), []byte("version: 1\nlock_wait: 100ms\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	release := hold(t, dir)
	defer release()
	cmd, _, out, _ := start(t, dir, nil, "new", "note", "N", "--json")
	var m map[string]any
	if err := json.NewDecoder(out).Decode(&m); err != nil || m["error_class"] != "busy" || !strings.Contains(fmt.Sprint(m["error"]), "another program") {
		t.Errorf("got %v, %v", m, err)
	}
	if code := gone(t, cmd); code != 1 {
		t.Errorf("ended with %d", code)
	}
}

// Rows that differ from the journal end verify with 3 and the event they should
// show; replay mends them.
func TestDrift(t *testing.T) {
	clock := &testws.Clock{}
	clock.Set(testws.Start)
	testClock = clock.Now
	defer func() { testClock = nil }()
	dir := t.TempDir()
	must(t, dir, "init")
	made := at(t, dir, nil, "new", "note", "One", "--json").object(t)
	want := at(t, dir, nil, "verify", "--json").object(t)
	j, err := journal.Open(filepath.Join(dir, ".forgeplan", "journal.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = j.Update(func(tx *journal.Tx) error {
		table := tx.Table("artifacts")
		for key, row := range table.Scan("") {
			row = append([]byte(nil), row...)
			row[len(row)-1] ^= 1
			return table.Put(key, row)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	j.Close()

	o := at(t, dir, nil, "verify", "--json")
	m := o.object(t)
	if o.code != 3 || m["ok"] != false || m["error_class"] != "drift" || !strings.Contains(fmt.Sprint(m["error"]), fmt.Sprint(m["first_divergent_event"])) || o.stderr != "" {
		t.Errorf("got %d %s%s", o.code, o.stdout, o.stderr)
	}
	if id, err := ulid.ParseStrict(fmt.Sprint(m["first_divergent_event"])); err != nil || id.String() < fmt.Sprint(made["uid"]) {
		t.Errorf("names %v", m["first_divergent_event"])
	}
	o = at(t, dir, nil, "replay", "--verify")
	if o.code != 3 || !strings.Contains(o.stderr, "error: drift: 1 row(s)") || !strings.Contains(o.stderr, "hint: ") {
		t.Errorf("got %d %s%s", o.code, o.stdout, o.stderr)
	}
	if m := at(t, dir, nil, "replay", "--json").object(t); m["tables"] != "rebuilt" || m["ok"] != nil {
		t.Errorf("got %v", m)
	}
	if got := at(t, dir, nil, "verify", "--json").object(t); got["state_hash"] != want["state_hash"] {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A damaged journal is an error that says so, with nothing on stdout but the
// document, and no trace of the program's inside.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	must(t, dir, "init")
	file := filepath.Join(dir, ".forgeplan", "journal.db")
	if err := os.WriteFile(file, []byte("not a journal\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"list"}, {"new", "note", "N"}, {"verify"}, {"replay"}, {"init"}} {
		o := at(t, dir, nil, append(args, "--json")...)
		if m := o.object(t); o.code != 1 || m["error_class"] != "corrupt" || strings.Contains(o.stdout+o.stderr, "goroutine") || strings.Contains(o.stdout, "--force") {
			t.Errorf("%q: %d %s%s", args, o.code, o.stdout, o.stderr)
		}
	}
	if data, _ := os.ReadFile(file); string(data) != "not a journal\n" {
		t.Errorf("the file was touched: %q", data)
	}
}

// A reader that goes away does not make a command hang or shout.
func TestBrokenPipe(t *testing.T) {
	dir := t.TempDir()
	must(t, dir, "init")
	must(t, dir, "new", "note", "N", "--body", strings.Repeat("line\n", 100_000))
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd := exec.Command("forgeplan", "get", "NOTE-001", "--full")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, writer, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	if _, err := reader.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	reader.Close()
	if code := gone(t, cmd); code != 0 || errs.Len() > 0 {
		t.Errorf("ended with %d: %s", code, &errs)
	}
}
