package projection

import (
	"forgeplan/internal/artifact"
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// Source is how an artifact stands in its file: body goes after Head.
type Source struct {
	Path string   // below the workspace folder, with forward slashes
	Head []byte   // verbatim bytes before the body
	Want [32]byte // SHA-256 of the whole file; zero for none
	Gone bool     // the artifact was deleted: no file is to stand there
}

var sources = View[Source]{
	Name:    "sources",
	Version: 1,
	Keys: func(e event.Event) []string {
		if _, gone := e.Data.(artifact.Deleted); gone {
			return []string{uidKey(e.Subject)}
		}
		if _, ok := sourceOf(e); !ok {
			return nil
		}
		return []string{uidKey(e.Subject)}
	},
	Fold: func(_ string, row Source, e event.Event) (Source, bool) {
		if _, gone := e.Data.(artifact.Deleted); gone {
			row.Gone = true
			return row, row.Path != ""
		}
		s, ok := sourceOf(e)
		if !ok {
			return row, row.Path != ""
		}
		return Source{Path: s.Path, Head: s.Head, Want: s.Want}, true
	},
	Encode: func(s Source) []byte {
		p := make(packer, 0, 48+len(s.Path)+len(s.Head))
		p.array(4)
		p.text(s.Path)
		p.bin(s.Head)
		p.fixed(s.Want[:])
		gone := int64(0)
		if s.Gone {
			gone = 1
		}
		p.int(gone)
		return p
	},
	Decode: func(row []byte) (Source, error) {
		u := unpack(row)
		u.shape(4)
		s := Source{Path: u.text(), Head: []byte(u.bin()), Want: u.hash(), Gone: u.int() == 1}
		return s, u.done()
	},
}

// sourceOf is the file state that an event sets for its subject.
func sourceOf(e event.Event) (s artifact.Source, ok bool) {
	switch p := e.Data.(type) {
	case artifact.Created:
		s = p.Source
	case artifact.SourceChanged:
		s = p.Source
	case artifact.Restored:
		s = p.State.Source
	}
	return s, s.Path != ""
}

// uidKey is the key of the rows that an artifact has one of.
func uidKey(uid ulid.ULID) string { return string(uid[:]) }

// Sources reads the table of file states.
type Sources struct{ Table Table }

// Get reads how an artifact stands in its file; false if it has none. The
// error wraps ErrRow.
func (s Sources) Get(uid ulid.ULID) (Source, bool, error) {
	return sources.Get(s.Table, uidKey(uid))
}
