package render

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

const spliced = `---
# a comment above
id: PRD-001   # the id
title: "Old: title #1"   # why it is called so
status: Draft                # one of: draft, active
tags:
- source=code   # from the code
# between
- layer=auth
# below
links:
- target: RFC-001
  relation: Based-On   # as spelled
  note: kept
- RFC-009   # no link at all
x-team-note: 007
long: |
  several
  # lines

list: [a, "b # c"]   # flow
words: a, b   # words
wide: [
  a, # one
  b
]
none:   # nothing yet
'quoted key': it's   # here
deep:
  # inside
  -
    x
  - y

# at the end
---

`

// seeds are blocks of every shape.
var seeds = []string{
	spliced, strings.ReplaceAll(spliced, "\n", "\r\n"), "---\n---\n", "\ufeff---\r\nid: x\r\n---\r\n", "---\n- a\n---\n", "---\na: &x 1\nb: *x\n---\n",
	"---\n? k\n: v\n---\n", "---\n{title: a, b: c}\n---\n", "---\n  title: a\n  tags: [x]\n---", "---\ntitle: |+\n  a\n\n\ntags:\n- |\n  b\n---\n\nbody",
	"---\ntitle: !!str a # c\ntags: !x [a, 'it''s #1']\n---\n", "---\ntags: &t\n- a\nlist: *t\n---\n", "---\ntags:\n- - a\n- {b: c}\n- 'd\n\n  e'\n---\n",
	"---\ntitle:\n  below\n  # c\nstatus: x\n---\n---\nid: other\n---\n",
}

func TestSplice(t *testing.T) {
	for _, c := range []struct {
		name string
		edit Edit
		old  string
		new  string
	}{
		{"quoted scalar", Edit{Key: "title", Text: `New "x"`, Quote: true}, `title: "Old: title #1"   # why`, `title: "New \"x\""   # why`},
		{"plain scalar", Edit{Key: "status", Text: "active"}, "status: Draft                # one", "status: active                # one"},
		{"the same again", Edit{Key: "x-team-note", Text: "007", Quote: true}, "", ""},
		{"words where none should be", Edit{Key: "status", Text: "no: # x"}, "status: Draft                # one", "status: \"no: # x\"                # one"},
		{"value before a comment", Edit{Key: "none", Text: "some"}, "none:   # nothing", "none: some   # nothing"},
		{"quoted key", Edit{Key: "quoted key", Text: "x"}, "'quoted key': it's   # here", "'quoted key': x   # here"},
		{"add a tag", Edit{Key: "tags", Kind: List, List: []string{"source=code", "layer=auth", "new"}}, "- layer=auth\n", "- layer=auth\n- new\n"},
		{"drop a tag", Edit{Key: "tags", Kind: List, List: []string{"layer=auth"}}, "- source=code   # from the code\n", ""},
		{"drop the last tag", Edit{Key: "tags", Kind: List, List: []string{"source=code"}}, "- layer=auth\n", ""},
		{"swap tags", Edit{Key: "tags", Kind: List, List: []string{"layer=auth", "source=code"}},
			"- source=code   # from the code\n# between\n- layer=auth\n", "# between\n- layer=auth\n- source=code   # from the code\n"},
		{"a dash on its own line", Edit{Key: "deep", Kind: List, List: []string{"y", "z"}}, "  -\n    x\n  - y\n", "  - y\n  - z\n"},
		{"no tag left", Edit{Key: "tags", Kind: List}, "tags:\n- source=code   # from the code\n# between\n- layer=auth\n", "tags: []\n"},
		{"add a link", Edit{Key: "links", Kind: LinkList, Links: []Link{{"RFC-001", "based_on"}, {"ADR-002", "informs"}}},
			"- RFC-009   # no link at all\n", "- target: ADR-002\n  relation: informs\n- RFC-009   # no link at all\n"},
		{"other links", Edit{Key: "links", Kind: LinkList, Links: []Link{{"ADR-002", "informs"}}},
			"- target: RFC-001\n  relation: Based-On   # as spelled\n  note: kept\n", "- target: ADR-002\n  relation: informs\n"},
		{"flow list", Edit{Key: "list", Kind: List, List: []string{"a", "no"}}, `list: [a, "b # c"]   # flow`, `list: [a, "no"]   # flow`},
		{"words", Edit{Key: "words", Kind: List, List: []string{"a", "b", "c"}}, "words: a, b   #", "words: a, b, c   #"},
		{"words that need quotes", Edit{Key: "words", Kind: List, List: []string{"a", "b: c"}}, "words: a, b   #", "words: \"a, b: c\"   #"},
		{"a word with a comma", Edit{Key: "words", Kind: List, List: []string{"a", "b,c"}}, "words: a, b   #", "words: [a, \"b,c\"]   #"},
		{"flow over lines", Edit{Key: "wide", Kind: List, List: []string{"b"}}, "wide: [\n  a, # one\n  b\n]\n", "wide: [b]\n"},
		{"list where nothing was", Edit{Key: "none", Kind: List, List: []string{"a"}}, "none:   # nothing yet\n", "none:   # nothing yet\n  - a\n"},
		{"flow links", Edit{Key: "list", Kind: LinkList, Links: []Link{{"RFC-1", "informs"}}}, `list: [a, "b # c"]`, "list: [{target: RFC-1, relation: informs}]"},
		{"remove", Edit{Key: "x-team-note", Kind: Remove}, "x-team-note: 007\n", ""},
		{"remove a block", Edit{Key: "long", Kind: Remove}, "long: |\n  several\n  # lines\n", ""},
		{"remove a list", Edit{Key: "tags", Kind: Remove}, "tags:\n- source=code   # from the code\n# between\n- layer=auth\n", ""},
		{"remove what is not there", Edit{Key: "nope", Kind: Remove}, "", ""},
		{"several lines to one", Edit{Key: "long", Text: "short"}, "long: |\n  several\n  # lines\n", "long: short\n"},
		{"list to scalar", Edit{Key: "wide", Text: "short"}, "wide: [\n  a, # one\n  b\n]\n", "wide: short\n"},
		{"new key", Edit{Key: "uid", Text: "01KQ4KPK88T7MHW00PF4WWPSMN"}, "# at the end\n", "# at the end\nuid: 01KQ4KPK88T7MHW00PF4WWPSMN\n"},
		{"new odd key", Edit{Key: "a: b", Text: "x"}, "# at the end\n", "# at the end\n\"a: b\": x\n"},
		{"new list", Edit{Key: "more", Kind: List, List: []string{"q"}}, "# at the end\n", "# at the end\nmore:\n  - q\n"},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			crlf := func(s string) string { return strings.ReplaceAll(s, "\n", end) }
			if !strings.Contains(spliced, c.old) {
				t.Fatalf("%s: %q is not there", c.name, c.old)
			}
			got, err := Splice([]byte("\ufeff"+crlf(spliced)), []Edit{c.edit})
			want := "\ufeff" + crlf(strings.Replace(spliced, c.old, c.new, 1))
			if err != nil || string(got) != want {
				t.Errorf("%s: %v\ngot  %q\nwant %q", c.name, err, got, want)
				continue
			}
			again, err := Splice(got, []Edit{c.edit})
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("%s: not idempotent: %q %v", c.name, again, err)
			}
		}
	}
}

