package projection

import (
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// Key says what an idempotency key is bound to.
type Key struct {
	Call       ulid.ULID // the call whose kept result answers a repetition
	Tool       string
	ArgsDigest [32]byte
}

// keys binds a key to its first success, for ever.
var keys = View[Key]{
	Name:    "keys",
	Version: 1,
	Keys: func(e event.Event) []string {
		if c, ok := e.Data.(event.Call); ok && binds(c) {
			return []string{string(c.KeyHash[:])}
		}
		return nil
	},
	Fold: func(_ string, row Key, e event.Event) (Key, bool) {
		c, ok := e.Data.(event.Call)
		if row.Call != (ulid.ULID{}) || !ok {
			return row, row.Call != (ulid.ULID{})
		}
		return Key{Call: e.ID, Tool: c.Tool, ArgsDigest: c.ArgsDigest}, true
	},
	Encode: func(k Key) []byte {
		p := make(packer, 0, 60+len(k.Tool))
		p.array(3)
		p.fixed(k.Call[:])
		p.text(k.Tool)
		p.fixed(k.ArgsDigest[:])
		return p
	},
	Decode: func(row []byte) (Key, error) {
		u := unpack(row)
		u.shape(3)
		k := Key{Call: u.ulid(), Tool: u.text(), ArgsDigest: u.hash()}
		return k, u.done()
	},
}

// binds reports whether a call binds its idempotency key: failures, trial runs
// and repetitions do not.
func binds(c event.Call) bool {
	return !c.KeyHash.IsZero() && c.Status == event.StatusOK && c.Effect != event.EffectReplayed && c.Effect != event.EffectDryRun
}

// Keys reads the table of bound idempotency keys.
type Keys struct{ Table Table }

// Get reads what a key is bound to; hash is the SHA-256 of tool and key. The
// error wraps ErrRow.
func (k Keys) Get(hash [32]byte) (Key, bool, error) {
	return keys.Get(k.Table, string(hash[:]))
}
