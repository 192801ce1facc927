package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func TestReadLines(t *testing.T) {
	long := strings.Repeat("x", 200_000) // over the buffer, under the limit
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"\n\r\n  \n\t\n", nil},
		{"a\nb", []string{"a", "b"}},
		{"a\r\n b \r\nc\r", []string{"a", "b", "c"}},
		{"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", []string{"a", "\xef\xbb\xbfb"}},
		{"a\rb\n", []string{"a\rb"}},
		{long + "\n" + long, []string{long, long}},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
			var got []string
			if err := readLines(r, func(l line) bool { got = append(got, string(l.data)); return true }); err != nil {
				t.Error(err)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%.40q: got %.80q", c.in, got)
			}
		}
	}
	broken := io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(errors.New("bad disk")))
	if err := readLines(broken, func(line) bool { return true }); err == nil || err.Error() != "bad disk" {
		t.Errorf("got %v", err)
	}
}

func TestReadLinesLimit(t *testing.T) {
	full := strings.Repeat("x", maxFrame)
	for _, c := range []struct {
		in   string
		long bool
	}{{full + "\n", false}, {full + "\r\n", false}, {full, false}, {full + "x\n", true}, {full + "x", true}} {
		var lines []line
		readLines(strings.NewReader(c.in+"\nnext\n"), func(l line) bool { lines = append(lines, l); return true })
		if len(lines) != 2 || (lines[0].long != nil) != c.long || string(lines[1].data) != "next" {
			t.Errorf("%d bytes: %d lines", len(c.in), len(lines))
		}
	}
}

func TestParseID(t *testing.T) {
	for _, c := range []struct {
		raw string
		ok  bool
	}{
		{`1`, true}, {`0`, true}, {`-5`, true}, {`9007199254740992`, true}, {`9007199254740993`, true}, {`"a"`, true}, {`""`, true},
		{`1.5`, false}, {`1.0`, false}, {`1e2`, false}, {`null`, false}, {`true`, false}, {`[1]`, false}, {`{}`, false}, {``, false}, {`-`, false}, {`01`, false}, {`"`, false},
	} {
		if id, ok := parseID(json.RawMessage(c.raw)); ok != c.ok || id.IsValid() != c.ok {
			t.Errorf("%s: got %v, %v", c.raw, id, ok)
		}
	}
	a, _ := parseID(json.RawMessage(`9007199254740992`))
	b, _ := parseID(json.RawMessage(`9007199254740993`))
	if index(a) == index(b) {
		t.Error("two ids became one")
	}
}

// FuzzPeek: of any JSON object peek finds what a decoder finds.
func FuzzPeek(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"x","arguments":{"id":7,"name":[{"name":"y"}]}}}`)
	f.Add(`{"params":{"arguments":{"a":"}\"{"},"name":"x\"y"},"id":"a\\","method":"m"}`)
	f.Add(`{"params":[{"name":"n"}],"id":[1],"x":{"id":2},"method":{"method":"a"}}`)
	f.Add(`{"id" : 1 , "id":2 ,"method":null}`)
	f.Fuzz(func(t *testing.T, s string) {
		p := &peek{}
		p.feed([]byte(s)) // must not panic on anything
		var frame map[string]json.RawMessage
		if json.Unmarshal([]byte(s), &frame) != nil || frame == nil || strings.Contains(s, `\u`) || strings.Contains(s, `\/`) {
			return // keys may be spelled with escapes: peek does not read those
		}
		if strings.Count(s, `"id"`) > 1 || strings.Count(s, `"method"`) > 1 || strings.Count(s, `"name"`) > 1 || strings.Count(s, `"params"`) > 1 {
			return // of repeated keys the last scalar counts for peek
		}
		check := func(what string, got, want json.RawMessage) {
			if len(want) > maxToken || (len(want) > 0 && (want[0] == '{' || want[0] == '[')) {
				want = nil
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s of %s: got %s, want %s", what, s, got, want)
			}
		}
		check("id", p.id, frame["id"])
		check("method", p.method, frame["method"])
		check("name", p.name, object(frame["params"])["name"])
	})
}

// TestOrderRules checks the line against its two rules, on any sequence of
// calls received and ended.
func TestOrderRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			o    order
			live []*ticket
			log  []string
		)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(live) == 0 || rapid.Bool().Draw(t, "receive") {
				mutates := rapid.Bool().Draw(t, "mutates")
				live = append(live, o.take(mutates))
				log = append(log, fmt.Sprintf("take %v", mutates))
			} else { // also one that has not started: a dropped call
				i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				live[i].release()
				live[i].release()
				live = slices.Delete(live, i, i+1)
				log = append(log, fmt.Sprintf("release %d", i))
			}
			for i, k := range live {
				may := !slices.ContainsFunc(live[:i], func(before *ticket) bool { return k.mutates || before.mutates })
				var ready bool
				select {
				case <-k.ready:
					ready = true
				default:
				}
				if ready != may {
					t.Fatalf("%v: call %d ready %v, may start %v", log, i, ready, may)
				}
			}
		}
	})
}
