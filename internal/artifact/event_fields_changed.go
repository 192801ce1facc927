package artifact

import (
	"slices"

	"forgeplan/internal/event"
)

// FieldsChanged sets or removes frontmatter keys that have no event of their
// own: author, parent_epic, and all that mean nothing to the rules.
type FieldsChanged struct {
	Fields []FieldChange `msgpack:"fields,omitempty"`
}

// FieldChange is what happened to one key. Values are text.
type FieldChange struct {
	Key    string `msgpack:"key,omitempty"`
	Value  string `msgpack:"value,omitempty"`
	Set    bool   `msgpack:"set,omitempty"` // false: the key was removed
	Was    string `msgpack:"was,omitempty"`
	WasSet bool   `msgpack:"was_set,omitempty"` // false: the key is new
}

func (FieldsChanged) EventName() string { return "artifact.fields_changed" }
func (FieldsChanged) EventVersion() int { return 1 }

func (p FieldsChanged) sets() []string {
	var names []string
	for _, f := range p.Fields {
		if (f.Key == "author" || f.Key == "parent_epic") && !slices.Contains(names, f.Key) {
			names = append(names, f.Key)
		}
	}
	return names
}

func (p FieldsChanged) fold(a *Artifact, _ event.Event) {
	fields := slices.Clone(a.Fields)
	for _, f := range p.Fields {
		if !f.Set {
			f.Value = ""
		}
		switch f.Key {
		case "author":
			a.Author = f.Value
			continue
		case "parent_epic":
			a.ParentEpic = f.Value
			continue
		}
		i := slices.IndexFunc(fields, func(old Field) bool { return old.Key == f.Key })
		switch {
		case i < 0 && f.Set:
			fields = append(fields, Field{Key: f.Key, Value: f.Value})
		case i >= 0 && f.Set:
			fields[i].Value = f.Value
		case i >= 0:
			fields = slices.Delete(fields, i, i+1)
		}
	}
	if len(fields) == 0 {
		fields = nil
	}
	a.Fields = fields
}
