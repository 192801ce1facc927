package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/oklog/ulid/v2"
)

// Names of buckets and of the keys in meta that belong to this package.
const (
	bucketMeta    = "meta"
	bucketBodies  = "bodies"
	bucketResults = "results"
	prefixTable   = "t/"

	keyFormat    = "format"    // decimal digits
	keyWorkspace = "workspace" // 16 bytes
	prefixHead   = "head."     // + lane: 64 bytes, see encodeHead
)

func reserved(key string) bool {
	return key == keyFormat || key == keyWorkspace ||
		len(key) >= len(prefixHead) && key[:len(prefixHead)] == prefixHead
}

func encodeFormat() []byte { return strconv.AppendInt(nil, Format, 10) }

func decodeFormat(b []byte) (int, error) {
	n, err := strconv.Atoi(string(b))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("format %.20q is not a number", b)
	}
	return n, nil
}

const headSize = 16 + 8 + 32 + 8

// encodeHead: ULID, count, hash, wall time; numbers big-endian.
func encodeHead(h Head) []byte {
	b := make([]byte, 0, headSize)
	b = append(b, h.ID[:]...)
	b = binary.BigEndian.AppendUint64(b, h.Count)
	b = append(b, h.Hash[:]...)
	return binary.BigEndian.AppendUint64(b, uint64(h.Wall))
}

func decodeHead(b []byte) (Head, error) {
	if len(b) != headSize {
		return Head{}, errors.New("head is unreadable")
	}
	return Head{
		ID:    ulid.ULID(b[:16]),
		Count: binary.BigEndian.Uint64(b[16:]),
		Hash:  Hash(b[24:56]),
		Wall:  int64(binary.BigEndian.Uint64(b[56:])),
	}, nil
}

// Workspace returns the identifier given to Create.
func (tx *Tx) Workspace() ulid.ULID { return tx.workspace }

// Head returns the end of a lane as this transaction has left it.
func (tx *Tx) Head(l Lane) Head {
	if !l.valid() {
		return Head{}
	}
	return tx.heads[l]
}

// Meta returns a copy of the value that PutMeta stored, nil when there is none.
func (tx *Tx) Meta(key string) []byte {
	v, _ := tx.get(bucketMeta, []byte(key))
	return v
}

// PutMeta stores a small value of the caller's. The keys format, workspace and
// head.* are the journal's own and are refused.
func (tx *Tx) PutMeta(key string, v []byte) error {
	if reserved(key) {
		return fmt.Errorf("meta key %q belongs to the journal", key)
	}
	return tx.put(bucketMeta, []byte(key), v)
}