func TestSpliceShapes(t *testing.T) {
	for _, c := range []struct {
		name, head string
		edit       Edit
		want       string // "": a *ParseError
	}{
		{"empty block", "---\n---\n", Edit{Key: "id", Text: "A-1"}, "---\nid: A-1\n---\n"},
		{"no line end at the close", "---\nid: x\n---", Edit{Key: "id", Text: "A-1"}, "---\nid: A-1\n---"},
		{"indented block", "---\n  id: x\n---\n", Edit{Key: "tags", Kind: List, List: []string{"a"}}, "---\n  id: x\n  tags:\n  - a\n---\n"},
		{"value below", "---\ntitle:   # c\n  below\nid: x\n---\n", Edit{Key: "title", Text: "t"}, "---\ntitle: t   # c\nid: x\n---\n"},
		{"tag before the value", "---\ntitle: !!str 'a # b'  # c\n---\n", Edit{Key: "title", Text: "t"}, "---\ntitle: t  # c\n---\n"},
		{"apostrophe", "---\ntitle: don't # c's\n---\n", Edit{Key: "title", Text: "t"}, "---\ntitle: t # c's\n---\n"},
		{"two apostrophes", "---\ntitle: 'it''s # x' # c\n---\n", Edit{Key: "title", Text: "t"}, "---\ntitle: t # c\n---\n"},
		{"mark of no comment", "---\ntitle: a#b # c\n---\n", Edit{Key: "title", Text: "t"}, "---\ntitle: t # c\n---\n"},
		{"comment below, indented", "---\ntitle: a # c\n  # d\nid: x\n---\n", Edit{Key: "title", Text: "t"}, "---\ntitle: t # c\n  # d\nid: x\n---\n"},
		{"comment behind a text", "---\ntext: |\n  a\n# of id\nid: x\n---\n", Edit{Key: "text", Kind: Remove}, "---\n# of id\nid: x\n---\n"},
		{"twice the same tag", "---\ntags:\n- a\n- a # 2\n---\n", Edit{Key: "tags", Kind: List, List: []string{"a", "b"}}, "---\ntags:\n- a\n- a # 2\n- b\n---\n"},
		{"twice, apart", "---\ntags:\n- a\n- c\n- a\n---\n", Edit{Key: "tags", Kind: List, List: []string{"x", "a", "y", "c", "z", "x"}}, "---\ntags:\n- x\n- a\n- \"y\"\n- c\n- a\n- z\n---\n"},
		{"a text as a tag", "---\ntags:\n- |-\n  a\n  # b\n- c\n---\n", Edit{Key: "tags", Kind: List, List: []string{"c"}}, "---\ntags:\n- c\n---\n"},
		{"alias is cut", "---\nx: &a [q]\ntags: *a\n---\n", Edit{Key: "tags", Kind: List, List: []string{"b"}}, "---\nx: &a [q]\ntags: [b]\n---\n"},
		{"mixed line ends", "---\r\nid: x\ntitle: a\r\n---\n", Edit{Key: "id", Text: "z"}, "---\r\nid: z\ntitle: a\r\n---\n"},
		{"anchor in use", "---\nx: &a q\ny: *a\n---\n", Edit{Key: "x", Text: "b"}, ""},
		{"braces", "---\n{id: x}\n---\n", Edit{Key: "id", Text: "y"}, ""},
		{"braces, new key", "---\n{id: x}\n---\n", Edit{Key: "b", Text: "y"}, ""},
		{"question mark", "---\n? id\n: x\n---\n", Edit{Key: "id", Text: "y"}, ""},
		{"not UTF-8", "---\nid: x\n---\n", Edit{Key: "id", Text: "\xff", Quote: true}, ""},
		{"broken block", "---\nid: 'x\n---\n", Edit{Key: "id", Text: "y"}, ""},
	} {
		got, err := Splice([]byte(c.head), []Edit{c.edit})
		var pe *ParseError
		if c.want == "" && !errors.As(err, &pe) || c.want != "" && (err != nil || string(got) != c.want) {
			t.Errorf("%s: %q %v, want %q", c.name, got, err, c.want)
		}
	}
}

