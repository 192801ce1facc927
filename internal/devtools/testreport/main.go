// Command testreport reads `go test -json` and prints what a person wants of
// it: a line a package, the output of what failed, and every skipped test with
// its reason. It fails when a test failed, when none ran, and when one was
// skipped that the list does not allow.
//
//	go test -json ./... | testreport [-summary file] skips.allowed
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	summary := flag.String("summary", "", "file to write skips and counts to as well")
	flag.Parse()
	ok, err := run(os.Stdin, os.Stdout, flag.Arg(0), *summary)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, allowed, summary string) (ok bool, err error) {
	f, err := os.Open(allowed)
	if err != nil {
		return false, err
	}
	defer f.Close()
	list, err := parseAllowed(f)
	if err != nil {
		return false, fmt.Errorf("%s: %w", allowed, err)
	}
	w := bufio.NewWriter(out)
	defer w.Flush()
	r := newReport(w)
	if err := r.read(in); err != nil {
		return false, err
	}
	ok = r.close(w, list)
	if summary != "" {
		file, err := os.Create(summary)
		if err != nil {
			return ok, err
		}
		r.close(file, list)
		if err := file.Close(); err != nil {
			return ok, err
		}
	}
	return ok, nil
}
