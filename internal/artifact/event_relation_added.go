package artifact

import (
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// RelationAdded links the artifact it is about to a target.
type RelationAdded struct {
	Relation  string    `msgpack:"relation,omitempty"`
	Target    string    `msgpack:"target,omitempty"`     // id as written
	TargetUID ulid.ULID `msgpack:"target_uid,omitempty"` // zero while nothing has that id
}

func (RelationAdded) EventName() string { return "relation.added" }
func (RelationAdded) EventVersion() int { return 1 }

func (RelationAdded) sets() []string { return []string{"links"} }

func (RelationAdded) fold(*Artifact, event.Event) {} // links have a table of their own
