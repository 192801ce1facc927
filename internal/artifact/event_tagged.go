package artifact

import (
	"slices"

	"forgeplan/internal/event"
)

// Tagged adds tags after those that are there.
type Tagged struct {
	Tags []string `msgpack:"tags,omitempty"`
}

func (Tagged) EventName() string { return "artifact.tagged" }
func (Tagged) EventVersion() int { return 1 }

func (Tagged) sets() []string { return []string{"tags"} }

func (p Tagged) fold(a *Artifact, _ event.Event) {
	tags := slices.Clone(a.Tags)
	for _, t := range p.Tags {
		if !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	a.Tags = tags
}
