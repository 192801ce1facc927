package journal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"
)

var sample = Record{
	Draft: Draft{
		ID: ulid.MustParse("01J0000000000000000000000W"), Type: "artifact.created", Version: 1,
		Wall: 1_772_366_400_123_456_789, Run: ulid.MustParse("01J0000000000000000000000V"),
		Subject: ulid.MustParse("01J0000000000000000000000X"), Payload: []byte{0x81, 0xa1, 'n', 0x01},
	},
	Format: 1, Lane: Changes, Prev: Hash{0: 0xab, 31: 0xcd},
}

// The bytes of format 1. This text is never edited: what it shows lies on disks.
const sampleHex = "9a" + "01" + "01" + "c4100190000000000000000000000000001c" +
	"b0" + "61727469666163742e63726561746564" + "01" + "d31898b5d9bb324d15" +
	"c4100190000000000000000000000000001b" + "c4100190000000000000000000000000001d" +
	"c420ab000000000000000000000000000000000000000000000000000000000000cd" + "81a16e01"

func TestEnvelopeBytes(t *testing.T) {
	got, err := EncodeRecord([]byte("kept"), sample)
	must(t, err)
	if s := hex.EncodeToString(got[4:]); s != sampleHex || string(got[:4]) != "kept" {
		t.Errorf("got  %s\nwant %s", s, sampleHex)
	}
	rec, err := Decode(got[4:])
	must(t, err)
	same(t, rec, sample)
	if !bytes.Equal(rec.Stored, got[4:]) {
		t.Error("Stored is not the value")
	}
}

func same(t interface{ Errorf(string, ...any) }, got, want Record) {
	g, w := got, want
	g.Stored, w.Stored, g.Payload, w.Payload = nil, nil, nil, nil
	if g.ID != w.ID || g.Type != w.Type || g.Version != w.Version || g.Wall != w.Wall || g.Run != w.Run ||
		g.Subject != w.Subject || g.Format != w.Format || g.Lane != w.Lane || g.Prev != w.Prev ||
		!bytes.Equal(got.Payload, want.Payload) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// Any record comes back, and the library's own decoder sees the same values.
func TestEnvelopeRoundTrip(t *testing.T) {
	id := rapid.Custom(func(t *rapid.T) (id ulid.ULID) {
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		return id
	})
	rapid.Check(t, func(t *rapid.T) {
		want := Record{Format: 1, Lane: rapid.SampledFrom(lanes[:]).Draw(t, "lane")}
		want.ID = id.Filter(func(id ulid.ULID) bool { return !id.IsZero() }).Draw(t, "event")
		want.Type = rapid.StringN(1, 30, maxTypeSize).Draw(t, "type")
		want.Version = int(rapid.Int32Min(0).Draw(t, "version"))
		want.Wall = rapid.Int64().Draw(t, "wall")
		want.Run = id.Draw(t, "run")
		want.Subject = rapid.OneOf(id, rapid.Just(zero)).Draw(t, "subject")
		copy(want.Prev[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "prev"))
		want.Payload = payload(rapid.StringN(0, 300, 1000).Draw(t, "payload"))
		stored, err := EncodeRecord(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(stored)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
		same(t, got.Clone(), want)

		var values []any
		if err := msgpack.Unmarshal(stored, &values); err != nil || len(values) != fields {
			t.Fatalf("the library reads %d values: %v", len(values), err)
		}
		if !bytes.Equal(values[2].([]byte), want.ID[:]) || values[3] != want.Type || values[5] != want.Wall || !bytes.Equal(values[8].([]byte), want.Prev[:]) {
			t.Errorf("the library reads %v", values)
		}
	})
}

func TestCloneOutlivesItsPage(t *testing.T) {
	stored, err := EncodeRecord(nil, sample)
	must(t, err)
	rec, err := Decode(stored)
	must(t, err)
	kept := rec.Clone()
	clear(stored)
	same(t, kept, sample)
}

func TestDecodeRefuses(t *testing.T) {
	good, err := hex.DecodeString(sampleHex)
	must(t, err)
	for n := range len(good) - 3 { // up to the payload's first byte, which alone is looked at
		if _, err := Decode(good[:n]); err == nil {
			t.Errorf("%d bytes were taken for an envelope", n)
		}
	}
	for name, at := range map[string]struct {
		i int
		b byte
	}{
		"nine elements": {0, 0x99}, "eleven elements": {0, 0x9b}, "format 0": {1, 0}, "format -1": {1, 0xff},
		"lane 0": {2, 0}, "lane 3": {2, 3}, "id too long": {4, 17}, "id a string": {3, 0xb0},
		"payload a number": {len(good) - 4, 1}, "type no string": {21, 0xc0},
	} {
		bad := bytes.Clone(good)
		bad[at.i] = at.b
		if _, err := Decode(bad); err == nil || errors.Is(err, ErrNewer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	newer := bytes.Clone(good)
	newer[0], newer[1] = 0x9b, 2 // may well have another shape
	var n *NewerError
	if _, err := Decode(newer); !errors.Is(err, ErrNewer) || !errors.As(err, &n) || n.Format != 2 {
		t.Errorf("format 2: %v", err)
	}
}

// What decodes encodes again to something that decodes to the same.
func FuzzDecode(f *testing.F) {
	good, err := hex.DecodeString(sampleHex)
	must(f, err)
	f.Add(good)
	for _, cut := range []int{0, 1, 20, len(good) - 4} {
		f.Add(good[:cut])
	}
	newer := bytes.Clone(good)
	newer[1] = 9
	f.Add(newer)
	noSubject, err := EncodeRecord(nil, Record{Draft: Draft{ID: sample.ID, Type: "x", Payload: []byte{0x80}}, Format: 1, Lane: Calls})
	must(f, err)
	f.Add(noSubject)
	f.Add([]byte("not an envelope"))
	f.Fuzz(func(t *testing.T, b []byte) {
		rec, err := Decode(b)
		if err != nil {
			return
		}
		if !bytes.HasSuffix(b, rec.Payload) || !bytes.Equal(rec.Stored, b) {
			t.Fatal("payload or stored bytes are not the input's")
		}
		again, err := EncodeRecord(nil, rec)
		if err != nil {
			return // Decode does not look into the payload, Append does
		}
		back, err := Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		same(t, back, rec)
	})
}
