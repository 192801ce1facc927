package artifact

import (
	"reflect"
	"slices"
	"testing"

	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"
)

func at(n byte, p event.Payload) event.Event {
	e := event.Event{ID: uid(n), Run: uid(n), Subject: uid(1), At: int64(n) * 1000, Data: p}
	if p != nil {
		e.Name, e.Version = p.EventName(), p.EventVersion()
	}
	return e
}

func TestFold(t *testing.T) {
	base := Artifact{
		UID: uid(1), ID: "PRD-001", Number: 1, Kind: "prd", Status: "draft", Title: "Auth", Depth: "standard", Tags: []string{"a", "b"},
		Author: "alice", CreatedAt: 1000, UpdatedAt: 1000, Version: 1, Run: uid(1), Body: BodyRef{Event: uid(1), Len: 3, SHA: hash(1)},
		Path: "prds/PRD-001-auth.md", Want: hash(2), Fields: []Field{{"owner", "core"}, {"priority", "P1"}},
	}
	created := Created{ID: "PRD-001", Number: 1, Kind: "prd", Status: "draft", Title: "Auth", Depth: "standard", Tags: []string{"a", "b"},
		Author: "alice", Body: BodyFacts{Len: 3, SHA: hash(1)}, Fields: []Field{{"owner", "core"}, {"priority", "P1"}},
		Source: Source{Path: "prds/PRD-001-auth.md", Head: []byte("---\n---\n\n"), Want: hash(2)}}
	got, ok := Fold(Artifact{}, at(1, created))
	if !ok || !reflect.DeepEqual(got, base) {
		t.Fatalf("created\n got %+v, %v\nwant %+v", got, ok, base)
	}

	for name, tt := range map[string]struct {
		p    event.Payload
		want func(*Artifact)
	}{
		"title":         {TitleChanged{Title: "Login", Was: "Auth"}, func(a *Artifact) { a.Title = "Login"; a.Set = []FieldVersion{{"title", 2}} }},
		"body":          {BodyChanged{Body: BodyFacts{Len: 9, SHA: hash(9)}, Was: base.Body}, func(a *Artifact) { a.Body = BodyRef{uid(5), 9, hash(9)}; a.Set = []FieldVersion{{"body", 2}} }},
		"depth":         {DepthChanged{Depth: "deep", Was: "standard"}, func(a *Artifact) { a.Depth = "deep"; a.Set = []FieldVersion{{"depth", 2}} }},
		"tagged":        {Tagged{Tags: []string{"c", "a"}}, func(a *Artifact) { a.Tags = []string{"a", "b", "c"}; a.Set = []FieldVersion{{"tags", 2}} }},
		"untagged":      {Untagged{Tags: []string{"a", "z"}}, func(a *Artifact) { a.Tags = []string{"b"}; a.Set = []FieldVersion{{"tags", 2}} }},
		"last tag":      {Untagged{Tags: []string{"a", "b"}}, func(a *Artifact) { a.Tags = nil; a.Set = []FieldVersion{{"tags", 2}} }},
		"validity":      {ValidityChanged{Until: "2027-01-01"}, func(a *Artifact) { a.ValidUntil = "2027-01-01"; a.Set = []FieldVersion{{"valid_until", 2}} }},
		"link":          {RelationAdded{Relation: "informs", Target: "ADR-1"}, func(a *Artifact) { a.Set = []FieldVersion{{"links", 2}} }},
		"unlink":        {RelationRemoved{Relation: "informs", Target: "ADR-1"}, func(a *Artifact) { a.Set = []FieldVersion{{"links", 2}} }},
		"source":        {SourceChanged{Source: Source{Path: "p.md", Want: hash(7)}}, func(a *Artifact) { a.Path, a.Want = "p.md", hash(7) }},
		"an unread one": {nil, func(a *Artifact) { a.Unknown = 1 }},
		"author gone, keys changed": {FieldsChanged{Fields: []FieldChange{
			{Key: "author", Value: "ignored", Was: "alice", WasSet: true}, {Key: "parent_epic", Value: "EPIC-001", Set: true},
			{Key: "priority", Value: "P2", Set: true}, {Key: "owner", WasSet: true}, {Key: "new", Set: true}, {Key: "never", WasSet: true},
		}}, func(a *Artifact) {
			a.Author, a.ParentEpic, a.Fields = "", "EPIC-001", []Field{{"priority", "P2"}, {"new", ""}}
			a.Set = []FieldVersion{{"author", 2}, {"parent_epic", 2}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			want := base
			want.Version, want.UpdatedAt, want.Run = 2, 5000, uid(5)
			tt.want(&want)
			if got, ok := Fold(base, at(5, tt.p)); !ok || !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, ok, want)
			}
			if again, _ := Fold(Artifact{}, at(1, created)); !reflect.DeepEqual(again, base) {
				t.Errorf("the fold wrote to the slices of what it folded: %+v", base)
			}
			if !slices.Equal(base.Tags, []string{"a", "b"}) || base.Fields[1].Value != "P1" {
				t.Errorf("the fold wrote to the slices of its input: %+v", base)
			}
		})
	}
}

