// Package event gives facts their names and their bytes. It knows how an event
// is spelled in the journal, and nothing of what it means.
//
// A payload is a struct. Its wire form is a msgpack map from field names to
// values, in the order of declaration, with empty fields left out. The same
// payload always has the same bytes. Names and fields are never reused; a field
// may be added, and is then ignored by older programs.
package event

import (
	"errors"

	"github.com/oklog/ulid/v2"
)

// Payload is what an event says. Payloads are passed by value, never by
// pointer.
type Payload interface {
	EventName() string // noun, dot, past participle: artifact.created
	EventVersion() int // of the wire form that Encode writes, from 1
}

// Event is a fact with its place in the journal.
type Event struct {
	ID      ulid.ULID
	Run     ulid.ULID // of the call that caused it; its own for a call
	Subject ulid.ULID // uid of the artifact it is about; zero for none
	At      int64     // wall time of its commit, ns since 1970, UTC
	Name    string
	Version int
	Data    Payload // nil where this program does not know the name or version
}

// ErrUnknown: no such event name, or a version newer than this program writes.
// A newer program wrote it: reading goes on without it.
var ErrUnknown = errors.New("unknown event")

// ErrFormat: the bytes are not those of a payload.
var ErrFormat = errors.New("not an event payload")

// Events are the events that are about no artifact.
var Events = []Kind{
	KindOf[Initialized](),
	KindOf[Call](),
	KindOf[ClockStepped](),
}
