package tools

import (
	"crypto/sha256"
	"reflect"
)

// digest is SHA-256 of the repaired arguments as compact JSON: keys sorted, no escapes for <, > and &, without absent ones, without those that
// equal their default, and without dry_run and idempotency_key. So a trial, the real call and its retry have the same digest, however the
// client wrote them.
func (t *Tool) digest(values map[string]any) [32]byte {
	said := make(map[string]any, len(values))
	for _, p := range t.Params {
		v, given := values[p.Name]
		if !given || p.Name == "dry_run" || p.Name == "idempotency_key" || reflect.DeepEqual(v, p.Default) {
			continue
		}
		said[p.Name] = v
	}
	return sha256.Sum256(compact(said)) // the encoder sorts the keys of maps
}

// digestRaw stands for arguments that cannot be repaired: of the bytes as they came.
func digestRaw(raw []byte) [32]byte { return sha256.Sum256(raw) }
