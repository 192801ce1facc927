package artifact

import (
	"slices"
	"strings"

	"forgeplan/internal/event"
)

// The methods below decide: given what a caller wants, they return the events
// that it comes to, none if the artifact is so already. Values are checked
// before, with CheckTitle, ParseDepth, CleanTag and CheckDate.

// Retitle gives the artifact a title.
func (a Artifact) Retitle(title string) []event.Payload {
	if title == a.Title {
		return nil
	}
	return []event.Payload{TitleChanged{Title: title, Was: a.Title}}
}

// Rebody gives the artifact a body of size bytes with this SHA-256. The caller
// stores the bytes beside the event.
func (a Artifact) Rebody(size int64, sha [32]byte) []event.Payload {
	if sha == a.Body.SHA && size == a.Body.Len {
		return nil
	}
	return []event.Payload{BodyChanged{Body: BodyFacts{Len: size, SHA: sha}, Was: a.Body}}
}

// SetDepth gives the artifact a depth, in its stored spelling.
func (a Artifact) SetDepth(depth string) []event.Payload {
	if depth == a.Depth {
		return nil
	}
	return []event.Payload{DepthChanged{Depth: depth, Was: a.Depth}}
}

// AddTags adds the tags that the artifact has not yet, in any case.
func (a Artifact) AddTags(tags []string) []event.Payload {
	var add []string
	for _, t := range tags {
		if t != "" && !containsFold(a.Tags, t) && !containsFold(add, t) {
			add = append(add, t)
		}
	}
	if add == nil {
		return nil
	}
	return []event.Payload{Tagged{Tags: add}}
}

// RemoveTags removes tags, spelled as stored; others are ignored.
func (a Artifact) RemoveTags(tags []string) []event.Payload {
	return a.untag(func(have string) bool { return slices.Contains(tags, have) })
}

// SetTags removes all tags but these and adds those that are missing. A tag
// that only differs in case stays as it is, and so does the order.
func (a Artifact) SetTags(tags []string) []event.Payload {
	return append(a.untag(func(have string) bool { return !containsFold(tags, have) }), a.AddTags(tags)...)
}

func (a Artifact) untag(drop func(tag string) bool) []event.Payload {
	var gone []string
	for _, have := range a.Tags {
		if drop(have) && !slices.Contains(gone, have) {
			gone = append(gone, have)
		}
	}
	if gone == nil {
		return nil
	}
	return []event.Payload{Untagged{Tags: gone}}
}

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(have string) bool { return strings.EqualFold(have, s) })
}

// SetValidity sets until when the artifact is valid; empty for no end.
func (a Artifact) SetValidity(until string) []event.Payload {
	if until == a.ValidUntil {
		return nil
	}
	return []event.Payload{ValidityChanged{Until: until, Was: a.ValidUntil}}
}

// SetField sets author, parent_epic or a key that means nothing to the rules.
// An empty author or parent_epic is none. It must not be used for a key that
// has a method of its own.
func (a Artifact) SetField(key, value string) []event.Payload {
	was, wasSet := a.Field(key)
	set := value != "" || key != "author" && key != "parent_epic"
	return fieldChange(FieldChange{Key: key, Value: value, Set: set, Was: was, WasSet: wasSet})
}

// ClearField removes such a key.
func (a Artifact) ClearField(key string) []event.Payload {
	was, wasSet := a.Field(key)
	return fieldChange(FieldChange{Key: key, Was: was, WasSet: wasSet})
}

func fieldChange(f FieldChange) []event.Payload {
	if f.Set == f.WasSet && f.Value == f.Was {
		return nil
	}
	return []event.Payload{FieldsChanged{Fields: []FieldChange{f}}}
}

// Field reads author, parent_epic or a key that means nothing to the rules.
func (a Artifact) Field(key string) (value string, set bool) {
	switch key {
	case "author":
		return a.Author, a.Author != ""
	case "parent_epic":
		return a.ParentEpic, a.ParentEpic != ""
	}
	for _, f := range a.Fields {
		if f.Key == key {
			return f.Value, true
		}
	}
	return "", false
}
