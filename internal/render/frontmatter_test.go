package render

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
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

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		line string
		want int
	}{
		{"title: Console transcript: skip rows that don't move", 5}, {"title: @owner fix", 5}, {"title: [WIP] x", 5}, {"title: *star", 5},
		{"title: `tick`", 5}, {"\ttitle: x", 5}, {"title: a\ntitle: b", 6}, {"title: \xff", 5},
	} {
		var pe *ParseError
		_, err := Parse([]byte("---\nid: PRD-021\nkind: prd\nstatus: draft\n" + c.line + "\n---\n"))
		if !errors.As(err, &pe) || pe.Line < c.want-1 || pe.Line > c.want+1 {
			t.Errorf("%q: %v", c.line, err)
		}
	}
}

const spliced = `---
# a comment above
id: PRD-001   # the id
title: "Old: title"   # why it is called so
status: Draft                # one of: draft, active
tags:
- source=code   # from the code
# between
- layer=auth
links:
- target: RFC-001
  relation: informs
  note: kept
x-team-note: 007
long: |
  several
  lines

list: [a, b]   # flow

# at the end
---

`

func TestSplice(t *testing.T) {
	for _, c := range []struct {
		name string
		edit Edit
		old  string
		new  string
	}{
		{"quoted scalar", Edit{Key: "title", Text: `New "x"`, Quote: true}, `title: "Old: title"   # why`, `title: "New \"x\""   # why`},
		{"plain scalar", Edit{Key: "status", Text: "active"}, "status: Draft                # one", "status: active                # one"},
		{"add a tag", Edit{Key: "tags", Kind: List, List: []string{"source=code", "layer=auth", "new"}}, "- layer=auth\n", "- layer=auth\n- new\n"},
		{"drop a tag", Edit{Key: "tags", Kind: List, List: []string{"layer=auth"}}, "- source=code   # from the code\n# between\n", ""},
		{"add a link", Edit{Key: "links", Kind: LinkList, Links: []Link{{"RFC-001", "informs"}, {"ADR-002", "based_on"}}}, "  note: kept\n", "  note: kept\n- target: ADR-002\n  relation: based_on\n"},
		{"flow list", Edit{Key: "list", Kind: List, List: []string{"a", "no"}}, "list: [a, b]   # flow", `list: [a, "no"]   # flow`},
		{"remove", Edit{Key: "x-team-note", Kind: Remove}, "x-team-note: 007\n", ""},
		{"remove a block", Edit{Key: "long", Kind: Remove}, "long: |\n  several\n  lines\n\n", ""},
		{"several lines to one", Edit{Key: "long", Text: "short"}, "long: |\n  several\n  lines\n\n", "long: short\n"},
		{"new key", Edit{Key: "depth", Text: "deep"}, "# at the end\n", "# at the end\ndepth: deep\n"},
		{"new list", Edit{Key: "more", Kind: List, List: []string{"q"}}, "# at the end\n", "# at the end\nmore:\n  - q\n"},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			crlf := func(s string) string { return strings.ReplaceAll(s, "\n", end) }
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

// The artifacts of a real workspace are cut and read without loss.
func TestCorpus(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "corpus", "original-workspace")
	if _, err := os.Stat(root); err != nil {
		t.Skip("the corpus is not here")
	}
	n, without := 0, 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		n++
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		doc, err := Split(data)
		if errors.Is(err, ErrNoFrontmatter) {
			without++
			return nil
		}
		if err != nil || !bytes.Equal(slices.Concat(doc.Head, doc.Body), data) {
			t.Errorf("%s: %v", filepath.Base(path), err)
			return nil
		}
		f, err := Parse(doc.Head)
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
			return nil
		}
		id, ok := f.Text("id")
		if !ok || !strings.HasPrefix(filepath.Base(path), id) && !strings.Contains(path, "memory") {
			t.Errorf("%s: id %q", filepath.Base(path), id)
		}
		set, err := Splice(doc.Head, []Edit{{Key: "status", Text: "deprecated"}, {Key: "uid", Text: "01KQ4KPK88T7MHW00PF4WWPSMN"}})
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
		} else if diff := strings.Count(string(set), "\n") - strings.Count(string(doc.Head), "\n"); diff != 1 && diff != 2 {
			t.Errorf("%s: %d lines more", filepath.Base(path), diff)
		}
		return nil
	})
	if err != nil || n < 300 || without > 1 {
		t.Errorf("%d files, %d without frontmatter, %v", n, without, err)
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{spliced, "---\n---\n", "\ufeff---\r\nid: x\r\n---\r\n", "---\n- a\n---\n", "---\na: &x 1\nb: *x\n---\n", "---\n? k\n: v\n---\n"} {
		f.Add([]byte(s), "title", "text")
	}
	f.Fuzz(func(t *testing.T, file []byte, key, text string) {
		d, err := Split(file)
		if err != nil {
			return
		}
		if !bytes.Equal(slices.Concat(d.Head, d.Body), file) {
			t.Fatalf("head %q + body %q is not %q", d.Head, d.Body, file)
		}
		before, err := Parse(d.Head)
		if err != nil || key != "title" && key != "status" {
			return
		}
		head, err := Splice(d.Head, []Edit{{Key: key, Text: text, Quote: true}})
		if err != nil {
			return
		}
		after, err := Parse(head)
		if err != nil {
			t.Fatalf("%q became %q: %v", d.Head, head, err)
		}
		for _, k := range before.Keys() {
			was, _ := before.Text(k)
			if is, _ := after.Text(k); k != key && is != was {
				t.Fatalf("setting %s changed %s from %q to %q: %q → %q", key, k, was, is, d.Head, head)
			}
		}
	})
}
