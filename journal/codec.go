package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

const (
	fields      = 10  // elements of the envelope array
	maxTypeSize = 128 // bytes
)

// encoder writes envelopes into one reused buffer.
type encoder struct {
	msg *msgpack.Encoder
	buf []byte
}

func (e *encoder) Write(p []byte) (int, error) { e.buf = append(e.buf, p...); return len(p), nil }

func (e *encoder) WriteByte(c byte) error { e.buf = append(e.buf, c); return nil }

// encode returns the envelope of r, valid until the next call. It checks
// nothing; see checkDraft.
func (e *encoder) encode(r *Record) []byte {
	if e.msg == nil {
		e.msg = msgpack.NewEncoder(e)
	}
	// Writes into memory cannot fail, so the encoder's errors are always nil.
	e.buf = e.buf[:0]
	_ = e.msg.EncodeArrayLen(fields)
	_ = e.msg.EncodeUint(uint64(r.Format))
	_ = e.msg.EncodeUint(uint64(r.Lane))
	_ = e.msg.EncodeBytes(r.ID[:])
	_ = e.msg.EncodeString(r.Type)
	_ = e.msg.EncodeUint(uint64(r.Version))
	_ = e.msg.EncodeInt64(r.Wall)
	_ = e.msg.EncodeBytes(r.Run[:])
	subject := r.Subject[:]
	if r.Subject.IsZero() {
		subject = subject[:0] // an empty bin; a nil slice would become nil
	}
	_ = e.msg.EncodeBytes(subject)
	_ = e.msg.EncodeBytes(r.Prev[:])
	e.buf = append(e.buf, r.Payload...)
	return e.buf
}

// EncodeRecord appends the envelope of r to dst and returns it. It ignores
// r.Stored, and fails where Append would refuse the draft.
func EncodeRecord(dst []byte, r Record) ([]byte, error) {
	if err := checkDraft(&r.Draft); err != nil {
		return dst, err
	}
	if !r.Lane.valid() || r.Format < 1 || r.Format > Format {
		return dst, fmt.Errorf("event %s: format %d in lane %d cannot be written", r.ID, r.Format, r.Lane)
	}
	var e encoder
	return append(dst, e.encode(&r)...), nil
}

// checkDraft refuses what could never be taken back once it is in the journal.
func checkDraft(d *Draft) error {
	switch {
	case d.ID.IsZero():
		return errors.New("an event needs an identifier")
	case d.Type == "" || len(d.Type) > maxTypeSize || !utf8.ValidString(d.Type):
		return fmt.Errorf("event %s: type must be 1 to %d bytes of UTF-8", d.ID, maxTypeSize)
	case d.Version < 0 || d.Version > math.MaxInt32:
		return fmt.Errorf("event %s: type version %d is out of range", d.ID, d.Version)
	case !isMap(d.Payload) || !isOne(d.Payload):
		return fmt.Errorf("event %s: payload is not one msgpack map", d.ID)
	}
	return nil
}

// isMap reports whether b begins with a msgpack map. What follows is the
// business of whoever knows the type.
func isMap(b []byte) bool {
	return len(b) > 0 && (msgpcode.IsFixedMap(b[0]) || b[0] == msgpcode.Map16 || b[0] == msgpcode.Map32)
}

// isOne reports whether b is exactly one msgpack value: bytes after it would
// break the array for every other reader.
func isOne(b []byte) bool {
	r := bytes.NewReader(b)
	d := msgpack.GetDecoder()
	defer msgpack.PutDecoder(d)
	d.Reset(r)
	return d.Skip() == nil && r.Len() == 0
}

// Decode reads an envelope. Payload and Stored of the result alias stored. An
// envelope of a newer format is a *NewerError; everything else that is wrong
// with it is a plain error, never a panic.
func Decode(stored []byte) (Record, error) {
	var rec Record
	err := decode(stored, &rec, func(b []byte) string { return string(b) })
	if err != nil {
		return Record{}, err
	}
	return rec, nil
}

