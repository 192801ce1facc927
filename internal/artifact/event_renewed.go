package artifact

import "forgeplan/internal/event"

// KeyRenewed is the frontmatter key that says why an artifact was renewed.
const KeyRenewed = "renewed_reason"

// Renewed makes an artifact hold until a later day.
type Renewed struct {
	Until  string `msgpack:"until,omitempty"`
	Reason string `msgpack:"reason,omitempty"`
	Was    Before `msgpack:"was,omitempty"`
}

func (Renewed) EventName() string { return "artifact.renewed" }
func (Renewed) EventVersion() int { return 1 }

func (Renewed) sets() []string { return []string{"status", "valid_until"} }

func (p Renewed) fold(a *Artifact, _ event.Event) {
	a.Status, a.ValidUntil = string(StatusActive), p.Until
	a.Fields = setField(a.Fields, KeyRenewed, p.Reason, p.Reason != "")
}
