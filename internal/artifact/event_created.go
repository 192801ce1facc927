package artifact

import "forgeplan/internal/event"

// Created is the first event of an artifact, made here or adopted from a file.
// The bytes of the body stand beside the event.
type Created struct {
	ID         string    `msgpack:"id,omitempty"`     // as written
	Number     int       `msgpack:"number,omitempty"` // of the id; 0 for none
	Kind       string    `msgpack:"kind,omitempty"`
	Status     string    `msgpack:"status,omitempty"`
	Title      string    `msgpack:"title,omitempty"`
	Depth      string    `msgpack:"depth,omitempty"`
	Author     string    `msgpack:"author,omitempty"`
	ParentEpic string    `msgpack:"parent_epic,omitempty"`
	ValidUntil string    `msgpack:"valid_until,omitempty"`
	Tags       []string  `msgpack:"tags,omitempty"`
	CreatedAt  int64     `msgpack:"created_at,omitempty"` // wall ns; 0 for that of the event
	Fields     []Field   `msgpack:"fields,omitempty"`
	Body       BodyFacts `msgpack:"body,omitempty"`
	Source     Source    `msgpack:"source,omitempty"`
}

func (Created) EventName() string { return "artifact.created" }
func (Created) EventVersion() int { return 1 }

func (Created) sets() []string {
	return []string{"title", "body", "depth", "tags", "author", "parent_epic", "valid_until", "status"}
}

func (p Created) fold(a *Artifact, e event.Event) {
	created := p.CreatedAt
	if created == 0 {
		created = e.At
	}
	*a = Artifact{
		UID: e.Subject, Run: e.Run, ID: p.ID, Number: p.Number, Kind: p.Kind, Status: p.Status, Title: p.Title, Depth: p.Depth,
		Tags: p.Tags, Author: p.Author, ParentEpic: p.ParentEpic, ValidUntil: p.ValidUntil,
		CreatedAt: created, UpdatedAt: a.UpdatedAt, Version: a.Version,
		Body: BodyRef{Event: e.ID, Len: p.Body.Len, SHA: p.Body.SHA},
		Path: p.Source.Path, Want: p.Source.Want, Fields: p.Fields,
	}
}
