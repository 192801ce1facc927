package artifact

import "forgeplan/internal/event"

// StatusCorrected is a status that a person wrote into the file, legal or not
// by the table of transitions.
type StatusCorrected struct {
	Status string `msgpack:"status,omitempty"`
	Was    string `msgpack:"was,omitempty"`
}

func (StatusCorrected) EventName() string { return "artifact.status_corrected" }
func (StatusCorrected) EventVersion() int { return 1 }

func (StatusCorrected) sets() []string { return []string{"status"} }

func (p StatusCorrected) fold(a *Artifact, _ event.Event) { a.Status = p.Status }
