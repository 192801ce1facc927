package artifact

import "forgeplan/internal/event"

// DepthChanged gives an artifact another depth.
type DepthChanged struct {
	Depth string `msgpack:"depth,omitempty"`
	Was   string `msgpack:"was,omitempty"`
}

func (DepthChanged) EventName() string { return "artifact.depth_changed" }
func (DepthChanged) EventVersion() int { return 1 }

func (DepthChanged) sets() []string { return []string{"depth"} }

func (p DepthChanged) fold(a *Artifact, _ event.Event) { a.Depth = p.Depth }
