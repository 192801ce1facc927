package artifact

import "forgeplan/internal/event"

// Renumbered gives an artifact another display id. The old one keeps resolving.
type Renumbered struct {
	ID     string `msgpack:"id,omitempty"`
	Number int    `msgpack:"number,omitempty"`
	Was    string `msgpack:"was,omitempty"`
}

func (Renumbered) EventName() string { return "artifact.renumbered" }
func (Renumbered) EventVersion() int { return 1 }

func (Renumbered) sets() []string { return []string{"id"} }

func (p Renumbered) fold(a *Artifact, _ event.Event) { a.ID, a.Number = p.ID, p.Number }
