package artifact

import (
	"slices"

	"github.com/oklog/ulid/v2"
)

// Before is what a change of status replaces.
type Before struct {
	ID         string  `msgpack:"id,omitempty"`
	Title      string  `msgpack:"title,omitempty"`
	Status     string  `msgpack:"status,omitempty"`
	ValidUntil string  `msgpack:"valid_until,omitempty"`
	UpdatedAt  int64   `msgpack:"updated_at,omitempty"` // ns
	Fields     []Field `msgpack:"fields,omitempty"`     // keys that the change sets, as they were
}

// IsZero makes an empty one absent from its event.
func (b Before) IsZero() bool {
	return b.ID == "" && b.Title == "" && b.Status == "" && b.ValidUntil == "" && b.UpdatedAt == 0 && len(b.Fields) == 0
}

// Before is the image of a before some of its keys are set.
func (a Artifact) Before(keys ...string) Before {
	b := Before{ID: a.ID, Title: a.Title, Status: a.Status, ValidUntil: a.ValidUntil, UpdatedAt: a.UpdatedAt}
	for _, f := range a.Fields {
		if slices.Contains(keys, f.Key) {
			b.Fields = append(b.Fields, f)
		}
	}
	return b
}

// Back lists what brings the keys back to what they were.
func (b Before) Back(keys ...string) []FieldChange {
	var out []FieldChange
	for _, k := range keys {
		change := FieldChange{Key: k}
		for _, f := range b.Fields {
			if f.Key == k {
				change.Value, change.Set = f.Value, true
			}
		}
		out = append(out, change)
	}
	return out
}

// Redo names the receipt whose reversal an event takes back; zero for a first
// time.
type Redo struct {
	Receipt ulid.ULID `msgpack:"receipt,omitempty"`
}

// IsZero makes an empty one absent from its event.
func (r Redo) IsZero() bool { return r.Receipt == ulid.ULID{} }

// State is a whole artifact as an event carries it.
type State struct {
	ID         string     `msgpack:"id,omitempty"`
	Number     int        `msgpack:"number,omitempty"`
	Kind       string     `msgpack:"kind,omitempty"`
	Status     string     `msgpack:"status,omitempty"`
	Title      string     `msgpack:"title,omitempty"`
	Depth      string     `msgpack:"depth,omitempty"`
	Author     string     `msgpack:"author,omitempty"`
	ParentEpic string     `msgpack:"parent_epic,omitempty"`
	ValidUntil string     `msgpack:"valid_until,omitempty"`
	Tags       []string   `msgpack:"tags,omitempty"`
	CreatedAt  int64      `msgpack:"created_at,omitempty"` // ns
	UpdatedAt  int64      `msgpack:"updated_at,omitempty"` // ns
	Version    int        `msgpack:"version,omitempty"`    // that it had
	Fields     []Field    `msgpack:"fields,omitempty"`
	Set        []FieldSet `msgpack:"set,omitempty"`
	Body       BodyRef    `msgpack:"body,omitempty"`
	Source     Source     `msgpack:"source,omitempty"`
}

// FieldSet is a FieldVersion as an event carries it.
type FieldSet struct {
	Field   string `msgpack:"field,omitempty"`
	Version int    `msgpack:"version,omitempty"`
}

// IsZero makes an empty one absent from its event.
func (s State) IsZero() bool { return s.ID == "" }

// State is the artifact for an event; head is the bytes before its body.
func (a Artifact) State(head []byte) State {
	s := State{ID: a.ID, Number: a.Number, Kind: a.Kind, Status: a.Status, Title: a.Title, Depth: a.Depth, Author: a.Author,
		ParentEpic: a.ParentEpic, ValidUntil: a.ValidUntil, Tags: a.Tags, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
		Version: a.Version, Fields: a.Fields, Body: a.Body, Source: Source{Path: a.Path, Head: head, Want: a.Want}}
	for _, f := range a.Set {
		s.Set = append(s.Set, FieldSet(f))
	}
	return s
}

func (s State) artifact(uid ulid.ULID) Artifact {
	a := Artifact{UID: uid, ID: s.ID, Number: s.Number, Kind: s.Kind, Status: s.Status, Title: s.Title, Depth: s.Depth, Author: s.Author,
		ParentEpic: s.ParentEpic, ValidUntil: s.ValidUntil, Tags: s.Tags, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
		Version: s.Version, Fields: s.Fields, Body: s.Body, Path: s.Source.Path, Want: s.Source.Want}
	for _, f := range s.Set {
		a.Set = append(a.Set, FieldVersion(f))
	}
	return a
}

// setField returns the keys with one set or removed; it never writes to fields.
func setField(fields []Field, key, value string, set bool) []Field {
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Key == key })
	switch {
	case i < 0 && set:
		return append(fields[:len(fields):len(fields)], Field{Key: key, Value: value})
	case i >= 0 && set:
		out := slices.Clone(fields)
		out[i].Value = value
		return out
	case i >= 0:
		return slices.Delete(slices.Clone(fields), i, i+1)
	}
	return fields
}
