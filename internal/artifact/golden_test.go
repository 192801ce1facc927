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
	before := Before{ID: "PRD-042", Title: "Вход", Status: "active", ValidUntil: "2026-12-31", UpdatedAt: 1777190400123456789, Fields: []Field{{Key: "deprecated_reason", Value: "old"}}}
	state := State{
		ID: "PRD-042", Number: 42, Kind: "prd", Status: "active", Title: "Вход", Depth: "deep", Author: "alice", ParentEpic: "EPIC-001", ValidUntil: "2026-12-31",
		Tags: []string{"security"}, CreatedAt: 1777190400123456789, UpdatedAt: 1777190400223456789, Version: 7, Fields: []Field{{Key: "priority", Value: "P1"}},
		Set: []FieldSet{{Field: "title", Version: 3}}, Body: BodyRef{Event: uid(1), Len: 300, SHA: hash(4)}, Source: source,
	}
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
		Activated{Was: "draft", Forced: true},
		Deprecated{Reason: "not needed", Was: before, ReceiptID: "trash-2026-04-26T10-14-22-001", Redo: Redo{Receipt: uid(8)}},
		Superseded{By: "PRD-043", ByUID: uid(9), Linked: true, Was: before, ReceiptID: "trash-2026-04-26T10-14-22-002", Redo: Redo{Receipt: uid(8)}},
		Renewed{Until: "2027-06-30", Reason: "still true", Was: before},
		Reopened{As: "PRD-044", AsUID: uid(10), Reason: "more to say", Was: before},
		Deleted{State: state, ReceiptID: "trash-2026-04-26T10-14-22-003", Redo: Redo{Receipt: uid(8)}},
		Restored{Op: "delete", Receipt: uid(8), State: state, Status: "active", Fields: []FieldChange{{Key: "deprecated_reason", Value: "old", Set: true, Was: "not needed", WasSet: true}}, UpdatedAt: 1777190400123456789},
		StatusCorrected{Status: "active", Was: "draft"},
		KindChanged{Kind: "rfc", Was: "prd"},
		Renumbered{ID: "PRD-045", Number: 45, Was: "PRD-042~7F3K"},
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
