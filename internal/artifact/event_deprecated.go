package artifact

import "forgeplan/internal/event"

// KeyDeprecated is the frontmatter key that says why an artifact was
// deprecated.
const KeyDeprecated = "deprecated_reason"

// Deprecated retires an artifact for a reason, and opens a receipt.
type Deprecated struct {
	Reason    string `msgpack:"reason,omitempty"`
	Was       Before `msgpack:"was,omitempty"`
	ReceiptID string `msgpack:"receipt_id,omitempty"`
	Redo      Redo   `msgpack:"redo,omitempty"`
}

func (Deprecated) EventName() string { return "artifact.deprecated" }
func (Deprecated) EventVersion() int { return 1 }

func (Deprecated) sets() []string { return []string{"status"} }

func (p Deprecated) fold(a *Artifact, _ event.Event) {
	a.Status = string(StatusDeprecated)
	a.Fields = setField(a.Fields, KeyDeprecated, p.Reason, true)
}
