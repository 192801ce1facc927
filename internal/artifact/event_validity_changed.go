package artifact

import "forgeplan/internal/event"

// ValidityChanged sets until when an artifact holds; empty for no end.
type ValidityChanged struct {
	Until string `msgpack:"until,omitempty"`
	Was   string `msgpack:"was,omitempty"`
}

func (ValidityChanged) EventName() string { return "artifact.validity_changed" }
func (ValidityChanged) EventVersion() int { return 1 }

func (ValidityChanged) sets() []string { return []string{"valid_until"} }

func (p ValidityChanged) fold(a *Artifact, _ event.Event) { a.ValidUntil = p.Until }
