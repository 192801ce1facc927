package artifact

import (
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// Restored takes a destructive event back. After a deletion it brings the
// whole artifact; else only what that event had changed.
type Restored struct {
	Op      string        `msgpack:"op,omitempty"`      // delete, supersede, deprecate
	Receipt ulid.ULID     `msgpack:"receipt,omitempty"` // the event taken back
	State   State         `msgpack:"state,omitempty"`   // after a deletion
	Status  string        `msgpack:"status,omitempty"`
	Fields  []FieldChange `msgpack:"fields,omitempty"`
	// UpdatedAt is the time of update that comes back; 0 where later changes
	// stay, whose time then stays too.
	UpdatedAt int64 `msgpack:"updated_at,omitempty"` // ns
}

func (Restored) EventName() string { return "artifact.restored" }
func (Restored) EventVersion() int { return 1 }

func (Restored) sets() []string { return []string{"status"} }

func (p Restored) fold(a *Artifact, e event.Event) {
	if p.State.ID != "" {
		*a = p.State.artifact(e.Subject)
		a.Version++
		a.Run = e.Run
		return
	}
	a.Status = p.Status
	for _, f := range p.Fields {
		a.Fields = setField(a.Fields, f.Key, f.Value, f.Set)
	}
	if p.UpdatedAt != 0 {
		a.UpdatedAt = p.UpdatedAt
	}
}
