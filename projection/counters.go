package projection

import (
	"forgeplan/internal/artifact"
	"forgeplan/internal/event"
)

// counters holds the highest number each kind ever had, taken-in ones
// included. It never falls: a number is not given twice.
var counters = View[int]{
	Name:    "counters",
	Version: 1,
	Keys: func(e event.Event) []string {
		if kind, _ := numberOf(e); kind != "" {
			return []string{kind}
		}
		return nil
	},
	Fold: func(_ string, last int, e event.Event) (int, bool) {
		_, n := numberOf(e)
		last = max(last, n)
		return last, last > 0
	},
	Encode: func(n int) []byte {
		var p packer
		p.array(1)
		p.int(int64(n))
		return p
	},
	Decode: func(row []byte) (int, error) {
		u := unpack(row)
		u.shape(1)
		n := int(u.int())
		return n, u.done()
	},
}

// Counters reads the table of numbers in use.
type Counters struct{ Table Table }

// Last is the highest number that an artifact of the kind ever had, 0 for
// none. The error wraps ErrRow.
func (c Counters) Last(kind string) (int, error) {
	n, _, err := counters.Get(c.Table, kind)
	return n, err
}

// numberOf is the number that an event uses up, and of which kind: that of the
// id's prefix, whatever kind the artifact is.
func numberOf(e event.Event) (kind string, n int) {
	switch p := e.Data.(type) {
	case artifact.Created:
		kind, n = p.Kind, p.Number
	case artifact.Renumbered:
		if id, err := artifact.ParseID(p.ID); err == nil {
			kind, n = string(id.Kind), p.Number
		}
	}
	if n <= 0 {
		return "", 0
	}
	return kind, n
}
