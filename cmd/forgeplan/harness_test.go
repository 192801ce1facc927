package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"forgeplan/internal/testws"
)

// outcome is what one run of the program left.
type outcome struct {
	code           int
	stdout, stderr string
}

// object is stdout as the one JSON document that it has to be.
func (o outcome) object(t *testing.T) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(o.stdout))
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		t.Fatalf("stdout is no JSON object: %v\n%s%s", err, o.stdout, o.stderr)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("more than one document:\n%s", o.stdout)
	}
	return m
}

// forbidden is a stdin that nothing may read.
type forbidden struct{ t *testing.T }

func (f forbidden) Read([]byte) (int, error) {
	f.t.Error("stdin was read")
	return 0, io.EOF
}

// at runs the program in this process on the project folder dir, with a stdin
// that may not be read unless one is given.
func at(t *testing.T, dir string, stdin io.Reader, args ...string) outcome {
	t.Helper()
	if stdin == nil {
		stdin = forbidden{t}
	}
	var out, errs strings.Builder
	env := map[string]string{"FORGEPLAN_WORKSPACE": dir, "FORGEPLAN_ACTOR": "vera"}
	code := run(&program{args: args, stdin: stdin, stdout: &out, stderr: &errs, getenv: func(name string) string { return env[name] }})
	return outcome{code, out.String(), errs.String()}
}

// project makes a folder with a workspace that is checked when the test ends.
func project(t *testing.T) string {
	t.Helper()
	clock := &testws.Clock{}
	clock.Set(testws.Start)
	testClock = clock.Now
	t.Cleanup(func() { testClock = nil })
	dir := t.TempDir()
	must(t, dir, "init")
	t.Cleanup(func() { must(t, dir, "verify") })
	return dir
}

// must runs a command that has to succeed and returns what it printed.
func must(t *testing.T, dir string, args ...string) string {
	t.Helper()
	o := at(t, dir, nil, args...)
	if o.code != 0 {
		t.Fatalf("%q ended with %d: %s%s", args, o.code, o.stdout, o.stderr)
	}
	return o.stdout
}

// soon is how long a program may take to end.
const soon = 2 * time.Second
