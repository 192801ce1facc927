package workspace

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"time"

	"forgeplan/internal/artifact"
	"forgeplan/internal/render"

	"github.com/oklog/ulid/v2"
)

// New is what a tool says of an artifact to be created.
type New struct {
	Kind, Title, Depth string   // depth empty: the kind's default
	Tags               []string // as typed
	ParentEpic, Author string
	Body               []byte // nil: a skeleton of headings
}

// Create emits the creation of an artifact and returns it. Its number is taken
// here, inside the transaction that creates it.
func (w *World) Create(n New) (artifact.Artifact, error) {
	title, err := artifact.CheckTitle(n.Title)
	if err != nil {
		return artifact.Artifact{}, err
	}
	if err := artifact.CheckLine("author", n.Author); err != nil {
		return artifact.Artifact{}, err
	}
	kind, err := artifact.ParseKind(n.Kind)
	if err != nil {
		return artifact.Artifact{}, err
	}
	info := kind.Info()
	depth := n.Depth
	if depth == "" {
		depth = string(info.DefaultDepth)
	}
	var tags []string
	for _, t := range n.Tags {
		if clean := artifact.CleanTag(t); clean != "" && !slices.Contains(tags, clean) {
			tags = append(tags, clean)
		}
	}
	number, err := w.NextNumber(string(kind))
	if err != nil {
		return artifact.Artifact{}, err
	}
	uid, id := w.NextUID(), artifact.FormatID(kind, number)
	body := n.Body
	if body == nil {
		body = []byte(artifact.Skeleton(kind, title))
	}
	front := render.Fields{ID: id, UID: uid.String(), Kind: string(kind), Status: "draft", Title: title, Depth: depth, Author: n.Author,
		ParentEpic: n.ParentEpic, Tags: tags, Created: render.Time(w.now.UnixNano())}
	head := render.Compose(front)
	created := artifact.Created{
		ID: id, Number: number, Kind: string(kind), Status: front.Status, Title: title, Depth: depth, Author: n.Author, ParentEpic: n.ParentEpic,
		Tags: tags, Body: artifact.BodyFacts{Len: int64(len(body)), SHA: sha256.Sum256(body)},
		Source: artifact.Source{Path: path.Join(info.Folder, render.FileName(id, title)), Head: head, Want: want(head, body)},
	}
	if err := w.Emit(uid, created, body); err != nil {
		return artifact.Artifact{}, err
	}
	return w.must(uid, id)
}

// SetBody emits a new body, if it is another one.
func (w *World) SetBody(a artifact.Artifact, body []byte) (changed bool, err error) {
	ps := a.Rebody(int64(len(body)), sha256.Sum256(body))
	for _, p := range ps {
		if err := w.Emit(a.UID, p, body); err != nil {
			return false, err
		}
	}
	return len(ps) > 0, nil
}

func want(head, body []byte) [32]byte {
	h := sha256.New()
	h.Write(head)
	h.Write(body)
	return [32]byte(h.Sum(nil))
}

// Seal ends the run: for each artifact whose file has to change it decides,
// once and for all, the file's name, its frontmatter and its hash. Folds copy
// these; nothing is spliced or hashed again.
func (w *World) Seal() error {
	for _, uid := range subjects(w.drafts[w.taken:]) {
		before, existed := w.Before(uid)
		after, exists := w.Live(uid)
		if !exists {
			continue // what takes an artifact away takes its file
		}
		if !existed {
			// What makes an artifact carries its file; what comes after it
			// in the same call changes that file.
			before = w.asMade(uid)
		}
		if err := w.seal(before, after); err != nil {
			return fmt.Errorf("decide file of %s: %w", after.ID, err)
		}
	}
	return nil
}

// asMade is an artifact as the first event of this call made it.
func (w *World) asMade(uid ulid.ULID) (a artifact.Artifact) {
	for _, d := range w.drafts[w.taken:] {
		if d.event.Subject == uid {
			a, _ = artifact.Fold(a, d.event)
			return a
		}
	}
	return a
}

// Head is the verbatim bytes before an artifact's body.
func (w *World) Head(uid ulid.ULID) ([]byte, error) {
	src, _, err := w.sources().Get(uid)
	return src.Head, err
}

