package event_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"
)

func catalog(t testing.TB) *event.Catalog {
	t.Helper()
	c, err := event.NewCatalog(event.Events)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The bytes, spelled out: a map in order of declaration, shortest integers.
func TestBytes(t *testing.T) {
	for _, tt := range []struct {
		payload event.Payload
		want    string
	}{
		{event.ClockStepped{}, "80"},
		{event.ClockStepped{Newest: 1, Now: 300}, "82" + "a6" + hex.EncodeToString([]byte("newest")) + "01" + "a3" + hex.EncodeToString([]byte("now")) + "cd012c"},
		{event.ClockStepped{Now: -1}, "81" + "a3" + hex.EncodeToString([]byte("now")) + "ff"},
		{event.Initialized{Project: "é"}, "81" + "a7" + hex.EncodeToString([]byte("project")) + "a2c3a9"},
		{event.Call{}, "80"}, // zero ULIDs and hashes are not there at all
		{event.Call{Seen: ulid.ULID{15: 1}}, "81" + "a4" + hex.EncodeToString([]byte("seen")) + "c410" + strings.Repeat("00", 15) + "01"},
		{event.Call{KeyHash: event.Hash{0: 9}}, "81" + "a8" + hex.EncodeToString([]byte("key_hash")) + "c42009" + strings.Repeat("00", 31)},
		{event.Call{Args: []event.ArgSize{}, Targets: []ulid.ULID{}}, "80"},
		{event.Call{Targets: []ulid.ULID{{}}}, "81" + "a7" + hex.EncodeToString([]byte("targets")) + "91c410" + strings.Repeat("00", 16)}, // in a list they are
	} {
		data, err := catalog(t).Encode(tt.payload)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(data); got != tt.want {
			t.Errorf("%+v\n got %s\nwant %s", tt.payload, got, tt.want)
		}
	}
}

// Every field of every payload has a name of its own, and is left out if empty.
func TestTags(t *testing.T) {
	for _, k := range event.Events {
		p, err := k.Decode(1, []byte{0x80})
		if err != nil {
			t.Fatal(err)
		}
		checkTags(t, reflect.TypeOf(p))
	}
}

func checkTags(t *testing.T, typ reflect.Type) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("msgpack"), ",")
		if name == "" || strings.ToLower(name) != name || rest != "omitempty" {
			t.Errorf("%s.%s: tag %q", typ, f.Name, f.Tag)
		}
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
			checkTags(t, f.Type.Elem())
		}
	}
}

func TestRoundTrip(t *testing.T) {
	c := catalog(t)
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.Make[event.Call]().Draw(t, "call")
		data, err := c.Encode(in)
		if err != nil {
			t.Fatal(err)
		}
		again, err := c.Encode(in)
		if err != nil || !bytes.Equal(data, again) {
			t.Fatalf("the same call has other bytes: %x, %x, %v", data, again, err)
		}
		out, err := c.Decode(in.EventName(), in.EventVersion(), data)
		if err != nil {
			t.Fatal(err)
		}
		// Empty lists come back as nil.
		if len(in.Args) == 0 {
			in.Args = nil
		}
		if len(in.Targets) == 0 {
			in.Targets = nil
		}
		if len(in.Read) == 0 {
			in.Read = nil
		}
		if !reflect.DeepEqual(out, in) {
			t.Fatalf("got %+v\nwant %+v", out, in)
		}
	})
}

