package render

import (
	"testing"
)

func TestCompose(t *testing.T) {
	got := string(Compose(Fields{ID: "PRD-001", UID: "01KQ4KPK88T7MHW00PF4WWPSMN", Kind: "prd", Status: "draft", Title: `Привет 🚀 𝒳 café <a> & "b" \1`,
		Depth: "deep", Author: "no", ParentEpic: "EPIC-001", ValidUntil: "2026-04-26T10:14:22-04:00", Tags: []string{"layer=auth", "a: b", "no"},
		Created: "2026-04-26T10:14:22.001Z", Links: []Link{{"RFC-001", "informs"}}}))
	want := `---
id: PRD-001
uid: 01KQ4KPK88T7MHW00PF4WWPSMN
kind: prd
status: draft
title: "Привет 🚀 𝒳 café <a> & \"b\" \\1"
depth: deep
author: "no"
parent_epic: EPIC-001
valid_until: 2026-04-26T10:14:22-04:00
tags:
  - layer=auth
  - "a: b"
  - "no"
created: 2026-04-26T10:14:22.001Z
links:
  - target: RFC-001
    relation: informs
---

`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := string(Compose(Fields{ID: "A-1", Title: "x"})), "---\nid: A-1\ntitle: \"x\"\n---\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What YAML reads otherwise or not at all is written as an escape.
func TestQuote(t *testing.T) {
	for s, want := range map[string]string{"": `""`, "a\nb\tc": `"a\nb\tc"`, "\u2028\u0085\x7f\ufeff\ufffe": `"\u2028\u0085\u007f\ufeff\ufffe"`, "𝒳\u00a0é": "\"𝒳\u00a0é\""} {
		got := Quote(s)
		if got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
		f, err := Parse([]byte("---\nt: " + got + "\n---\n"))
		if back, _ := f.Text("t"); err != nil || back != s {
			t.Errorf("%s reads as %q: %v", got, back, err)
		}
	}
}

func TestClosed(t *testing.T) {
	for head, want := range map[string]string{"---\nid: x\n---": "---\nid: x\n---\n", "---\r\nid: x\r\n---": "---\r\nid: x\r\n---\r\n", "---\n---\n": "---\n---\n", "---\n---\n\n": "---\n---\n\n"} {
		if got := string(Closed([]byte(head))); got != want {
			t.Errorf("%q: %q", head, got)
		}
	}
}
