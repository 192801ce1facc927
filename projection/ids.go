package projection

import (
	"iter"
	"slices"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// Holders are the artifacts that an id can mean, in order of recording.
type Holders struct {
	Exact []ulid.ULID // recorded with this very id
	Near  []ulid.ULID // recorded with the same id in other spelling: prd-42 for PRD-042
}

// First is the artifact that holds the id. The zero ULID if there is none.
func (h Holders) First() ulid.ULID {
	for _, uid := range append(h.Exact[:len(h.Exact):len(h.Exact)], h.Near...) {
		return uid
	}
	return ulid.ULID{}
}

var ids = View[Holders]{
	Name:    "ids",
	Version: 1,
	Keys: func(e event.Event) []string {
		id, _ := idOf(e)
		if id == "" {
			return nil
		}
		if near := canonical(id); near != id {
			return []string{id, near}
		}
		return []string{id}
	},
	Fold: func(key string, row Holders, e event.Event) (Holders, bool) {
		switch id, comes := idOf(e); {
		case id == "":
		case !comes:
			row.Exact, row.Near = without(row.Exact, e.Subject), without(row.Near, e.Subject)
		case id == key:
			row.Exact = with(row.Exact, e.Subject)
		default:
			row.Near = with(row.Near, e.Subject)
		}
		return row, len(row.Exact)+len(row.Near) > 0
	},
	Encode: func(h Holders) []byte {
		p := make(packer, 0, 4+18*(len(h.Exact)+len(h.Near)))
		p.array(2)
		for _, list := range [][]ulid.ULID{h.Exact, h.Near} {
			p.array(len(list))
			for _, uid := range list {
				p.fixed(uid[:])
			}
		}
		return p
	},
	Decode: func(row []byte) (Holders, error) {
		u := unpack(row)
		u.shape(2)
		var h Holders
		for _, list := range []*[]ulid.ULID{&h.Exact, &h.Near} {
			for range u.array() {
				*list = append(*list, u.ulid())
			}
		}
		return h, u.done()
	},
}

// idOf is the id that an event gives to its subject or, when it does not come
// but go, takes from it. Empty for any other event.
func idOf(e event.Event) (id string, comes bool) {
	switch p := e.Data.(type) {
	case artifact.Created:
		return p.ID, true
	case artifact.Restored:
		return p.State.ID, true
	case artifact.Renumbered:
		return p.ID, true // the old id keeps resolving
	case artifact.Deleted:
		return p.State.ID, false
	}
	return "", false
}

func without(list []ulid.ULID, uid ulid.ULID) []ulid.ULID {
	return slices.DeleteFunc(slices.Clone(list), func(u ulid.ULID) bool { return u == uid })
}

// canonical spells a display id the one way we spell it, and leaves any other
// text as it is.
func canonical(id string) string {
	if parsed, err := artifact.ParseID(id); err == nil {
		return parsed.Text
	}
	return id
}

// with appends uid unless it is there. It never writes to the array of list.
func with(list []ulid.ULID, uid ulid.ULID) []ulid.ULID {
	if slices.Contains(list, uid) {
		return list
	}
	return append(list[:len(list):len(list)], uid)
}

// IDs reads the table of ids.
type IDs struct{ Table Table }

// Get finds the artifact that holds an id, spelled as stored; a display id in
// our own spelling also finds one that was recorded in another. Of several
// artifacts with one id it is the first that was recorded. The error wraps
// ErrRow.
func (i IDs) Get(id string) (uid ulid.ULID, ok bool, err error) {
	h, ok, err := ids.Get(i.Table, id)
	return h.First(), ok, err
}

// Holders reads all artifacts that an id can mean. The error wraps ErrRow.
func (i IDs) Holders(id string) (Holders, error) {
	h, _, err := ids.Get(i.Table, id)
	return h, err
}

// Clashes yields the ids that more than one artifact was recorded with, in
// order. Some of the artifacts may be deleted. It ends with the first error,
// which wraps ErrRow.
func (i IDs) Clashes() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for id, val := range i.Table.Scan("") {
			h, err := ids.decode(id, val)
			if err != nil {
				yield(id, err)
				return
			}
			if len(h.Exact)+len(h.Near) > 1 && !yield(id, nil) {
				return
			}
		}
	}
}