func TestUnmarshalRefuses(t *testing.T) {
	whole, err := event.Marshal(event.ClockStepped{Newest: 1, Now: 2})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"nothing":         {},
		"nil":             {0xc0},
		"an integer":      {0x01},
		"an array":        {0x92, 0x01, 0x02},
		"an empty array":  {0x90},
		"text":            {0xa1, 'x'},
		"a byte after it": append(bytes.Clone(whole), 0xc0),
		"two maps":        append(bytes.Clone(whole), whole...),
		"half":            whole[:len(whole)-1],
		"a length of 4 G": {0xdf, 0xff, 0xff, 0xff, 0xff},
		"text of 4 G":     {0x81, 0xdb, 0xff, 0xff, 0xff, 0xff},
		"an integer key":  {0x81, 0x01, 0x01},
		"another type":    append([]byte{0x81, 0xa3}, "now\xa1x"...),
		"an extension":    append([]byte{0x81, 0xa1}, "x\xd4\x01\x00"...),
		"deep nesting":    append(append([]byte{0x81, 0xa1, 'x'}, bytes.Repeat([]byte{0x91}, 1<<20)...), 0x01),
	} {
		if v, err := event.Unmarshal[event.ClockStepped](data); !errors.Is(err, event.ErrFormat) {
			t.Errorf("%s: got %+v, %v", name, v, err)
		} else if v != (event.ClockStepped{}) {
			t.Errorf("%s: value %+v beside the error", name, v)
		}
	}
	for name, data := range map[string][]byte{
		"a short hash": append([]byte{0x81, 0xa8}, "key_hash\xc4\x01x"...),
		"a short ULID": append([]byte{0x81, 0xa4}, "seen\xc4\x01x"...),
	} {
		if _, err := event.Unmarshal[event.Call](data); !errors.Is(err, event.ErrFormat) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// What a newer program adds is skipped, whatever it is.
func TestUnmarshalSkipsUnknownFields(t *testing.T) {
	type newer struct {
		Added  []map[string]any `msgpack:"added"`
		Newest int64            `msgpack:"newest"`
		More   float64          `msgpack:"more"`
		Now    int64            `msgpack:"now"`
	}
	data, err := msgpack.Marshal(newer{Added: []map[string]any{{"a": []int{1, 2}, "b": nil}}, Newest: 5, More: 0.5, Now: 6})
	if err != nil {
		t.Fatal(err)
	}
	got, err := event.Unmarshal[event.ClockStepped](data)
	if want := (event.ClockStepped{Newest: 5, Now: 6}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestDecodeAliasesNothing(t *testing.T) {
	c, want := catalog(t), sampleCall()
	data, err := c.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Decode(want.EventName(), 1, data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		data[i] = 0xff
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("payload changed with the page it came from: %+v", got)
	}
}

func TestCatalog(t *testing.T) {
	c := catalog(t)
	for name, version := range map[string]int{"artifact.never": 1, "call.recorded": 2, "workspace.initialized": 0, "": 1} {
		if _, err := c.Decode(name, version, []byte{0x80}); !errors.Is(err, event.ErrUnknown) {
			t.Errorf("decode %q version %d: %v", name, version, err)
		}
	}
	if _, err := c.Encode(stranger{}); !errors.Is(err, event.ErrUnknown) {
		t.Errorf("encode of an event that is not listed: %v", err)
	}
	if _, err := c.Encode(&event.Call{}); err == nil {
		t.Error("a pointer was encoded; it would come back as a value")
	}
	if _, err := c.Encode(nil); err == nil {
		t.Error("nil was encoded")
	}
	if _, err := event.NewCatalog(event.Events, event.Events); err == nil {
		t.Error("a name listed twice was taken")
	}
	if _, err := event.NewCatalog([]event.Kind{{Name: "x.done", Version: 1}}); err == nil {
		t.Error("a kind without a decoder was taken")
	}
}

type stranger struct{}

func (stranger) EventName() string { return "stranger.seen" }
func (stranger) EventVersion() int { return 1 }

func FuzzDecode(f *testing.F) {
	c := catalog(f)
	for _, p := range []event.Payload{sampleCall(), event.ClockStepped{Newest: 1, Now: -5}, event.Initialized{Project: "p"}} {
		data, err := c.Encode(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{0x81, 0xa1, 'x', 0x91, 0x91, 0x91, 0xc0})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, k := range event.Events {
			p, err := c.Decode(k.Name, k.Version, data)
			if err != nil {
				if !errors.Is(err, event.ErrFormat) {
					t.Fatalf("%s: %v", k.Name, err)
				}
				continue
			}
			written, err := c.Encode(p)
			if err != nil {
				t.Fatalf("%s: cannot write what was read: %v", k.Name, err)
			}
			again, err := c.Decode(k.Name, k.Version, written)
			if err != nil {
				t.Fatalf("%s: %v", k.Name, err)
			}
			if last, err := c.Encode(again); err != nil || !bytes.Equal(last, written) {
				t.Fatalf("%s: %x became %x, %v", k.Name, written, last, err)
			}
		}
	})
}

func BenchmarkDecodeCall(b *testing.B) {
	c := catalog(b)
	data, err := c.Encode(sampleCall())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Decode("call.recorded", 1, data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeCall(b *testing.B) {
	c, call := catalog(b), sampleCall()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Encode(call); err != nil {
			b.Fatal(err)
		}
	}
}
