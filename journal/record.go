package journal

import (
	"bytes"
	"crypto/sha256"

	"github.com/oklog/ulid/v2"
)

// Format is the version of the file layout and of the envelope.
const Format = 1

// Lane is one of the two sequences a record may stand in.
type Lane uint8

const (
	// Changes holds calls that changed something, each followed by the events
	// it caused. Never pruned.
	Changes Lane = 1
	// Calls holds calls that changed nothing.
	Calls Lane = 2
)

var lanes = [...]Lane{Changes, Calls}

// String returns the name of the lane's bucket.
func (l Lane) String() string {
	switch l {
	case Changes:
		return "changes"
	case Calls:
		return "calls"
	}
	return "unknown"
}

func (l Lane) valid() bool { return l == Changes || l == Calls }

// Hash is a SHA-256.
type Hash = [32]byte

// Head is the end of one lane. A lane without records has a zero ID and Count,
// and the Hash its first record will carry as Prev.
type Head struct {
	ID    ulid.ULID
	Count uint64 // records ever appended to the lane
	Hash  Hash   // SHA-256 of the newest stored value
	Wall  int64  // ns, UTC: wall time of the newest record
}

// Draft is a record before it is appended.
type Draft struct {
	ID      ulid.ULID
	Type    string    // 1 to 128 bytes, such as "artifact.created"
	Version int       // of the type's payload, not negative
	Wall    int64     // ns, UTC: the clock inside the transaction
	Run     ulid.ULID // the call event of the run this record belongs to
	Subject ulid.ULID // zero: none
	Payload []byte    // exactly one msgpack map
}

// Record is a stored draft. Payload and Stored alias the mapped file when the
// record comes from a transaction: they are valid until it ends and must not be
// written to. Clone before keeping one.
type Record struct {
	Draft
	Format int
	Lane   Lane
	Prev   Hash   // SHA-256 of the value stored before it in its lane
	Stored []byte // the whole value; what its successor's Prev attests
}

// Clone returns a record that outlives the transaction.
func (r Record) Clone() Record {
	r.Stored = bytes.Clone(r.Stored)
	if n := len(r.Stored) - len(r.Payload); n >= 0 && len(r.Stored) > 0 {
		r.Payload = r.Stored[n:] // the payload is the envelope's last element
	} else {
		r.Payload = bytes.Clone(r.Payload)
	}
	return r
}

// firstPrev is what the first record of a lane follows. It ties a chain to its
// workspace and lane, so that neither can be exchanged unnoticed.
func firstPrev(ws ulid.ULID, l Lane) Hash {
	return sha256.Sum256(append(ws[:], byte(l)))
}
