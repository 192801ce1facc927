package artifact

import "forgeplan/internal/event"

// KindChanged is a kind that a person wrote into the file. The id stays.
type KindChanged struct {
	Kind string `msgpack:"kind,omitempty"`
	Was  string `msgpack:"was,omitempty"`
}

func (KindChanged) EventName() string { return "artifact.kind_changed" }
func (KindChanged) EventVersion() int { return 1 }

func (KindChanged) sets() []string { return []string{"kind"} }

func (p KindChanged) fold(a *Artifact, _ event.Event) { a.Kind = p.Kind }
