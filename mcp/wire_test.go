package mcp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestWire plays each transcript: lines with > are sent, lines with < must come
// back, and the records at the end must be those of the registry.
func TestWire(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	if len(files) == 0 {
		t.Fatal("no transcripts")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playTranscript(t, file) })
		})
	}
}

func playTranscript(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	reg := &fakeRegistry{}
	w := serve(t, reg, Options{})
	var got strings.Builder
	for _, l := range strings.Split(string(a.Files[0].Data), "\n") {
		if l == "" || l[0] == '<' {
			continue
		}
		got.WriteString(l + "\n")
		if l[0] != '>' {
			continue // a comment
		}
		for _, answer := range w.send(strings.TrimPrefix(l, "> ")) {
			checkAnswer(t, answer)
			got.WriteString("< " + answer + "\n")
		}
	}
	records := strings.Join(append(reg.recorded(), ""), "\n")
	if *update {
		a.Files = []txtar.File{{Name: "wire", Data: []byte(got.String())}, {Name: "records", Data: []byte(records)}}
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if len(a.Files) != 2 || got.String() != string(a.Files[0].Data) {
		t.Errorf("wire: got\n%swant\n%s", got.String(), a.Files[0].Data)
	}
	if len(a.Files) == 2 && records != string(a.Files[1].Data) {
		t.Errorf("records: got\n%swant\n%s", records, a.Files[1].Data)
	}
}

var goTypes = regexp.MustCompile(`\*?(mcp|json|jsonrpc2?|struct|map|interface)[.\[{]|unmarshal|json:`)

// checkAnswer holds each answer to what no answer may break.
func checkAnswer(t *testing.T, l string) {
	t.Helper()
	var a struct {
		JSONRPC string
		ID      json.RawMessage
		Result  json.RawMessage
		Error   *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(l), &a); err != nil || a.JSONRPC != "2.0" {
		t.Errorf("not a frame: %s", l)
	}
	if (a.Error == nil) == (a.Result == nil) {
		t.Errorf("neither result nor error, or both: %s", l)
	}
	if a.Error != nil && (a.Error.Code == 0 || a.Error.Message == "") {
		t.Errorf("no code or no sentence: %s", l)
	}
	if a.Error != nil && goTypes.MatchString(a.Error.Message) {
		t.Errorf("an error that talks about the program: %s", l)
	}
}

// TestStrayLines feeds a session as a wrapper script would spoil it: a byte
// order mark, CRLF, a blank line, text, a batch, a cut line, no last newline.
func TestStrayLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		raw, err := os.ReadFile("testdata/stray-lines.raw")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(raw), "\xef\xbb\xbf") || !strings.Contains(string(raw), "\r\n") || strings.HasSuffix(string(raw), "\n") {
			t.Fatal("the file lost what it is for")
		}
		reg := &fakeRegistry{}
		w := serve(t, reg, Options{})
		w.in.Write(raw)
		w.in.Close()
		w.ends()
		if w.err != nil {
			t.Errorf("Serve: %v", w.err)
		}
		var got []string
		for _, l := range w.read() {
			checkAnswer(t, l)
			m := object(json.RawMessage(l))
			code := string(object(m["error"])["code"])
			got = append(got, strings.TrimSpace(string(m["id"])+" "+code))
		}
		slices.Sort(got) // errors may overtake answers
		equal(t, "ids and codes", got, []string{"0", "3", "null -32600", "null -32700", "null -32700"})
		equal(t, "records", reg.recorded(), []string{})
	})
}
