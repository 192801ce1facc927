package artifact

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"forgeplan/internal/event"
)

// Every field of every payload has a name of its own, and is left out if empty.
func TestTags(t *testing.T) {
	for _, s := range samples() {
		checkTags(t, reflect.TypeOf(s))
		empty := reflect.Zero(reflect.TypeOf(s)).Interface()
		if data, err := event.Marshal(empty); err != nil || !bytes.Equal(data, []byte{0x80}) {
			t.Errorf("an empty %T is %x, %v; want 80", s, data, err)
		}
	}
}

func checkTags(t *testing.T, typ reflect.Type) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("msgpack"), ",")
		if name == "" || strings.ToLower(name) != name || rest != "omitempty" {
			t.Errorf("%s.%s: tag %q", typ, f.Name, f.Tag)
		}
		next := f.Type
		if next.Kind() == reflect.Slice {
			next = next.Elem()
		}
		if next.Kind() == reflect.Struct {
			checkTags(t, next)
		}
	}
}

func FuzzDecode(f *testing.F) {
	c, err := event.NewCatalog(Events)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range samples() {
		data, err := c.Encode(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, k := range Events {
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
			a, _ := Fold(Artifact{}, at(1, Created{}))
			Fold(a, at(2, p)) // must not panic
		}
	})
}
