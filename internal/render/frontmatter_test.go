package render

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct{ name, head, body string }{
		{"plain", "---\nid: A-1\n---\n\n", "# B\n"},
		{"no blank line", "---\nid: A-1\n---\n", "# B\n"},
		{"two blank lines", "---\nid: A-1\n---\n\n", "\n# B\n"},
		{"crlf", "---\r\nid: A-1\r\n---\r\n\r\n", "# B\r\nlone lf\n"},
		{"bom", "\ufeff---\nid: A-1\n---\n", "x"},
		{"nothing behind", "---\nid: A-1\n---", ""},
		{"second block", "---\nid: A-1\n---\n\n", "---\nid: A-2\n---\n"},
		{"four dashes", "---\nid: A-1\n---\n", "----\n---\n"},
	} {
		d, err := Split([]byte(c.head + c.body))
		if err != nil || string(d.Head) != c.head || string(d.Body) != c.body {
			t.Errorf("%s: head %q body %q %v", c.name, d.Head, d.Body, err)
		}
	}
	for _, bad := range []string{"", "# x\n", " ---\n---\n", "--- \n---\n", "\n---\n---\n"} {
		if _, err := Split([]byte(bad)); !errors.Is(err, ErrNoFrontmatter) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	var pe *ParseError
	if _, err := Split([]byte("---\nid: A\n")); !errors.As(err, &pe) || pe.Line != 1 {
		t.Errorf("not closed: %v", err)
	}
}

// Text keys are what is spelled, never a type.
func TestParseText(t *testing.T) {
	f, err := Parse([]byte("---\nid: NOTE-031\ntitle: 2026-04-26\ncreated: 2026-04-26\nversion: 1.10\ncode: 007\nwake_up: 06:20\ncountry: no\nempty_value: ~\nn: null\nlong: 12345678901234567890\nquoted: 'it''s'\ndouble: \"a\\tb\"\nnothing:\nstatus: Draft                # one of: a\n---\n"))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"title": "2026-04-26", "version": "1.10", "code": "007", "wake_up": "06:20", "country": "no",
		"empty_value": "~", "n": "null", "long": "12345678901234567890", "quoted": "it's", "double": "a\tb", "status": "Draft"} {
		if got, ok := f.Text(key); !ok || got != want {
			t.Errorf("%s: %q %v", key, got, ok)
		}
	}
	if _, ok := f.Text("nothing"); ok {
		t.Error("a key without a value has a text")
	}
	if f.Line("title") != 3 || f.Line("nope") != 0 {
		t.Errorf("title in line %d", f.Line("title"))
	}
}

// The line named is the one to mend.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		lines string // from line 5
		want  int
	}{
		{"title: Console transcript: skip rows that don't move", 5},
		{"title: 'it's'", 5},
		{"title: @owner fix", 5},
		{"title: [WIP] x", 5},
		{"title: *star", 5},
		{"title: `tick`", 5},
		{"title: \"open", 5},
		{"title: \xff", 5},
		{"title: \x01", 5},
		{"title: a\rb: c", 5},
		{"title: a\u2028b", 5},
		{"\ttitle: x", 5},
		{"title: a\ntitle: b", 6},
		{"title: a\n\"title\": b", 6},
		{"tags:\n\t- x", 6},
		{"tags: [a,\n  b", 5},
		{"tags: [\n  a\n]\ntitle: 'it's'", 8},
		{"id: PRD-2", 5},
		{"title: x\n...", 6},
		{"title: x\n--- y", 6},
		{"? [a]\n: b", 5},
	} {
		var pe *ParseError
		_, err := Parse([]byte("---\nid: PRD-021\nkind: prd\nstatus: draft\n" + c.lines + "\ndepth: deep\n---\n"))
		if !errors.As(err, &pe) || pe.Line != c.want {
			t.Errorf("%q: %v, want line %d", c.lines, err, c.want)
		}
	}
	for _, bad := range []string{"", "---\n", "---\nid: x\n", "id: x\n---\n", "---\n- a\n---\n", "---\nword\n---\n"} {
		var pe *ParseError
		if _, err := Parse([]byte(bad)); !errors.As(err, &pe) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if f, err := Parse([]byte("---\n# nothing\n---\n")); err != nil || len(f.Keys()) != 0 {
		t.Errorf("an empty block: %v %v", f.Keys(), err)
	}
}

