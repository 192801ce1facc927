package projection

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// Relation is one link. It belongs to its source; To finds it from the target.
// It is there whether or not its ends live: a reader asks for these.
type Relation struct {
	Source   ulid.ULID
	Relation string
	Target   string    // as written
	Bound    ulid.ULID // uid of the target; zero as long as nothing has that id
	Event    ulid.ULID // that recorded it
}

// relations is no View: an artifact that appears binds the links that wait for
// its id, and which these are only the table knows. So each link has up to two
// rows beside each other, and one row a missing id lists who waits:
//
//	RFC-001 based_on PRD-007, no PRD-007 yet     o…          w"PRD-007"
//	PRD-007 is created                           o…   i…
//
// All of it is found by key, never by a scan, so that folding stays linear.
type relations struct{}

const linksName = "relations"

func (relations) Ident() (name string, version int) { return linksName, 1 }

func (r relations) Apply(t Table, e event.Event) error {
	var err error
	switch p := e.Data.(type) {
	case artifact.RelationAdded:
		err = r.add(t, Relation{Source: e.Subject, Relation: p.Relation, Target: p.Target, Bound: p.TargetUID, Event: e.ID})
	case artifact.RelationRemoved:
		err = r.remove(t, outKey(e.Subject, p.Relation, p.Target))
	case artifact.Created:
		err = r.appear(t, p.ID, e.Subject)
	}
	if err != nil {
		return fmt.Errorf("table %s: %w", linksName, err)
	}
	return nil
}

// add writes a link. One that is there is written anew, and keeps its target
// if the event does not know it.
func (r relations) add(t Table, link Relation) error {
	key := outKey(link.Source, link.Relation, link.Target)
	old, ok, err := readRelation(t, key)
	if err != nil {
		return err
	}
	if link.Bound == (ulid.ULID{}) {
		link.Bound = old.Bound
	}
	if uid, err := ulid.ParseStrict(strings.ToUpper(link.Target)); err == nil && link.Bound == (ulid.ULID{}) {
		link.Bound = uid
	}
	if ok {
		if err := r.remove(t, key); err != nil {
			return err
		}
	}
	if err := t.Put(key, encodeRelation(link)); err != nil {
		return err
	}
	if link.Bound != (ulid.ULID{}) {
		return t.Put(inKey(link), encodeRelation(link))
	}
	return r.wait(t, link.Target, func(keys []string) []string {
		if at, found := slices.BinarySearch(keys, key); !found {
			keys = slices.Insert(keys, at, key)
		}
		return keys
	})
}

func (r relations) remove(t Table, key string) error {
	link, ok, err := readRelation(t, key)
	if err != nil || !ok {
		return err
	}
	if err := t.Delete(key); err != nil {
		return err
	}
	if link.Bound != (ulid.ULID{}) {
		return t.Delete(inKey(link))
	}
	return r.wait(t, link.Target, func(keys []string) []string {
		return slices.DeleteFunc(keys, func(k string) bool { return k == key })
	})
}

// appear binds the links that wait for an id to the artifact that has it now.
func (r relations) appear(t Table, id string, uid ulid.ULID) error {
	keys, err := readWaiting(t, waitKey(id))
	if err != nil || keys == nil {
		return err
	}
	for _, key := range keys {
		link, ok, err := readRelation(t, key)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		link.Bound = uid
		if err := t.Put(key, encodeRelation(link)); err != nil {
			return err
		}
		if err := t.Put(inKey(link), encodeRelation(link)); err != nil {
			return err
		}
	}
	return t.Delete(waitKey(id))
}

// wait changes the list of links that wait for an id.
func (relations) wait(t Table, id string, change func([]string) []string) error {
	keys, err := readWaiting(t, waitKey(id))
	if err != nil {
		return err
	}
	if keys = change(keys); len(keys) == 0 {
		return t.Delete(waitKey(id))
	}
	var p packer
	p.array(len(keys))
	for _, key := range keys {
		p.bin([]byte(key))
	}
	return t.Put(waitKey(id), p)
}

func outKey(source ulid.ULID, relation, target string) string {
	return "o" + string(source[:]) + relation + "\x00" + target
}

func inKey(r Relation) string {
	return "i" + string(r.Bound[:]) + r.Relation + "\x00" + string(r.Source[:]) + r.Target
}

func waitKey(id string) string { return "w" + canonical(id) }

func readRelation(t Table, key string) (Relation, bool, error) {
	val := t.Get(key)
	if val == nil {
		return Relation{}, false, nil
	}
	r, err := decodeRelation(val)
	if err != nil {
		return r, false, fmt.Errorf("row %q: %w", key, err)
	}
	return r, true, nil
}

func readWaiting(t Table, key string) ([]string, error) {
	val := t.Get(key)
	if val == nil {
		return nil, nil
	}
	u := unpack(val)
	n := u.array()
	keys := make([]string, 0, n)
	for range n {
		keys = append(keys, u.bin())
	}
	if err := u.done(); err != nil {
		return nil, fmt.Errorf("row %q: %w", key, err)
	}
	return keys, nil
}

func encodeRelation(r Relation) []byte {
	p := make(packer, 0, 64+len(r.Relation)+len(r.Target))
	p.array(5)
	p.text(r.Relation)
	p.text(r.Target)
	p.fixed(r.Source[:])
	p.fixed(r.Bound[:])
	p.fixed(r.Event[:])
	return p
}

func decodeRelation(row []byte) (Relation, error) {
	u := unpack(row)
	u.shape(5)
	r := Relation{Relation: u.text(), Target: u.text(), Source: u.ulid(), Bound: u.ulid(), Event: u.ulid()}
	return r, u.done()
}

// Relations reads the table of links.
type Relations struct{ Table Table }

// From yields the links of a source, by relation, then target as written. It
// ends with the first error, which wraps ErrRow.
func (r Relations) From(source ulid.ULID) iter.Seq2[Relation, error] {
	return r.scan("o" + string(source[:]))
}

// To yields the links bound to a target, by relation, then source. A link
// written twice in different spellings comes twice. It ends with the first
// error, which wraps ErrRow.
func (r Relations) To(target ulid.ULID) iter.Seq2[Relation, error] {
	return r.scan("i" + string(target[:]))
}

// All yields every link once, by source, relation and target as written. It
// ends with the first error, which wraps ErrRow.
func (r Relations) All() iter.Seq2[Relation, error] { return r.scan("o") }

// Get reads one link by its source, relation and target as written.
func (r Relations) Get(source ulid.ULID, relation, target string) (Relation, bool, error) {
	return readRelation(r.Table, outKey(source, relation, target))
}

func (r Relations) scan(prefix string) iter.Seq2[Relation, error] {
	return func(yield func(Relation, error) bool) {
		for key, val := range r.Table.Scan(prefix) {
			link, err := decodeRelation(val)
			if err != nil {
				err = fmt.Errorf("table %s, row %q: %w", linksName, key, err)
			}
			if !yield(link, err) || err != nil {
				return
			}
		}
	}
}
