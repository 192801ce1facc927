package artifact

import (
	"testing"

	"forgeplan/internal/event"
	"forgeplan/internal/event/eventtest"

	"github.com/oklog/ulid/v2"
)

func TestGolden(t *testing.T) {
	eventtest.Golden(t, "../event/testdata", Events, samples()...)
}

// samples has one of each event, with something in every field.
func samples() []event.Payload {
	source := Source{Path: "prds/PRD-042-вход.md", Head: []byte("\ufeff---\r\nid: PRD-042 # ours\r\n---\r\n\r\n"), Want: hash(3)}
	return []event.Payload{
		Created{
			ID: "PRD-042", Number: 42, Kind: "prd", Status: "draft", Title: "Вход в систему 🔑", Depth: "standard", Author: "alice",
			ParentEpic: "EPIC-001", ValidUntil: "2026-12-31", Tags: []string{"security", "source=code"}, CreatedAt: 1777190400123456789,
			Fields: []Field{{Key: "priority", Value: "P1"}, {Key: "owner", Value: "core team"}},
			Body:   BodyFacts{Len: 70000, SHA: hash(2)}, Source: source,
		},
		TitleChanged{Title: "Auth system", Was: "Auth"},
		BodyChanged{Body: BodyFacts{Len: 300, SHA: hash(4)}, Was: BodyRef{Event: uid(1), Len: 70000, SHA: hash(2)}},
		DepthChanged{Depth: "deep", Was: "standard"},
		Tagged{Tags: []string{"security", "вход"}},
		Untagged{Tags: []string{"Old Tag"}},
		ValidityChanged{Until: "2027-01-01T00:00:00Z", Was: "2026-12-31"},
		FieldsChanged{Fields: []FieldChange{{Key: "author", Value: "bob", Set: true, Was: "alice", WasSet: true}}},
		SourceChanged{Source: source, Was: "prds/PRD-042-auth.md"},
		RelationAdded{Relation: "based_on", Target: "adr-7", TargetUID: uid(9)},
		RelationRemoved{Relation: "based_on", Target: "adr-7", TargetUID: uid(9)},
	}
}

func uid(n byte) ulid.ULID { return ulid.ULID{0: 0x01, 1: 0x9d, 2: 0xc7, 15: n} }

func hash(n byte) (h [32]byte) {
	for i := range h {
		h[i] = n
	}
	return h
}

func TestSamplesAreComplete(t *testing.T) {
	have := map[string]bool{}
	for _, s := range samples() {
		have[s.EventName()] = true
	}
	for _, k := range Events {
		if !have[k.Name] {
			t.Errorf("no sample of %s", k.Name)
		}
	}
	if _, err := event.NewCatalog(event.Events, Events); err != nil {
		t.Error(err)
	}
}
