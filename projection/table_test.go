package projection

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plainRows is the table that Memory and Overlay must agree with.
type plainRows map[string][]byte

func (r plainRows) scan(prefix string) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(r)) {
		if strings.HasPrefix(key, prefix) {
			out = append(out, key+"="+string(r[key]))
		}
	}
	return out
}

func listed(seq iter.Seq2[string, []byte]) (out []string) {
	for key, row := range seq {
		out = append(out, key+"="+string(row))
	}
	return out
}

// Few letters, so that keys meet and are prefixes of each other. The byte
// 0xff is the one that prefix ends are got wrong with.
var (
	anyKey = rapid.StringOfN(rapid.SampledFrom([]rune{'a', 'b', '\x00'}), 0, 4, -1)
	anyEnd = rapid.SampledFrom([]string{"", "", "\xff", "\xff\xff"})
)

func drawKey(t *rapid.T) string { return anyKey.Draw(t, "key") + anyEnd.Draw(t, "end") }

func drive(t *rapid.T, table Table, model plainRows) {
	t.Repeat(map[string]func(*rapid.T){
		"put": func(t *rapid.T) {
			key, val := drawKey(t), []byte(fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "val")))
			if err := table.Put(key, val); err != nil {
				t.Fatal(err)
			}
			model[key] = val
		},
		"delete": func(t *rapid.T) {
			key := drawKey(t)
			if err := table.Delete(key); err != nil {
				t.Fatal(err)
			}
			delete(model, key)
		},
		"get": func(t *rapid.T) {
			key := drawKey(t)
			if got, want := table.Get(key), model[key]; !bytes.Equal(got, want) || (got == nil) != (want == nil) {
				t.Fatalf("get %q = %q, want %q", key, got, want)
			}
		},
		"scan": func(t *rapid.T) {
			prefix := drawKey(t)
			if got, want := listed(table.Scan(prefix)), model.scan(prefix); !slices.Equal(got, want) {
				t.Fatalf("scan %q = %q, want %q", prefix, got, want)
			}
		},
		"break off": func(t *rapid.T) {
			n, got := rapid.IntRange(1, 3).Draw(t, "rows"), []string(nil)
			for key, row := range table.Scan("") {
				if got = append(got, key+"="+string(row)); len(got) == n {
					break
				}
			}
			want := model.scan("")
			if got, want := got, want[:min(n, len(want))]; !slices.Equal(got, want) {
				t.Fatalf("first %d = %q, want %q", n, got, want)
			}
		},
		"": func(t *rapid.T) {},
	})
}

func TestMemoryIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { drive(t, NewMemory(), plainRows{}) })
}

func TestOverlayIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, model := NewMemory(), plainRows{}
		for range rapid.IntRange(0, 8).Draw(t, "base rows") {
			key := drawKey(t)
			base.Put(key, []byte("base"))
			model[key] = []byte("base")
		}
		before := listed(base.Scan(""))
		over := NewOverlay(base)
		drive(t, over, model)
		if got := listed(base.Scan("")); !slices.Equal(got, before) {
			t.Fatalf("base became %q, was %q", got, before)
		}
		if err := over.Flush(base); err != nil {
			t.Fatal(err)
		}
		if got, want := listed(base.Scan("")), model.scan(""); !slices.Equal(got, want) {
			t.Fatalf("flushed %q, want %q", got, want)
		}
	})
}

// logged notes what is written, in order.
type logged struct {
	Memory
	log []string
}

func (l *logged) Put(key string, val []byte) error {
	l.log = append(l.log, "put "+key)
	return l.Memory.Put(key, val)
}

func (l *logged) Delete(key string) error {
	l.log = append(l.log, "delete "+key)
	return l.Memory.Delete(key)
}

func TestFlushWritesByRisingKey(t *testing.T) {
	var base logged
	over := NewOverlay(&base)
	for _, key := range []string{"d", "a", "e", "c"} {
		over.Put(key, []byte("x"))
	}
	over.Delete("b")
	over.Delete("d")
	over.Put("b", []byte("again"))
	over.Delete("0")
	if err := over.Flush(&base); err != nil {
		t.Fatal(err)
	}
	want := []string{"delete 0", "put a", "put b", "put c", "delete d", "put e"}
	if !slices.Equal(base.log, want) {
		t.Errorf("wrote %q, want %q", base.log, want)
	}
}

func TestScanWhileWriting(t *testing.T) {
	filled := func() *Memory {
		m := NewMemory()
		for _, key := range []string{"a", "b", "c", "d"} {
			m.Put(key, []byte("1"))
		}
		return m
	}
	for name, table := range map[string]Table{"memory": filled(), "overlay": NewOverlay(filled())} {
		var got []string
		for key := range table.Scan("") {
			got = append(got, key)
			table.Delete(key)
			table.Delete("c")
			for range table.Scan("") { // sorts anew under the running scan
			}
		}
		if want := []string{"a", "b", "d"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Yet to be committed changes may come in layers.
func TestOverlayOnOverlay(t *testing.T) {
	base := NewMemory()
	base.Put("a", []byte("1"))
	base.Put("b", []byte("1"))
	lower := NewOverlay(base)
	lower.Delete("a")
	upper := NewOverlay(lower)
	upper.Put("a", []byte("2"))
	upper.Delete("b")
	if got, want := listed(upper.Scan("")), []string{"a=2"}; !slices.Equal(got, want) {
		t.Errorf("upper: %q, want %q", got, want)
	}
	if got, want := listed(lower.Scan("")), []string{"b=1"}; !slices.Equal(got, want) {
		t.Errorf("lower: %q, want %q", got, want)
	}
}