// decode is Decode into rec; name makes the string of a type, so that a scan can
// reuse the few there are.
func decode(stored []byte, rec *Record, name func([]byte) string) error {
	r := reader{b: stored}
	n := r.array()
	format := r.int()
	if r.bad {
		return errNoEnvelope
	}
	if format > Format {
		return &NewerError{Format: int(format)}
	}
	lane := r.int()
	id := r.bin(16)
	typ := r.str()
	version := r.int()
	wall := r.int()
	run := r.bin(16)
	subject := r.bin(-1)
	prev := r.bin(32)
	switch {
	case r.bad || n != fields || format < 1:
		return errNoEnvelope
	case lane != int64(Changes) && lane != int64(Calls):
		return fmt.Errorf("lane %d is unknown", lane)
	case len(typ) == 0 || len(typ) > maxTypeSize || !utf8.Valid(typ) || version < 0 || version > math.MaxInt32:
		return errNoEnvelope
	case len(subject) != 0 && len(subject) != 16:
		return errNoEnvelope
	case !isMap(stored[r.i:]):
		return errors.New("payload is not a msgpack map")
	}
	*rec = Record{Format: int(format), Lane: Lane(lane), Stored: stored}
	rec.ID, rec.Run, rec.Prev = [16]byte(id), [16]byte(run), Hash(prev)
	if len(subject) == 16 {
		rec.Subject = [16]byte(subject)
	}
	rec.Type, rec.Version, rec.Wall, rec.Payload = name(typ), int(version), wall, stored[r.i:]
	return nil
}

var errNoEnvelope = errors.New("not an envelope")

// reader walks msgpack without copying: replay and verify spend their time
// here, and records alias the mapped file, which the library's decoder cannot
// do. After the first mismatch bad stays set and every result is zero.
type reader struct {
	b   []byte
	i   int // read up to here
	bad bool
}

// take returns the next n bytes.
func (r *reader) take(n int) []byte {
	if n > len(r.b)-r.i {
		r.fail()
		return nil
	}
	r.i += n
	return r.b[r.i-n : r.i]
}

func (r *reader) byte() byte {
	if r.i >= len(r.b) {
		r.fail()
		return 0
	}
	r.i++
	return r.b[r.i-1]
}

func (r *reader) fail() { r.bad, r.i = true, len(r.b) }

// uint reads n bytes, big-endian.
func (r *reader) uint(n int) (v uint64) {
	for _, c := range r.take(n) {
		v = v<<8 | uint64(c)
	}
	return v
}

func (r *reader) array() int {
	switch c := r.byte(); {
	case msgpcode.IsFixedArray(c):
		return int(c & msgpcode.FixedArrayMask)
	case c == msgpcode.Array16:
		return int(r.uint(2))
	}
	r.fail()
	return 0
}

// int reads any integer that fits.
func (r *reader) int() int64 {
	c := r.byte()
	switch {
	case r.bad:
		return 0
	case msgpcode.IsFixedNum(c):
		return int64(int8(c))
	}
	switch c {
	case msgpcode.Uint8:
		return int64(r.uint(1))
	case msgpcode.Uint16:
		return int64(r.uint(2))
	case msgpcode.Uint32:
		return int64(r.uint(4))
	case msgpcode.Uint64:
		if v := r.uint(8); v <= math.MaxInt64 {
			return int64(v)
		}
	case msgpcode.Int8:
		return int64(int8(r.uint(1)))
	case msgpcode.Int16:
		return int64(int16(r.uint(2)))
	case msgpcode.Int32:
		return int64(int32(r.uint(4)))
	case msgpcode.Int64:
		return int64(r.uint(8))
	}
	r.fail()
	return 0
}

// bin reads a bin of exactly n bytes, or of up to 255 when n is negative.
func (r *reader) bin(n int) []byte {
	if r.byte() != msgpcode.Bin8 {
		r.fail()
		return nil
	}
	size := int(r.uint(1))
	if n >= 0 && size != n {
		r.fail()
		return nil
	}
	return r.take(size)
}

func (r *reader) str() []byte {
	switch c := r.byte(); {
	case msgpcode.IsFixedString(c):
		return r.take(int(c & msgpcode.FixedStrMask))
	case c == msgpcode.Str8:
		return r.take(int(r.uint(1)))
	}
	r.fail()
	return nil
}
