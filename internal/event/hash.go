package event

import (
	"encoding/hex"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// Hash is a SHA-256 in a payload. It exists because the msgpack library takes
// no array for empty: IsZero lets omitempty leave a zero hash out. Values pass
// to and from [32]byte without a conversion.
type Hash [32]byte

// IsZero reports whether there is no hash.
func (h Hash) IsZero() bool { return h == Hash{} }

// EncodeMsgpack writes 32 bytes.
func (h Hash) EncodeMsgpack(enc *msgpack.Encoder) error { return enc.EncodeBytes(h[:]) }

// DecodeMsgpack reads exactly 32 bytes.
func (h *Hash) DecodeMsgpack(dec *msgpack.Decoder) error {
	n, err := dec.DecodeBytesLen()
	if err != nil {
		return err
	}
	if n != len(h) {
		return fmt.Errorf("hash of %d bytes, want %d", n, len(h))
	}
	return dec.ReadFull(h[:])
}

// String is the hash in lower-case hex.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText writes the hash in hex, for JSON.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads 64 hex digits.
func (h *Hash) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(h) {
		return fmt.Errorf("hash of %d hex digits, want %d", len(text), 2*len(h))
	}
	_, err := hex.Decode(h[:], text)
	return err
}
