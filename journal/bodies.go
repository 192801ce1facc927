package journal

import "github.com/oklog/ulid/v2"

// PutBody stores the body that the event id has set. b is copied.
func (tx *Tx) PutBody(id ulid.ULID, b []byte) error { return tx.put(bucketBodies, id[:], b) }

// Body returns a copy of the body that the event id has set.
func (tx *Tx) Body(id ulid.ULID) ([]byte, bool) { return tx.get(bucketBodies, id[:]) }

// PutResult stores the kept result of the call id. b is copied.
func (tx *Tx) PutResult(id ulid.ULID, b []byte) error { return tx.put(bucketResults, id[:], b) }

// Result returns a copy of the kept result of the call id.
func (tx *Tx) Result(id ulid.ULID) ([]byte, bool) { return tx.get(bucketResults, id[:]) }
