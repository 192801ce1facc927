package projection

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"
)

// What packer writes is what the library writes for the same values.
func TestPackerIsMsgpack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, -1, -32, -33, 127, 128, 255, 256, 65535, 65536,
			math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64, math.MinInt64})).Draw(t, "n")
		s := rapid.StringN(0, 300, -1).Draw(t, "s")
		b := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "b")
		items := rapid.IntRange(0, 40).Draw(t, "items")

		var got packer
		got.array(4)
		got.int(n)
		got.text(s)
		got.bin(b)
		got.array(items)
		for range items {
			got.int(1)
		}

		var n2 int64
		var s2 string
		var b2 []byte
		var list []int
		dec := msgpack.NewDecoder(bytes.NewReader(got))
		if l, err := dec.DecodeArrayLen(); err != nil || l != 4 {
			t.Fatal(l, err)
		}
		if err := dec.DecodeMulti(&n2, &s2, &b2, &list); err != nil {
			t.Fatal(err)
		}
		if n2 != n || s2 != s || !bytes.Equal(b2, b) || len(list) != items {
			t.Fatalf("library read %v %q %x %v", n2, s2, b2, list)
		}

		u := unpack(got)
		u.shape(4)
		if u.int() != n || u.text() != s || u.bin() != string(b) || u.array() != items {
			t.Fatal("unpacker read something else")
		}
		for range items {
			u.int()
		}
		if err := u.done(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestLongValues(t *testing.T) {
	for _, n := range []int{1<<16 - 1, 1 << 16, 1<<16 + 1} {
		long := bytes.Repeat([]byte("x"), n)
		var p packer
		p.array(n)
		for range n {
			p.int(1)
		}
		p.text(string(long))
		p.bin(long)
		u := unpack(p)
		if got := u.array(); got != n {
			t.Errorf("array of %d read as %d", n, got)
		}
		for range n {
			u.int()
		}
		if u.text() != string(long) || u.bin() != string(long) || u.done() != nil {
			t.Errorf("values of %d bytes read as others: %v", n, u.err)
		}
	}
}

func TestUnpackRefuses(t *testing.T) {
	for name, row := range map[string]string{
		"nothing":             "",
		"wrong type":          "\x01",
		"other length":        "\x91\x01",
		"cut text":            "\x92\xa3ab",
		"more than one row":   "\x92\xa1a\x01\x01",
		"huge text":           "\x92\xdb\xff\xff\xff\xff",
		"text for an integer": "\x92\xa1a\xa1a",
	} {
		u := unpack([]byte(row))
		u.shape(2)
		u.text()
		u.int()
		if err := u.done(); !errors.Is(err, ErrRow) {
			t.Errorf("%s: error %v, want ErrRow", name, err)
		}
	}
	u := unpack([]byte("\xdd\xff\xff\xff\xff"))
	if n := u.array(); n != 0 || u.done() == nil {
		t.Errorf("huge array: length %d, error %v", n, u.err)
	}
}