func TestFoldKeepsTheFilesTime(t *testing.T) {
	a, _ := Fold(Artifact{}, at(9, Created{ID: "PRD-001", CreatedAt: 5}))
	if a.CreatedAt != 5 || a.UpdatedAt != 9000 {
		t.Errorf("created %d, updated %d; want 5, 9000", a.CreatedAt, a.UpdatedAt)
	}
}

func TestFoldPassesBy(t *testing.T) {
	a, _ := Fold(Artifact{}, at(1, Created{ID: "PRD-001"}))
	other := at(2, TitleChanged{Title: "x"})
	other.Subject = uid(2)
	if got, ok := Fold(a, other); !ok || !reflect.DeepEqual(got, a) {
		t.Errorf("an event about another artifact: %+v, %v", got, ok)
	}
	other.Subject = ulid.ULID{}
	if got, ok := Fold(a, other); !ok || !reflect.DeepEqual(got, a) {
		t.Errorf("an event about nothing: %+v, %v", got, ok)
	}
	for _, p := range []event.Payload{TitleChanged{Title: "x"}, nil} {
		if got, ok := Fold(Artifact{}, at(2, p)); ok || !reflect.DeepEqual(got, Artifact{}) {
			t.Errorf("%T without a creation: %+v, %v", p, got, ok)
		}
	}
}

func TestSetRemembersTheLastVersion(t *testing.T) {
	a := Artifact{}
	for i, p := range []event.Payload{Created{ID: "PRD-001"}, TitleChanged{Title: "b"}, DepthChanged{Depth: "deep"}, SourceChanged{}, TitleChanged{Title: "c"}} {
		a, _ = Fold(a, at(byte(i+1), p))
	}
	if want := []FieldVersion{{"title", 5}, {"depth", 3}}; a.Version != 5 || !slices.Equal(a.Set, want) {
		t.Errorf("version %d, set %v; want 5, %v", a.Version, a.Set, want)
	}
}

func TestChanges(t *testing.T) {
	for _, tt := range []struct {
		p    event.Payload
		want []string
	}{
		{TitleChanged{}, []string{"title"}},
		{BodyChanged{}, []string{"body"}},
		{DepthChanged{}, []string{"depth"}},
		{Tagged{}, []string{"tags"}},
		{Untagged{}, []string{"tags"}},
		{ValidityChanged{}, []string{"valid_until"}},
		{RelationAdded{}, []string{"links"}},
		{RelationRemoved{}, []string{"links"}},
		{SourceChanged{}, nil},
		{FieldsChanged{Fields: []FieldChange{{Key: "owner"}, {Key: "author"}, {Key: "author"}}}, []string{"author"}},
		{event.Call{}, nil},
		{nil, nil},
	} {
		if got := Changes(tt.p); !slices.Equal(got, tt.want) {
			t.Errorf("%T: got %v, want %v", tt.p, got, tt.want)
		}
	}
}

// Whatever the journal says, folding neither panics nor forgets to count.
func TestFoldIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload := rapid.OneOf(
			rapid.Map(rapid.Make[Created](), toPayload[Created]), rapid.Map(rapid.Make[FieldsChanged](), toPayload[FieldsChanged]),
			rapid.Map(rapid.Make[Tagged](), toPayload[Tagged]), rapid.Map(rapid.Make[Untagged](), toPayload[Untagged]),
			rapid.Map(rapid.Make[BodyChanged](), toPayload[BodyChanged]), rapid.Just[event.Payload](nil),
		)
		a, _ := Fold(Artifact{}, at(1, Created{}))
		for i, p := range rapid.SliceOfN(payload, 0, 12).Draw(t, "payloads") {
			next, ok := Fold(a, at(byte(i+2), p))
			if !ok || next.Version != a.Version+1 || next.UID != a.UID || next.UpdatedAt != int64(i+2)*1000 {
				t.Fatalf("%T took %+v to %+v", p, a, next)
			}
			a = next
		}
	})
}

func toPayload[T event.Payload](v T) event.Payload { return v }

// Two folds from one value must not see each other, not even in the room that
// is left behind a slice.
func TestFoldWritesToNothingShared(t *testing.T) {
	room := func() Artifact {
		return Artifact{UID: uid(1), Version: 7, Tags: append(make([]string, 0, 8), "a"), Fields: append(make([]Field, 0, 8), Field{"x1", "1"}),
			Set: append(make([]FieldVersion, 0, 8), FieldVersion{"title", 2}, FieldVersion{"tags", 3})}
	}
	whole := func(a Artifact) Artifact {
		a.Tags, a.Fields, a.Set = a.Tags[:8], a.Fields[:8], a.Set[:8]
		return a
	}
	for _, p := range append(samples(), FieldsChanged{[]FieldChange{{Key: "x1", Value: "2", Set: true}, {Key: "x2", Set: true}}}) {
		a := room()
		Fold(a, at(2, p))
		if !reflect.DeepEqual(whole(a), whole(room())) {
			t.Errorf("%T wrote to what it folded: %+v", p, whole(a))
		}
	}
}
