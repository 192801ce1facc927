package receipts

import (
	"errors"
	"fmt"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// ErrConflict: errors.Is of every *ConflictError.
var ErrConflict = errors.New("cannot be taken back now")

// ConflictError says why a receipt cannot be used now. It stays open.
type ConflictError struct{ Msg string }

func (e *ConflictError) Error() string        { return e.Msg }
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// World is what a plan asks of the state it is made on.
type World interface {
	// Live is an artifact that exists now.
	Live(uid ulid.ULID) (artifact.Artifact, bool)
	// Holder is the artifact that holds a display id now.
	Holder(id string) (artifact.Artifact, bool)
	// Linked reports whether a link is recorded.
	Linked(source, target ulid.ULID, relation string) bool
}

// Step is one event of a plan, about one artifact.
type Step struct {
	UID     ulid.ULID
	Payload event.Payload
}

// Plan is how a receipt is taken back: the events that do it, and the fields
// that were edited since and stay as they are.
type Plan struct {
	Steps []Step
	Later []string
}

// Reverse plans to take a receipt back. was is the event that opened it.
// A *ConflictError if the state does not allow it.
func Reverse(r Receipt, was event.Payload, w World) (Plan, error) {
	if del, ok := was.(artifact.Deleted); ok {
		if _, live := w.Live(r.UID); live {
			return Plan{}, &ConflictError{Msg: fmt.Sprintf("%s is there already", r.Artifact)}
		}
		if holder, taken := w.Holder(r.Artifact); taken {
			return Plan{}, &ConflictError{Msg: fmt.Sprintf("%s cannot come back: another artifact (uid %s) has that id now, the deleted one has uid %s",
				r.Artifact, holder.UID, r.UID)}
		}
		state := del.State
		state.Version++ // the deletion was a version too
		return Plan{Steps: []Step{{r.UID, artifact.Restored{Op: r.Op, Receipt: r.Event, State: state}}}}, nil
	}
	now, live := w.Live(r.UID)
	if !live {
		return Plan{}, &ConflictError{Msg: fmt.Sprintf("%s was deleted since; bring it back first", r.Artifact)}
	}
	restored := artifact.Restored{Op: r.Op, Receipt: r.Event}
	var before artifact.Before
	var expect string
	var link *Step
	switch p := was.(type) {
	case artifact.Deprecated:
		before, expect = p.Was, string(artifact.StatusDeprecated)
		restored.Fields = p.Was.Back(artifact.KeyDeprecated)
	case artifact.Superseded:
		before, expect = p.Was, string(artifact.StatusSuperseded)
		restored.Fields = p.Was.Back(artifact.KeySuperseded)
		if p.Linked && w.Linked(p.ByUID, r.UID, "supersedes") {
			if _, there := w.Live(p.ByUID); there {
				link = &Step{p.ByUID, artifact.RelationRemoved{Relation: "supersedes", Target: r.Artifact, TargetUID: r.UID}}
			}
		}
	default:
		return Plan{}, fmt.Errorf("receipt %s: event %T opens none", r.ID, was)
	}
	if now.Status != expect {
		return Plan{}, &ConflictError{Msg: fmt.Sprintf("%s is %s now, no longer %s", r.Artifact, now.Status, expect)}
	}
	restored.Status = before.Status
	plan := Plan{Later: edited(now)}
	if now.Run == r.Run {
		restored.UpdatedAt = before.UpdatedAt
	}
	plan.Steps = append(plan.Steps, Step{r.UID, restored})
	if link != nil {
		plan.Steps = append(plan.Steps, *link)
	}
	return plan, nil
}

// edited lists the fields that were set after the status was.
func edited(a artifact.Artifact) (later []string) {
	status := 0
	for _, f := range a.Set {
		if f.Field == "status" {
			status = f.Version
		}
	}
	for _, f := range a.Set {
		if f.Version > status {
			later = append(later, f.Field)
		}
	}
	return later
}
