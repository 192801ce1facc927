package artifact

import "forgeplan/internal/event"

// SourceChanged ends a run that changes the file of an artifact: its name, the
// bytes before its body, and the hash of the whole.
type SourceChanged struct {
	Source Source `msgpack:"source,omitempty"`
	Was    string `msgpack:"was,omitempty"` // old path; empty if it stays
}

func (SourceChanged) EventName() string { return "artifact.source_changed" }
func (SourceChanged) EventVersion() int { return 1 }

func (SourceChanged) sets() []string { return nil }

func (p SourceChanged) fold(a *Artifact, _ event.Event) {
	a.Path, a.Want = p.Source.Path, p.Source.Want
}
