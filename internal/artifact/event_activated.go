package artifact

import "forgeplan/internal/event"

// Activated makes a draft, or a stale artifact, active.
type Activated struct {
	Was    string `msgpack:"was,omitempty"`    // status
	Forced bool   `msgpack:"forced,omitempty"` // a gate did not pass and was overridden
}

func (Activated) EventName() string { return "artifact.activated" }
func (Activated) EventVersion() int { return 1 }

func (Activated) sets() []string { return []string{"status"} }

func (Activated) fold(a *Artifact, _ event.Event) { a.Status = string(StatusActive) }
