package event

import (
	"fmt"
	"reflect"
)

// Kind is an event name with the newest version of its wire form. Decode reads
// that version and every older one, which it lifts to the newest.
type Kind struct {
	Name    string
	Version int
	Decode  func(version int, data []byte) (Payload, error)
}

// KindOf is the Kind of a payload that has only ever had one wire form.
func KindOf[T Payload]() Kind {
	var zero T
	return Kind{Name: zero.EventName(), Version: zero.EventVersion(), Decode: func(_ int, data []byte) (Payload, error) {
		p, err := Unmarshal[T](data)
		if err != nil {
			return nil, err
		}
		return p, nil
	}}
}

// Catalog is the list of events that a program knows. It is never changed, so
// it may be used from several goroutines.
type Catalog struct{ kinds map[string]Kind }

// NewCatalog puts lists of events together. It fails for a name that stands in
// them twice, and for a Kind without name, version or decoder.
func NewCatalog(groups ...[]Kind) (*Catalog, error) {
	c := &Catalog{kinds: map[string]Kind{}}
	for _, group := range groups {
		for _, k := range group {
			if k.Name == "" || k.Version < 1 || k.Decode == nil {
				return nil, fmt.Errorf("event %q, version %d: incomplete", k.Name, k.Version)
			}
			if _, twice := c.kinds[k.Name]; twice {
				return nil, fmt.Errorf("event %s: listed twice", k.Name)
			}
			c.kinds[k.Name] = k
		}
	}
	return c, nil
}

// Encode writes the bytes of a payload: always the same for the same payload.
// It refuses a payload that Decode would not give back: one that is not in the
// catalogue with this version (ErrUnknown), or a pointer.
func (c *Catalog) Encode(p Payload) ([]byte, error) {
	if p == nil || reflect.TypeOf(p).Kind() == reflect.Pointer {
		return nil, fmt.Errorf("encode %T: a payload is a value", p)
	}
	if k, ok := c.kinds[p.EventName()]; !ok || k.Version != p.EventVersion() {
		return nil, fmt.Errorf("encode %s, version %d: %w", p.EventName(), p.EventVersion(), ErrUnknown)
	}
	data, err := Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", p.EventName(), err)
	}
	return data, nil
}

// Decode reads what Encode of this or an older program wrote. ErrUnknown for a
// name or version this program does not know, ErrFormat for damaged bytes. The
// payload aliases nothing of data.
func (c *Catalog) Decode(name string, version int, data []byte) (Payload, error) {
	k, ok := c.kinds[name]
	if !ok || version < 1 || version > k.Version {
		return nil, fmt.Errorf("decode %q, version %d: %w", name, version, ErrUnknown)
	}
	p, err := k.Decode(version, data)
	if err != nil {
		return nil, fmt.Errorf("decode %s, version %d: %w", name, version, err)
	}
	return p, nil
}
