package artifact

import "forgeplan/internal/event"

// Deleted takes an artifact away, whole, and opens a receipt. Its body stays
// where it is stored, its links stay recorded: both come back with it.
type Deleted struct {
	State     State  `msgpack:"state,omitempty"` // as it was
	ReceiptID string `msgpack:"receipt_id,omitempty"`
	Redo      Redo   `msgpack:"redo,omitempty"`
}

func (Deleted) EventName() string { return "artifact.deleted" }
func (Deleted) EventVersion() int { return 1 }

func (Deleted) sets() []string { return []string{"status"} }

// fold does nothing: Fold takes the row away.
func (Deleted) fold(*Artifact, event.Event) {}