func TestSplitTooLarge(t *testing.T) {
	fits := "---\nx: " + strings.Repeat("y", MaxHead-12) + "\n---\n"
	if _, err := Split([]byte(fits)); err != nil || len(fits) != MaxHead {
		t.Errorf("%d bytes: %v", len(fits), err)
	}
	var pe *ParseError
	if _, err := Split([]byte("---\nz: 1\nx: " + strings.Repeat("y", MaxHead) + "\n---\n")); !errors.As(err, &pe) || pe.Line != 3 {
		t.Errorf("too large: %v", err)
	}
}

func TestParseLists(t *testing.T) {
	f, err := Parse([]byte("---\nblock:\n- a\n-   'b, c'\n-\n  d\nflow: [a, 007,\n  no]\nwords: a,  b ,c,\nnone: ~\nempty: []\nmap: {a: b}\nlinks:\n- target: RFC-001\n  relation: informs\n- {relation: based_on, target: ADR-2, note: x}\n- RFC-3\n- target: RFC-4\n- target: ' '\n  relation: x\nalias: &l [x]\nsame: *l\n---\n"))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string][]string{"block": {"a", "b, c", "d"}, "flow": {"a", "007", "no"}, "words": {"a", "b", "c"},
		"none": nil, "empty": nil, "map": nil, "absent": nil, "same": {"x"}} {
		if got := f.List(key); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	if got, want := f.Links(), []Link{{"RFC-001", "informs"}, {"ADR-2", "based_on"}}; !slices.Equal(got, want) {
		t.Errorf("links %v, want %v", got, want)
	}
	if _, ok := f.Text("flow"); ok {
		t.Error("a list has a text")
	}
	for key, want := range map[string]bool{"none": true, "empty": false, "words": false, "absent": false} {
		if f.Null(key) != want {
			t.Errorf("%s: null is %v", key, !want)
		}
	}
	if got := strings.Join(f.Keys(), " "); got != "block flow words none empty map links alias same" {
		t.Errorf("keys %s", got)
	}
	if f.Line("words") != 9 {
		t.Errorf("words in line %d", f.Line("words"))
	}
}

func TestRaw(t *testing.T) {
	f, err := Parse([]byte("---\nplain: 007  # c\n\"a:b\":\n  - 'x'\n  - y\nflow: ['a', b]\n---\n"))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"plain": "007", "a:b": "- 'x'\n  - y", "flow": "['a', b]"} {
		if got, ok := f.Raw(key); !ok || got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		d, err := Split(file)
		var pe *ParseError
		if err != nil {
			if !errors.Is(err, ErrNoFrontmatter) && (!errors.As(err, &pe) || pe.Line < 1) {
				t.Fatalf("%v", err)
			}
			return
		}
		if !bytes.Equal(slices.Concat(d.Head, d.Body), file) {
			t.Fatalf("head %q + body %q is not %q", d.Head, d.Body, file)
		}
		if again, err := Split(d.Head); err != nil || len(again.Body) > 0 {
			t.Fatalf("head %q is cut again: %v", d.Head, err)
		}
		front, err := Parse(d.Head)
		if err != nil {
			if !errors.As(err, &pe) || pe.Line < 1 || pe.Line > bytes.Count(d.Head, []byte("\n"))+1 {
				t.Fatalf("%q: %v", d.Head, err)
			}
			return
		}
		for _, k := range front.Keys() {
			if n := front.Line(k); n < 2 || n > bytes.Count(d.Head, []byte("\n")) {
				t.Fatalf("%q: key %q in line %d", d.Head, k, n)
			}
		}
	})
}
