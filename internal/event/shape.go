package event

import (
	"encoding/binary"
	"fmt"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// maxDepth is how deep a payload may nest. Ours nest two deep; the library
// skips unknown fields by recursion, and a Go stack that overflows ends the
// program.
const maxDepth = 32

// checkShape reports whether data is one whole msgpack map and nothing after
// it. It goes before the library's decoder, which takes other shapes for a
// struct, ignores what follows it, and believes the lengths it reads.
func checkShape(data []byte) error {
	s := shape{data: data}
	if len(data) == 0 || !isMap(data[0]) {
		return fmt.Errorf("%w: no map", ErrFormat)
	}
	if err := s.value(0); err != nil {
		return err
	}
	if s.at != len(data) {
		return fmt.Errorf("%w: %d bytes after it", ErrFormat, len(data)-s.at)
	}
	return nil
}

func isMap(c byte) bool {
	return msgpcode.IsFixedMap(c) || c == msgpcode.Map16 || c == msgpcode.Map32
}

// shape walks over msgpack values without reading them.
type shape struct {
	data []byte
	at   int
}

func (s *shape) value(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: nested deeper than %d", ErrFormat, maxDepth)
	}
	if s.at >= len(s.data) {
		return s.short()
	}
	c := s.data[s.at]
	s.at++
	switch {
	case msgpcode.IsFixedNum(c), c == msgpcode.Nil, c == msgpcode.False, c == msgpcode.True:
		return nil
	case msgpcode.IsFixedMap(c):
		return s.values(2*int(c&msgpcode.FixedMapMask), depth)
	case msgpcode.IsFixedArray(c):
		return s.values(int(c&msgpcode.FixedArrayMask), depth)
	case msgpcode.IsFixedString(c):
		return s.skip(int(c & msgpcode.FixedStrMask))
	}
	switch c {
	case msgpcode.Uint8, msgpcode.Int8:
		return s.skip(1)
	case msgpcode.Uint16, msgpcode.Int16:
		return s.skip(2)
	case msgpcode.Uint32, msgpcode.Int32, msgpcode.Float:
		return s.skip(4)
	case msgpcode.Uint64, msgpcode.Int64, msgpcode.Double:
		return s.skip(8)
	case msgpcode.Str8, msgpcode.Bin8:
		return s.sized(1)
	case msgpcode.Str16, msgpcode.Bin16:
		return s.sized(2)
	case msgpcode.Str32, msgpcode.Bin32:
		return s.sized(4)
	case msgpcode.Array16, msgpcode.Array32, msgpcode.Map16, msgpcode.Map32:
		width, per := 2, 1
		if c == msgpcode.Array32 || c == msgpcode.Map32 {
			width = 4
		}
		if isMap(c) {
			per = 2
		}
		n, err := s.length(width)
		if err != nil {
			return err
		}
		return s.values(per*n, depth)
	}
	return fmt.Errorf("%w: code %#x", ErrFormat, c) // an extension, or unassigned
}

func (s *shape) values(n, depth int) error {
	if n < 0 || n > len(s.data)-s.at { // each takes a byte at least; below 0 where int has 32 bits
		return s.short()
	}
	for range n {
		if err := s.value(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

func (s *shape) sized(width int) error {
	n, err := s.length(width)
	if err != nil {
		return err
	}
	return s.skip(n)
}

// length reads a length of width bytes, big end first.
func (s *shape) length(width int) (int, error) {
	from := s.at
	if err := s.skip(width); err != nil {
		return 0, err
	}
	var wide [4]byte
	copy(wide[4-width:], s.data[from:s.at])
	return int(binary.BigEndian.Uint32(wide[:])), nil
}

func (s *shape) skip(n int) error {
	if n < 0 || n > len(s.data)-s.at {
		return s.short()
	}
	s.at += n
	return nil
}

func (s *shape) short() error { return fmt.Errorf("%w: cut short", ErrFormat) }
