// Package artifact holds the rules of the domain: which kinds, statuses,
// relations and ids there are, which facts a change comes to (the methods of
// Artifact), and what a fact does to an artifact (Fold). It is pure: it knows
// no clock, file or journal.
package artifact

import (
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// Artifact is the state of one artifact after its events. A value may share
// its slices with other values: none of them is ever written to.
type Artifact struct {
	UID        ulid.ULID
	ID         string // display id, as written
	Number     int    // of the display id; 0 for an adopted id without one
	Kind       string
	Status     string // as stored; what it means at a time says StatusAt
	Title      string
	Depth      string
	Tags       []string
	Author     string
	ParentEpic string // id of an epic, as written
	ValidUntil string // as written; see Expiry
	CreatedAt  int64  // wall ns
	UpdatedAt  int64  // wall ns of the newest event
	Version    int    // 1 at creation, +1 for each event
	Body       BodyRef
	Path       string     // of the file below the workspace folder
	Want       event.Hash // SHA-256 that the whole file is to have
	Fields     []Field    // other frontmatter keys, in order of appearance
	Set        []FieldVersion
	Run        ulid.ULID // call that its newest event belongs to
	Unknown    int       // events that this program cannot read, and so does not show
}

// BodyRef points to a body: its bytes stand in the journal under the event that
// set it.
type BodyRef struct {
	Event ulid.ULID  `msgpack:"event,omitempty"`
	Len   int64      `msgpack:"len,omitempty"` // bytes
	SHA   event.Hash `msgpack:"sha,omitempty"`
}

// BodyFacts is what an event says of the body that stands beside it.
type BodyFacts struct {
	Len int64      `msgpack:"len,omitempty"` // bytes
	SHA event.Hash `msgpack:"sha,omitempty"`
}

// Source is how an artifact stands in its file. File = Head + body.
type Source struct {
	Path string     `msgpack:"path,omitempty"` // below the workspace folder, with forward slashes
	Head []byte     `msgpack:"head,omitempty"` // verbatim bytes before the body
	Want event.Hash `msgpack:"want,omitempty"` // SHA-256 of the whole file
}

// Field is a frontmatter key that means nothing to the rules. Value is its text
// as spelled in the file.
type Field struct {
	Key   string `msgpack:"key,omitempty"`
	Value string `msgpack:"value,omitempty"`
}

// FieldVersion is the version of the artifact that last set a field. Field is
// one of those that Changes names. A field without one was set at version 1, or
// never.
type FieldVersion struct {
	Field   string
	Version int
}
