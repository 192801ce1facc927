package artifact

import (
	"slices"

	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// change is an event that this package folds.
type change interface {
	event.Payload
	fold(a *Artifact, e event.Event) // replaces slices, never writes to them
	sets() []string                  // names of fields, for Changes
}

// Events are the events about artifacts.
var Events = []event.Kind{
	event.KindOf[Created](),
	event.KindOf[TitleChanged](),
	event.KindOf[BodyChanged](),
	event.KindOf[DepthChanged](),
	event.KindOf[Tagged](),
	event.KindOf[Untagged](),
	event.KindOf[ValidityChanged](),
	event.KindOf[FieldsChanged](),
	event.KindOf[SourceChanged](),
	event.KindOf[RelationAdded](),
	event.KindOf[RelationRemoved](),
	event.KindOf[Activated](),
	event.KindOf[Deprecated](),
	event.KindOf[Superseded](),
	event.KindOf[Renewed](),
	event.KindOf[Reopened](),
	event.KindOf[Deleted](),
	event.KindOf[Restored](),
	event.KindOf[StatusCorrected](),
	event.KindOf[KindChanged](),
	event.KindOf[Renumbered](),
}

// Fold is the artifact a after the event e, and whether there is one. a is the
// zero Artifact before its creation. Events about something else change
// nothing. Fold is pure and total: what is allowed was decided before the event
// was made.
func Fold(a Artifact, e event.Event) (Artifact, bool) {
	exists := a.UID != (ulid.ULID{})
	creates := brings(e.Data)
	if e.Subject == (ulid.ULID{}) || exists && e.Subject != a.UID || !exists && !creates {
		return a, exists
	}
	if _, gone := e.Data.(Deleted); gone {
		return Artifact{}, false
	}
	a.Version++
	// The file's own event at the end of a run follows from the others, and
	// says nothing new of when the artifact changed.
	if _, file := e.Data.(SourceChanged); !file || a.Run != e.Run || e.Run == (ulid.ULID{}) {
		a.UpdatedAt = e.At
	}
	a.Run = e.Run
	switch p := e.Data.(type) {
	case nil:
		a.Unknown++
	case change:
		p.fold(&a, e)
		if !creates {
			a.Set = stamp(a.Set, p.sets(), a.Version)
		}
	}
	return a, true
}

// brings: the event makes an artifact where there is none.
func brings(p event.Payload) bool {
	switch p := p.(type) {
	case Created:
		return true
	case Restored:
		return !p.State.IsZero()
	}
	return false
}

// stamp notes that version set these fields, in a copy of set.
func stamp(set []FieldVersion, fields []string, version int) []FieldVersion {
	if len(fields) == 0 {
		return set
	}
	set = slices.Clone(set)
	for _, f := range fields {
		if i := slices.IndexFunc(set, func(s FieldVersion) bool { return s.Field == f }); i >= 0 {
			set[i].Version = version
		} else {
			set = append(set, FieldVersion{Field: f, Version: version})
		}
	}
	return set
}

// Changes names the fields that an event sets, of: title, body, depth, tags,
// author, parent_epic, valid_until, status, links. Two changes of one field are
// a conflict; changes of different ones are not. Nil for an event about nothing
// of these.
func Changes(p event.Payload) []string {
	if c, ok := p.(change); ok {
		return c.sets()
	}
	return nil
}
