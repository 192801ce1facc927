package journal

import (
	"fmt"
	"io"
	"time"

	"github.com/oklog/ulid/v2"
)

// Next returns an identifier above both lanes and above every one it returned in
// this transaction: the clock's millisecond with fresh entropy, or the last one
// plus one when that millisecond is not later than the last one's. So commit
// order is key order whatever the clocks of the processes say, and an identifier
// may run ahead of the clock.
//
// entropy is read only for a new millisecond. Errors: those of entropy, and
// ErrOrder for a clock beyond the year 10889 or an exhausted number space.
func (tx *Tx) Next(now time.Time, entropy io.Reader) (ulid.ULID, error) {
	last := tx.newest()
	if tx.issued.Compare(last) > 0 {
		last = tx.issued
	}
	id := Successor(last)
	if ms := now.UnixMilli(); ms > 0 && uint64(ms) > last.Time() {
		var err error
		if uint64(ms) > ulid.MaxTime() {
			return ulid.ULID{}, fmt.Errorf("%w: time %s does not fit into an identifier", ErrOrder, now.UTC().Format(time.RFC3339))
		}
		if id, err = ulid.New(uint64(ms), entropy); err != nil {
			return ulid.ULID{}, fmt.Errorf("make an identifier: %w", err)
		}
	}
	if id.Compare(last) <= 0 {
		return ulid.ULID{}, fmt.Errorf("%w: no identifier is left after %s", ErrOrder, last)
	}
	tx.issued = id
	return id, nil
}

// Successor returns id plus one as a 128-bit number: the carry runs into the
// time. The successor of the highest is zero.
func Successor(id ulid.ULID) ulid.ULID {
	for i := len(id) - 1; i >= 0; i-- {
		id[i]++
		if id[i] != 0 {
			break
		}
	}
	return id
}

// newest returns the higher of the two heads.
func (tx *Tx) newest() ulid.ULID {
	a, b := tx.heads[Changes].ID, tx.heads[Calls].ID
	if a.Compare(b) > 0 {
		return a
	}
	return b
}
