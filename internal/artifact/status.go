package artifact

import (
	"slices"
	"time"
)

// Status is where an artifact stands in its life, as stored.
type Status string

const (
	StatusDraft      Status = "draft"
	StatusActive     Status = "active"
	StatusStale      Status = "stale" // seldom stored: StatusAt derives it
	StatusSuperseded Status = "superseded"
	StatusDeprecated Status = "deprecated"
)

// Statuses are all statuses, in the order of a life.
var Statuses = []Status{StatusDraft, StatusActive, StatusStale, StatusSuperseded, StatusDeprecated}

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
	{StatusDraft, StatusActive, []string{"activate"}},
	{StatusActive, StatusSuperseded, []string{"supersede"}},
	{StatusActive, StatusDeprecated, []string{"deprecate", "reopen"}},
	{StatusStale, StatusActive, []string{"renew", "activate"}},
	{StatusStale, StatusDeprecated, []string{"deprecate", "reopen"}},
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
	if a.Status == string(StatusActive) && a.ValidUntil != "" {
		if end, ok := Expiry(a.ValidUntil); ok && !now.Before(end) {
			return string(StatusStale)
		}
	}
	return a.Status
}
