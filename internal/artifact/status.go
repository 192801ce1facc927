package artifact

import (
	"slices"
	"time"
)

// Status is where an artifact stands in its life, as stored.
type Status string

const (
	Draft      Status = "draft"
	Active     Status = "active"
	Stale      Status = "stale" // seldom stored: StatusAt derives it
	Superseded Status = "superseded"
	Deprecated Status = "deprecated"
)

// Statuses are all statuses, in the order of a life.
var Statuses = []Status{Draft, Active, Stale, Superseded, Deprecated}

// ParseStatus reads the name of a status in any case. The error is an
// *InputError that lists them.
func ParseStatus(s string) (Status, error) { return parseEnum("status", s, Statuses) }

// Transition is an allowed change of status, and the operations that make it.
type Transition struct {
	From, To Status
	By       []string
}

// Transitions are all allowed changes of status, for every kind. Superseded and
// deprecated are final. A stale artifact is an active one whose validity ended.
var Transitions = []Transition{
	{Draft, Active, []string{"activate"}},
	{Active, Superseded, []string{"supersede"}},
	{Active, Deprecated, []string{"deprecate", "reopen"}},
	{Stale, Active, []string{"renew", "activate"}},
	{Stale, Deprecated, []string{"deprecate", "reopen"}},
}

// Next lists the statuses that may follow s; none for a final or unknown one.
func (s Status) Next() []Status {
	var next []Status
	for _, t := range Transitions {
		if t.From == s {
			next = append(next, t.To)
		}
	}
	return next
}

// Allows reports whether the operation may take an artifact from s to the
// status to.
func (s Status) Allows(operation string, to Status) bool {
	return slices.ContainsFunc(Transitions, func(t Transition) bool {
		return t.From == s && t.To == to && slices.Contains(t.By, operation)
	})
}

// StatusAt is the status at a time: an active artifact is stale once its
// validity has ended. A date that cannot be read never ends.
func (a Artifact) StatusAt(now time.Time) string {
	if a.Status == string(Active) && a.ValidUntil != "" {
		if end, ok := Expiry(a.ValidUntil); ok && !now.Before(end) {
			return string(Stale)
		}
	}
	return a.Status
}
