package artifact

import (
	"reflect"
	"slices"
	"testing"

	"forgeplan/internal/event"

	"pgregory.net/rapid"
)

var decided = Artifact{
	UID: uid(1), ID: "PRD-001", Title: "Auth", Depth: "standard", Tags: []string{"ui", "Old Tag"}, Author: "alice", ValidUntil: "2026-01-01",
	Body: BodyRef{Event: uid(1), Len: 3, SHA: hash(1)}, Fields: []Field{{"owner", "core"}, {"empty", ""}}, Version: 1,
}

func TestDecide(t *testing.T) {
	a := decided
	for name, tt := range map[string]struct {
		got  []event.Payload
		want []event.Payload
	}{
		"same title":          {a.Retitle("Auth"), nil},
		"title":               {a.Retitle("auth"), []event.Payload{TitleChanged{Title: "auth", Was: "Auth"}}},
		"same body":           {a.Rebody(3, hash(1)), nil},
		"body":                {a.Rebody(4, hash(2)), []event.Payload{BodyChanged{Body: BodyFacts{4, hash(2)}, Was: a.Body}}},
		"same depth":          {a.SetDepth("standard"), nil},
		"depth":               {a.SetDepth("deep"), []event.Payload{DepthChanged{Depth: "deep", Was: "standard"}}},
		"known tags":          {a.AddTags([]string{"ui", "UI", "old tag", ""}), nil},
		"a tag twice":         {a.AddTags([]string{"new", "ui", "NEW"}), []event.Payload{Tagged{Tags: []string{"new"}}}},
		"remove":              {a.RemoveTags([]string{"Old Tag", "UI", "none"}), []event.Payload{Untagged{Tags: []string{"Old Tag"}}}},
		"remove none":         {a.RemoveTags([]string{"none"}), nil},
		"set same tags":       {a.SetTags([]string{"old tag", "UI"}), nil},
		"set tags":            {a.SetTags([]string{"new", "ui"}), []event.Payload{Untagged{Tags: []string{"Old Tag"}}, Tagged{Tags: []string{"new"}}}},
		"set no tags":         {a.SetTags(nil), []event.Payload{Untagged{Tags: []string{"ui", "Old Tag"}}}},
		"same date":           {a.SetValidity("2026-01-01"), nil},
		"date":                {a.SetValidity("2027-01-01"), []event.Payload{ValidityChanged{Until: "2027-01-01", Was: "2026-01-01"}}},
		"no date":             {a.SetValidity(""), []event.Payload{ValidityChanged{Was: "2026-01-01"}}},
		"same author":         {a.SetField("author", "alice"), nil},
		"no author":           {a.SetField("author", ""), []event.Payload{FieldsChanged{[]FieldChange{{Key: "author", Was: "alice", WasSet: true}}}}},
		"an epic":             {a.SetField("parent_epic", "EPIC-001"), []event.Payload{FieldsChanged{[]FieldChange{{Key: "parent_epic", Value: "EPIC-001", Set: true}}}}},
		"still no epic":       {a.SetField("parent_epic", ""), nil},
		"same key":            {a.SetField("owner", "core"), nil},
		"key":                 {a.SetField("owner", "web"), []event.Payload{FieldsChanged{[]FieldChange{{Key: "owner", Value: "web", Set: true, Was: "core", WasSet: true}}}}},
		"a new empty key":     {a.SetField("new", ""), []event.Payload{FieldsChanged{[]FieldChange{{Key: "new", Set: true}}}}},
		"key to empty":        {a.SetField("owner", ""), []event.Payload{FieldsChanged{[]FieldChange{{Key: "owner", Set: true, Was: "core", WasSet: true}}}}},
		"clear":               {a.ClearField("owner"), []event.Payload{FieldsChanged{[]FieldChange{{Key: "owner", Was: "core", WasSet: true}}}}},
		"clear an empty key":  {a.ClearField("empty"), []event.Payload{FieldsChanged{[]FieldChange{{Key: "empty", WasSet: true}}}}},
		"clear a missing key": {a.ClearField("none"), nil},
	} {
		if len(tt.got) != len(tt.want) || len(tt.got) > 0 && !reflect.DeepEqual(tt.got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", name, tt.got, tt.want)
		}
	}
}

// What was decided, once folded, is so: deciding it again comes to nothing.
func TestDecideThenFold(t *testing.T) {
	word := rapid.SampledFrom([]string{"", "a", "A", "b", "c=d", "Old Tag"})
	decide := map[string]func(a Artifact, words []string) []event.Payload{
		"title":    func(a Artifact, w []string) []event.Payload { return a.Retitle(w[0]) },
		"body":     func(a Artifact, w []string) []event.Payload { return a.Rebody(int64(len(w)), hash(byte(len(w[0])))) },
		"depth":    func(a Artifact, w []string) []event.Payload { return a.SetDepth(w[0]) },
		"add":      func(a Artifact, w []string) []event.Payload { return a.AddTags(w) },
		"remove":   func(a Artifact, w []string) []event.Payload { return a.RemoveTags(w) },
		"tags":     func(a Artifact, w []string) []event.Payload { return a.SetTags(w) },
		"validity": func(a Artifact, w []string) []event.Payload { return a.SetValidity(w[0]) },
		"author":   func(a Artifact, w []string) []event.Payload { return a.SetField("author", w[0]) },
		"epic":     func(a Artifact, w []string) []event.Payload { return a.SetField("parent_epic", w[0]) },
		"key":      func(a Artifact, w []string) []event.Payload { return a.SetField("x"+w[0], w[len(w)-1]) },
		"clear":    func(a Artifact, w []string) []event.Payload { return a.ClearField("x" + w[0]) },
	}
	var names []string
	for name := range decide {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		a, n := decided, byte(2)
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			what := rapid.SampledFrom(names).Draw(t, "what")
			words := rapid.SliceOfN(word, 1, 4).Draw(t, "words")
			for _, p := range decide[what](a, words) {
				a, _ = Fold(a, at(n, p))
				n++
			}
			if again := decide[what](a, words); len(again) > 0 {
				t.Fatalf("%s %q, done, comes to %+v", what, words, again)
			}
		}
	})
}
