package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is a line of `go test -json`, as far as it is used here.
type event struct {
	Action     string
	Package    string
	ImportPath string // of build events
	Test       string
	Elapsed    float64 // seconds
	Output     string
}

// report collects the events of one run.
type report struct {
	out            io.Writer
	output         map[string][]string // of a test, package or build, until it ends
	passed, failed int                 // tests and their parts
	broken         []string            // packages that failed
	skipped        []skip
}

type skip struct {
	test   string // folder.Test/part
	reason string // what it said
}

func newReport(out io.Writer) *report {
	return &report{out: out, output: map[string][]string{}}
}

// read takes events until the input ends. A line that is no event is printed
// as it is.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
				fmt.Fprint(r.out, line)
			} else {
				r.take(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if f, ok := r.out.(*bufio.Writer); ok && lines.Buffered() == 0 {
			_ = f.Flush() // somebody may be watching
		}
	}
}

func (r *report) take(e event) {
	key := e.Package + " " + e.Test
	if e.ImportPath != "" {
		key = e.ImportPath
	}
	switch e.Action {
	case "output", "build-output":
		r.output[key] = append(r.output[key], e.Output)
		return
	case "pass":
		if e.Test == "" {
			fmt.Fprintf(r.out, "ok    %s  %.1fs\n", e.Package, e.Elapsed)
		} else {
			r.passed++
		}
	case "skip":
		if e.Test != "" {
			r.skipped = append(r.skipped, skip{test: name(e), reason: said(r.output[key])})
		}
	case "fail", "build-fail":
		switch {
		case e.Test != "":
			r.failed++
		case e.Package != "":
			r.broken = append(r.broken, e.Package)
		}
		fmt.Fprint(r.out, strings.Join(r.output[key], ""))
	default: // start, run, pause, cont, bench: not the end of anything
		return
	}
	delete(r.output, key)
}

// close prints the skips and the counts, and says whether all is well.
func (r *report) close(out io.Writer, list []allowance) (ok bool) {
	ok = len(r.broken) == 0 && r.failed == 0
	for _, s := range r.skipped {
		if why, found := allows(list, s.test); found {
			fmt.Fprintf(out, "skip  %s: %s (allowed: %s)\n", s.test, s.reason, why)
			continue
		}
		ok = false
		fmt.Fprintf(out, "SKIP  %s: %s (not in the list of allowed skips)\n", s.test, s.reason)
	}
	for _, p := range r.broken {
		fmt.Fprintf(out, "FAIL  %s\n", p)
	}
	if r.passed == 0 {
		ok = false
		fmt.Fprintln(out, "no test passed")
	}
	failed := r.failed
	if failed == 0 {
		failed = len(r.broken) // a package that did not build, or died outside its tests
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", r.passed, failed, len(r.skipped))
	return ok
}

// name is the test as the list writes it: folder in the module, dot, test.
func name(e event) string {
	_, folder, found := strings.Cut(e.Package, "/")
	if !found {
		folder = e.Package
	}
	return folder + "." + e.Test
}

// said is what a skipped test gave as its reason: the last line it logged.
func said(output []string) string {
	reason := "no reason"
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		if _, text, found := strings.Cut(line, ".go:"); found {
			if _, text, found := strings.Cut(text, ": "); found {
				line = text
			}
		}
		reason = line
	}
	return reason
}