// All edits of a call are made or none.
func TestSpliceMany(t *testing.T) {
	head := []byte("---\nid: A-1\ntags: [a]\nold: 1\n---\n\n")
	got, err := Splice(head, []Edit{{Key: "old", Kind: Remove}, {Key: "tags", Kind: List, List: []string{"a", "b"}}, {Key: "uid", Text: "U"}, {Key: "uid", Text: "V"}})
	if want := "---\nid: A-1\ntags: [a, b]\nuid: V\n---\n\n"; err != nil || string(got) != want {
		t.Errorf("%q %v, want %q", got, err, want)
	}
	if string(head) != "---\nid: A-1\ntags: [a]\nold: 1\n---\n\n" {
		t.Errorf("the old head was changed: %q", head)
	}
}

// Whatever is composed or set is read back as it was.
func TestRoundTrip(t *testing.T) {
	text := rapid.StringMatching(`[ -~а-яё日🚀"\\:#'{}\[\]]{1,40}`)
	rapid.Check(t, func(rt *rapid.T) {
		title, other := text.Draw(rt, "title"), text.Draw(rt, "other")
		tags := rapid.SliceOfDistinct(rapid.StringMatching(`[a-z0-9=._-]{1,8}`), func(s string) string { return s }).Draw(rt, "tags")
		head := Compose(Fields{ID: "PRD-001", UID: "01KQ4KPK88T7MHW00PF4WWPSMN", Kind: "prd", Status: "draft", Title: title, Depth: "deep", Author: other, Tags: tags})
		check := func(head []byte, title string) {
			f, err := Parse(head)
			if err != nil {
				rt.Fatalf("%v in %q", err, head)
			}
			if got, _ := f.Text("title"); got != title {
				rt.Fatalf("title %q became %q in %q", title, got, head)
			}
			if got := f.List("tags"); !slices.Equal(got, tags) && len(tags) > 0 {
				rt.Fatalf("tags %q became %q in %q", tags, got, head)
			}
			d, err := Split(append(slices.Clone(head), "---\nbody"...))
			if err != nil || !bytes.Equal(d.Head, head) {
				rt.Fatalf("head is cut at %q: %v", d.Head, err)
			}
		}
		check(head, title)
		changed, err := Splice(head, []Edit{{Key: "title", Text: other, Quote: true}})
		if err != nil {
			rt.Fatal(err)
		}
		check(changed, other)
		if a, b := strings.Count(string(head), "\n"), strings.Count(string(changed), "\n"); a != b {
			rt.Fatalf("%d lines became %d", a, b)
		}
	})
}

