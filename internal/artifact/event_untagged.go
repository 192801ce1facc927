package artifact

import (
	"slices"

	"forgeplan/internal/event"
)

// Untagged takes tags away, spelled as they are stored.
type Untagged struct {
	Tags []string `msgpack:"tags,omitempty"`
}

func (Untagged) EventName() string { return "artifact.untagged" }
func (Untagged) EventVersion() int { return 1 }

func (Untagged) sets() []string { return []string{"tags"} }

func (p Untagged) fold(a *Artifact, _ event.Event) {
	var tags []string
	for _, t := range a.Tags {
		if !slices.Contains(p.Tags, t) {
			tags = append(tags, t)
		}
	}
	a.Tags = tags
}
