package main

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the transcript")

const transcript = "testdata/transcript.txt"

// TestTranscript tells the story with kills at several moments: what is told is
// the same, whichever way the killed call went.
func TestTranscript(t *testing.T) {
	bin := filepath.Join(t.TempDir(), program())
	if err := build(bin); err != nil {
		t.Fatal(err)
	}
	for i, after := range []time.Duration{0, 2 * time.Millisecond, 5 * time.Millisecond, 8 * time.Millisecond} {
		got := ""
		for got == "" {
			s := &story{bin: bin, folder: filepath.Join(t.TempDir(), "project"), after: after, teller: teller{out: io.Discard}}
			err := s.tell(t.Context())
			if errors.Is(err, errTooLate) {
				after /= 2 // a fast machine: earlier, until the call is still running
				continue
			}
			if err != nil {
				t.Fatalf("killed after %v: %v", after, err)
			}
			got = s.transcript.String()
		}
		if *update && i == 0 {
			if err := os.WriteFile(transcript, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(transcript)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("killed after %v, the story is:\n%s\nwant:\n%s", after, got, want)
		}
	}
}
