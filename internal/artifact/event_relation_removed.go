package artifact

import (
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// RelationRemoved takes a link of the artifact it is about away.
type RelationRemoved struct {
	Relation  string    `msgpack:"relation,omitempty"`
	Target    string    `msgpack:"target,omitempty"` // id as written in the link
	TargetUID ulid.ULID `msgpack:"target_uid,omitempty"`
}

func (RelationRemoved) EventName() string { return "relation.removed" }
func (RelationRemoved) EventVersion() int { return 1 }

func (RelationRemoved) sets() []string { return []string{"links"} }

func (RelationRemoved) fold(*Artifact, event.Event) {} // links have a table of their own
