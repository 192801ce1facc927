package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const list = "# why not\n\njournal.TestSlow  takes a disk of its own\n"

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		name   string
		events []string
		ok     bool
		want   []string // lines that must be there
		not    string   // what must not
	}{
		{
			name: "all well",
			events: []string{
				`{"Action":"start","Package":"forgeplan/a"}`,
				`{"Action":"output","Package":"forgeplan/a","Test":"TestOne","Output":"chatter\n"}`,
				`{"Action":"pass","Package":"forgeplan/a","Test":"TestOne","Elapsed":0.1}`,
				`{"Action":"pass","Package":"forgeplan/a","Elapsed":1.26}`,
				`{"Action":"skip","Package":"forgeplan/empty"}`,
			},
			ok: true, want: []string{"ok    forgeplan/a  1.3s", "1 passed, 0 failed, 0 skipped"}, not: "chatter",
		},
		{
			name: "a failure with its output",
			events: []string{
				`{"Action":"pass","Package":"forgeplan/a","Test":"TestOne"}`,
				`{"Action":"output","Package":"forgeplan/a","Test":"TestTwo","Output":"    a_test.go:3: got 1, want 2\n"}`,
				`{"Action":"fail","Package":"forgeplan/a","Test":"TestTwo"}`,
				`{"Action":"fail","Package":"forgeplan/a"}`,
			},
			want: []string{"    a_test.go:3: got 1, want 2", "FAIL  forgeplan/a", "1 passed, 1 failed, 0 skipped"},
		},
		{
			name: "a package that does not build",
			events: []string{
				`{"Action":"pass","Package":"forgeplan/b","Test":"TestOne"}`,
				`{"ImportPath":"forgeplan/a","Action":"build-output","Output":"a.go:1: undefined: x\n"}`,
				`{"ImportPath":"forgeplan/a","Action":"build-fail"}`,
				`{"Action":"fail","Package":"forgeplan/a","FailedBuild":"forgeplan/a"}`,
			},
			want: []string{"a.go:1: undefined: x", "FAIL  forgeplan/a", "1 passed, 1 failed, 0 skipped"},
		},
		{
			name: "an allowed skip",
			events: []string{
				`{"Action":"pass","Package":"forgeplan/journal","Test":"TestOne"}`,
				`{"Action":"output","Package":"forgeplan/journal","Test":"TestSlow/disk","Output":"=== RUN   TestSlow/disk\n"}`,
				`{"Action":"output","Package":"forgeplan/journal","Test":"TestSlow/disk","Output":"    a_test.go:3: no disk: none\n"}`,
				`{"Action":"output","Package":"forgeplan/journal","Test":"TestSlow/disk","Output":"--- SKIP: TestSlow/disk (0.00s)\n"}`,
				`{"Action":"skip","Package":"forgeplan/journal","Test":"TestSlow/disk"}`,
			},
			ok: true, want: []string{"skip  journal.TestSlow/disk: no disk: none (allowed: takes a disk of its own)", "1 passed, 0 failed, 1 skipped"},
		},
		{
			name: "a skip nobody allowed",
			events: []string{
				`{"Action":"pass","Package":"forgeplan/tools","Test":"TestOne"}`,
				`{"Action":"skip","Package":"forgeplan/tools","Test":"TestSlow"}`,
			},
			want: []string{"SKIP  tools.TestSlow: no reason (not in the list of allowed skips)", "1 passed, 0 failed, 1 skipped"},
		},
		{name: "no test", events: []string{`{"Action":"skip","Package":"forgeplan/a"}`}, want: []string{"no test passed"}},
		{name: "no events", events: []string{"go: cannot find main module"}, want: []string{"go: cannot find main module", "no test passed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			allowed, summary := filepath.Join(dir, "allowed"), filepath.Join(dir, "summary")
			if err := os.WriteFile(allowed, []byte(list), 0o600); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			ok, err := run(strings.NewReader(strings.Join(tt.events, "\n")+"\n"), &out, allowed, summary)
			if err != nil {
				t.Fatal(err)
			}
			if ok != tt.ok {
				t.Errorf("got ok %v, want %v", ok, tt.ok)
			}
			for _, line := range tt.want {
				if !strings.Contains("\n"+out.String(), "\n"+line+"\n") {
					t.Errorf("no line %q in:\n%s", line, &out)
				}
			}
			if tt.not != "" && strings.Contains(out.String(), tt.not) {
				t.Errorf("found %q in:\n%s", tt.not, &out)
			}
			short, err := os.ReadFile(summary)
			if err != nil || !strings.HasSuffix(out.String(), string(short)) || len(short) == 0 {
				t.Errorf("got summary %q (%v), want the end of the output", short, err)
			}
		})
	}
}

func TestParseAllowedRefuses(t *testing.T) {
	for _, text := range []string{"journal.TestSlow", "journal.TestSlow  ", "TestSlow why", "journal why"} {
		if got, err := parseAllowed(strings.NewReader(text)); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}
