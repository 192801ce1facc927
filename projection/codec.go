package projection

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/oklog/ulid/v2"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// ErrRow: a stored row is not what its view writes. Tables are derived, so
// the answer is a rebuild.
var ErrRow = errors.New("unreadable row")

// Rows are written and read by hand. A list decodes ten thousand of them in
// one go; going over the bytes in place makes one string a row, where the
// library's decoder makes one a field (BenchmarkList measures both). What is
// written is plain msgpack, each value in its shortest form, so that equal
// rows have equal bytes.

// packer appends msgpack values to itself.
type packer []byte

func (p *packer) array(n int) {
	switch {
	case n < 16:
		*p = append(*p, msgpcode.FixedArrayLow|byte(n))
	case n < 1<<16:
		*p = binary.BigEndian.AppendUint16(append(*p, msgpcode.Array16), uint16(n))
	default:
		*p = binary.BigEndian.AppendUint32(append(*p, msgpcode.Array32), uint32(n))
	}
}

func (p *packer) text(s string) {
	switch n := len(s); {
	case n < 32:
		*p = append(*p, msgpcode.FixedStrLow|byte(n))
	case n < 1<<8:
		*p = append(*p, msgpcode.Str8, byte(n))
	case n < 1<<16:
		*p = binary.BigEndian.AppendUint16(append(*p, msgpcode.Str16), uint16(n))
	default:
		*p = binary.BigEndian.AppendUint32(append(*p, msgpcode.Str32), uint32(n))
	}
	*p = append(*p, s...)
}

func (p *packer) bin(b []byte) {
	switch n := len(b); {
	case n < 1<<8:
		*p = append(*p, msgpcode.Bin8, byte(n))
	case n < 1<<16:
		*p = binary.BigEndian.AppendUint16(append(*p, msgpcode.Bin16), uint16(n))
	default:
		*p = binary.BigEndian.AppendUint32(append(*p, msgpcode.Bin32), uint32(n))
	}
	*p = append(*p, b...)
}

// fixed writes a hash or ULID; a zero one as no bytes.
func (p *packer) fixed(b []byte) {
	for _, c := range b {
		if c != 0 {
			p.bin(b)
			return
		}
	}
	p.bin(nil)
}

func (p *packer) int(n int64) {
	switch {
	case n >= 0 && n < 1<<7, n < 0 && n >= -32:
		*p = append(*p, byte(n))
	case n >= 0 && n < 1<<8:
		*p = append(*p, msgpcode.Uint8, byte(n))
	case n >= 0 && n < 1<<16:
		*p = binary.BigEndian.AppendUint16(append(*p, msgpcode.Uint16), uint16(n))
	case n >= 0 && n < 1<<32:
		*p = binary.BigEndian.AppendUint32(append(*p, msgpcode.Uint32), uint32(n))
	default:
		*p = binary.BigEndian.AppendUint64(append(*p, msgpcode.Int64), uint64(n))
	}
}

// unpacker reads what packer wrote, from a string that its values alias. The
// first thing that does not fit sets err, and everything after reads as zero.
type unpacker struct {
	rest string
	err  error
}

func unpack(row []byte) *unpacker { return &unpacker{rest: string(row)} }

func (u *unpacker) fail(want string) {
	if u.err == nil {
		u.err = fmt.Errorf("%w: %s expected, %d bytes before its end", ErrRow, want, len(u.rest))
	}
	u.rest = ""
}

// done reports the first error, or that bytes are left over.
func (u *unpacker) done() error {
	if u.err == nil && u.rest != "" {
		u.fail("end")
	}
	return u.err
}

func (u *unpacker) take(n int, want string) string {
	if n < 0 || n > len(u.rest) {
		u.fail(want)
		return ""
	}
	s := u.rest[:n]
	u.rest = u.rest[n:]
	return s
}

func (u *unpacker) code(want string) byte {
	if s := u.take(1, want); s != "" {
		return s[0]
	}
	return msgpcode.Nil
}

// number reads n bytes, big end first.
func (u *unpacker) number(n int, want string) uint64 {
	var v uint64
	s := u.take(n, want)
	for i := range len(s) {
		v = v<<8 | uint64(s[i])
	}
	return v
}

// array reads the length of an array. Each value takes a byte at least, which
// bounds what a damaged length can make a caller allocate.
func (u *unpacker) array() int {
	n := 0
	switch c := u.code("array"); {
	case msgpcode.IsFixedArray(c):
		n = int(c & msgpcode.FixedArrayMask)
	case c == msgpcode.Array16:
		n = int(u.number(2, "array"))
	case c == msgpcode.Array32:
		n = int(u.number(4, "array"))
	default:
		u.fail("array")
	}
	if n > len(u.rest) {
		u.fail("array")
		return 0
	}
	return n
}

// shape reads the length of an array that must be n.
func (u *unpacker) shape(n int) {
	if got := u.array(); got != n && u.err == nil {
		u.fail(fmt.Sprintf("array of %d", n))
	}
}

func (u *unpacker) text() string {
	switch c := u.code("text"); {
	case msgpcode.IsFixedString(c):
		return u.take(int(c&msgpcode.FixedStrMask), "text")
	case c == msgpcode.Str8:
		return u.take(int(u.number(1, "text")), "text")
	case c == msgpcode.Str16:
		return u.take(int(u.number(2, "text")), "text")
	case c == msgpcode.Str32:
		return u.take(int(u.number(4, "text")), "text")
	}
	u.fail("text")
	return ""
}

func (u *unpacker) bin() string {
	switch u.code("bytes") {
	case msgpcode.Bin8:
		return u.take(int(u.number(1, "bytes")), "bytes")
	case msgpcode.Bin16:
		return u.take(int(u.number(2, "bytes")), "bytes")
	case msgpcode.Bin32:
		return u.take(int(u.number(4, "bytes")), "bytes")
	}
	u.fail("bytes")
	return ""
}

// fixed fills to from bytes of its length, or zeroes it for none.
func (u *unpacker) fixed(to []byte) {
	switch s := u.bin(); len(s) {
	case len(to):
		copy(to, s)
	case 0:
		clear(to)
	default:
		u.fail(fmt.Sprintf("%d bytes", len(to)))
	}
}

func (u *unpacker) ulid() (id ulid.ULID) {
	u.fixed(id[:])
	return id
}

func (u *unpacker) hash() (h [32]byte) {
	u.fixed(h[:])
	return h
}

func (u *unpacker) int() int64 {
	switch c := u.code("integer"); {
	case msgpcode.IsFixedNum(c):
		return int64(int8(c))
	case c == msgpcode.Uint8:
		return int64(u.number(1, "integer"))
	case c == msgpcode.Uint16:
		return int64(u.number(2, "integer"))
	case c == msgpcode.Uint32:
		return int64(u.number(4, "integer"))
	case c == msgpcode.Int64:
		return int64(u.number(8, "integer"))
	}
	u.fail("integer")
	return 0
}
