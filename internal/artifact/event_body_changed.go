package artifact

import "forgeplan/internal/event"

// BodyChanged gives an artifact another body, whose bytes stand beside the
// event. Those of the old one stay where they are.
type BodyChanged struct {
	Body BodyFacts `msgpack:"body,omitempty"`
	Was  BodyRef   `msgpack:"was,omitempty"`
}

func (BodyChanged) EventName() string { return "artifact.body_changed" }
func (BodyChanged) EventVersion() int { return 1 }

func (BodyChanged) sets() []string { return []string{"body"} }

func (p BodyChanged) fold(a *Artifact, e event.Event) {
	a.Body = BodyRef{Event: e.ID, Len: p.Body.Len, SHA: p.Body.SHA}
}