// Random edits on blocks of every shape: what comes out reads as asked, the
// lines of other keys are there unchanged and in order.
func TestSpliceAny(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b", "layer=auth", "source=code", "no", "x # y", "it's", "q,r", `"`, "- z", "Ж"})
	rapid.Check(t, func(rt *rapid.T) {
		head := []byte(rapid.SampledFrom(seeds).Draw(rt, "head"))
		d, err := Split(head)
		if err != nil {
			return
		}
		for range 3 {
			e := Edit{Key: rapid.SampledFrom([]string{"title", "status", "tags", "list", "words", "wide", "none", "deep", "long", "links", "new"}).Draw(rt, "key"),
				Kind: EditKind(rapid.IntRange(0, 3).Draw(rt, "kind")), Text: word.Draw(rt, "text"), Quote: rapid.Bool().Draw(rt, "quote"),
				List: rapid.SliceOfN(word, 0, 4).Draw(rt, "list")}
			for _, w := range rapid.SliceOfN(word, 0, 3).Draw(rt, "targets") {
				e.Links = append(e.Links, Link{w, "informs"})
			}
			d.Head = spliceOne(rt, d.Head, e)
		}
	})
}

// failer is what *testing.T and *rapid.T share.
type failer interface{ Fatalf(string, ...any) }

// spliceOne makes one edit and checks what must hold of every edit.
func spliceOne(t failer, head []byte, e Edit) []byte {
	before, err := Parse(head)
	if err != nil {
		return head
	}
	got, err := Splice(head, []Edit{e})
	if err != nil {
		return head
	}
	after, err := Parse(got)
	if err != nil {
		t.Fatalf("%q became %q: %v", head, got, err)
	}
	if d, err := Split(got); err != nil || len(d.Body) > 0 {
		t.Fatalf("%q became %q, cut at %q", head, got, d.Head)
	}
	if again, err := Splice(got, []Edit{e}); err != nil || !bytes.Equal(again, got) {
		t.Fatalf("%q became %q, then %q: %v", head, got, again, err)
	}
	switch e.Kind {
	case Remove:
		if after.Line(e.Key) != 0 {
			t.Fatalf("%s is still in %q", e.Key, got)
		}
	case Scalar:
		if text, ok := after.Text(e.Key); !ok || text != e.Text {
			t.Fatalf("%s is %q in %q, want %q", e.Key, text, got, e.Text)
		}
	case List:
		for _, w := range e.List {
			if w != "" && !slices.Contains(after.List(e.Key), w) {
				t.Fatalf("%s lacks %q in %q", e.Key, w, got)
			}
		}
	}
	// Outside the key's own lines all is as it was.
	var pre, post string
	if k, ok := before.find(e.Key); ok {
		pre, post = strings.Join(before.lines[:k.from], ""), strings.Join(before.lines[k.to:], "")
	} else {
		at := before.closing()
		pre, post = strings.Join(before.lines[:at], ""), strings.Join(before.lines[at:], "")
	}
	if !strings.HasPrefix(string(got), pre) || !strings.HasSuffix(string(got), post) {
		t.Fatalf("setting %s touched other lines: %q became %q", e.Key, head, got)
	}
	return got
}

func FuzzSplice(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), "title", "text", uint8(0), true)
		f.Add([]byte(s), "tags", "a\nno", uint8(1), false)
		f.Add([]byte(s), "links", "RFC-1\nADR 2", uint8(2), false)
		f.Add([]byte(s), "list", "", uint8(3), false)
	}
	f.Fuzz(func(t *testing.T, file []byte, key, text string, kind uint8, quote bool) {
		d, err := Split(file)
		if err != nil || !utf8.ValidString(key) {
			return
		}
		e := Edit{Key: key, Kind: EditKind(kind % 4), Text: text, Quote: quote, List: strings.Split(text, "\n")}
		for _, l := range e.List {
			e.Links = append(e.Links, Link{l, "informs"})
		}
		spliceOne(t, d.Head, e)
	})
}
