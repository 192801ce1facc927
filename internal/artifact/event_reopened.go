package artifact

import (
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// KeyReopened is the frontmatter key that names the draft an artifact goes on
// as.
const KeyReopened = "reopened_as"

// Reopened retires an artifact in favour of a new draft that goes on from it.
type Reopened struct {
	As     string    `msgpack:"as,omitempty"` // id of the new draft
	AsUID  ulid.ULID `msgpack:"as_uid,omitempty"`
	Reason string    `msgpack:"reason,omitempty"`
	Was    Before    `msgpack:"was,omitempty"`
}

func (Reopened) EventName() string { return "artifact.reopened" }
func (Reopened) EventVersion() int { return 1 }

func (Reopened) sets() []string { return []string{"status"} }

func (p Reopened) fold(a *Artifact, _ event.Event) {
	a.Status = string(StatusDeprecated)
	a.Fields = setField(setField(a.Fields, KeyReopened, p.As, true), KeyDeprecated, p.Reason, p.Reason != "")
}
