package projection

import (
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// wants holds every hash that the file of an artifact was ever to have, with
// the newest event that set it: a file found with one of them was written by
// us, and lags behind or was put back.
var wants = View[ulid.ULID]{
	Name:    "wants",
	Version: 1,
	Keys: func(e event.Event) []string {
		s, ok := sourceOf(e)
		if !ok || s.Want.IsZero() {
			return nil
		}
		return []string{wantKey(e.Subject, s.Want)}
	},
	Fold: func(_ string, _ ulid.ULID, e event.Event) (ulid.ULID, bool) { return e.ID, true },
	Encode: func(id ulid.ULID) []byte {
		p := make(packer, 0, 20)
		p.array(1)
		p.fixed(id[:])
		return p
	},
	Decode: func(row []byte) (ulid.ULID, error) {
		u := unpack(row)
		u.shape(1)
		id := u.ulid()
		return id, u.done()
	},
}

func wantKey(uid ulid.ULID, want [32]byte) string {
	return string(append(uid[:], want[:]...))
}

// Wants reads the table of hashes that files were to have.
type Wants struct{ Table Table }

// Get finds the newest event after which the file of an artifact was to have
// this SHA-256; false if it never was. The error wraps ErrRow.
func (w Wants) Get(uid ulid.ULID, want [32]byte) (set ulid.ULID, ok bool, err error) {
	return wants.Get(w.Table, wantKey(uid, want))
}

// Has reports whether the file of an artifact was ever to have this SHA-256.
// The error wraps ErrRow.
func (w Wants) Has(uid ulid.ULID, want [32]byte) (bool, error) {
	_, ok, err := w.Get(uid, want)
	return ok, err
}
