package artifact

import "forgeplan/internal/event"

// TitleChanged gives an artifact another title.
type TitleChanged struct {
	Title string `msgpack:"title,omitempty"`
	Was   string `msgpack:"was,omitempty"`
}

func (TitleChanged) EventName() string { return "artifact.title_changed" }
func (TitleChanged) EventVersion() int { return 1 }

func (TitleChanged) sets() []string { return []string{"title"} }

func (p TitleChanged) fold(a *Artifact, _ event.Event) { a.Title = p.Title }