func (w *World) seal(before, after artifact.Artifact) error {
	src, ok, err := w.sources().Get(after.UID)
	if err != nil {
		return err
	}
	if !ok {
		return nil
	}
	edits, err := w.edits(before, after)
	if err != nil {
		return err
	}
	front, err := render.Parse(src.Head)
	if err != nil {
		return err
	}
	if _, ok := front.Text("uid"); !ok { // our first change to a file that came without one
		edits = append(edits, render.Edit{Key: "uid", Kind: render.Scalar, Text: after.UID.String()})
	}
	head := src.Head
	if len(edits) > 0 {
		if head, err = render.Splice(src.Head, edits); err != nil {
			return err
		}
	}
	body, err := w.Body(after)
	if err != nil {
		return err
	}
	if len(body) > 0 {
		head = render.Closed(head) // a closing line without its end would run into the body
	}
	next := artifact.Source{Path: src.Path, Head: head, Want: want(head, body)}
	if before.Title != after.Title || before.ID != after.ID {
		next.Path = path.Join(path.Dir(src.Path), render.FileName(after.ID, after.Title))
	}
	if next.Want == src.Want && next.Path == src.Path && bytes.Equal(next.Head, src.Head) {
		return nil
	}
	was := ""
	if next.Path != src.Path {
		was = src.Path
	}
	return w.Emit(after.UID, artifact.SourceChanged{Source: next, Was: was}, nil)
}

// edits lists the frontmatter keys that differ between two states.
func (w *World) edits(before, after artifact.Artifact) ([]render.Edit, error) {
	var out []render.Edit
	text := func(key, was, is string, quoted bool) {
		switch {
		case was == is:
		case is == "":
			out = append(out, render.Edit{Key: key, Kind: render.Remove})
		default:
			out = append(out, render.Edit{Key: key, Kind: render.Scalar, Text: is, Quote: quoted})
		}
	}
	text("id", before.ID, after.ID, false)
	text("kind", before.Kind, after.Kind, false)
	text("status", before.Status, after.Status, false)
	text("title", before.Title, after.Title, true)
	text("depth", before.Depth, after.Depth, false)
	text("author", before.Author, after.Author, true)
	text("parent_epic", before.ParentEpic, after.ParentEpic, false)
	text("valid_until", before.ValidUntil, after.ValidUntil, false)
	for _, f := range after.Fields {
		was, _ := before.Field(f.Key)
		text(f.Key, was, f.Value, true)
	}
	for _, f := range before.Fields {
		if _, still := after.Field(f.Key); !still {
			out = append(out, render.Edit{Key: f.Key, Kind: render.Remove})
		}
	}
	if !slices.Equal(before.Tags, after.Tags) {
		if len(after.Tags) == 0 {
			out = append(out, render.Edit{Key: "tags", Kind: render.Remove})
		} else {
			out = append(out, render.Edit{Key: "tags", Kind: render.List, List: after.Tags})
		}
	}
	links, changed, err := w.links(after.UID)
	if err != nil {
		return nil, err
	}
	if changed {
		if len(links) == 0 {
			out = append(out, render.Edit{Key: "links", Kind: render.Remove})
		} else {
			out = append(out, render.Edit{Key: "links", Kind: render.LinkList, Links: links})
		}
	}
	return out, nil
}

// links are the relations that stand in the file of their source, in the order
// they were made; changed, if this call made or removed one.
func (w *World) links(uid ulid.ULID) (links []render.Link, changed bool, err error) {
	for _, d := range w.drafts[w.taken:] {
		if d.event.Subject != uid {
			continue
		}
		switch d.event.Data.(type) {
		case artifact.RelationAdded, artifact.RelationRemoved:
			changed = true
		}
	}
	if !changed {
		return nil, false, nil
	}
	type made struct {
		at   ulid.ULID
		link render.Link
	}
	var all []made
	for r, err := range w.Relations().From(uid) {
		if err != nil {
			return nil, false, err
		}
		all = append(all, made{r.Event, render.Link{Target: r.Target, Relation: r.Relation}})
	}
	slices.SortFunc(all, func(a, b made) int { return a.at.Compare(b.at) })
	for _, m := range all {
		links = append(links, m.link)
	}
	return links, true, nil
}

// Attempt makes the ULID that names one try of a call, before any lock.
func (e *Env) Attempt(at time.Time) ulid.ULID {
	id, err := ulid.New(ulid.Timestamp(at), e.entropy())
	if err != nil {
		return ulid.ULID{}
	}
	return id
}
