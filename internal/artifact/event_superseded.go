package artifact

import (
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// KeySuperseded is the frontmatter key that names the replacement.
const KeySuperseded = "superseded_by"

// Superseded replaces an artifact by another one, and opens a receipt.
type Superseded struct {
	By        string    `msgpack:"by,omitempty"` // id of the replacement
	ByUID     ulid.ULID `msgpack:"by_uid,omitempty"`
	Linked    bool      `msgpack:"linked,omitempty"` // the same run added the link replacement supersedes this
	Was       Before    `msgpack:"was,omitempty"`
	ReceiptID string    `msgpack:"receipt_id,omitempty"`
	Redo      Redo      `msgpack:"redo,omitempty"`
}

func (Superseded) EventName() string { return "artifact.superseded" }
func (Superseded) EventVersion() int { return 1 }

func (Superseded) sets() []string { return []string{"status"} }

func (p Superseded) fold(a *Artifact, _ event.Event) {
	a.Status = string(StatusSuperseded)
	a.Fields = setField(a.Fields, KeySuperseded, p.By, true)
}
