package workspace

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"
	"forgeplan/internal/render"
	"forgeplan/journal"
	"forgeplan/projection"

	"github.com/oklog/ulid/v2"
)

// Finding is something in a file that cannot be taken in as it is. Its bytes
// stay.
type Finding struct {
	Path   string `json:"path"`
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason"`
}

func (f Finding) String() string {
	if f.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Reason)
	}
	return f.Path + ": " + f.Reason
}

// Intake is what was found in the files and became events.
type Intake struct {
	Created  []string // ids of artifacts that came with a file
	Changed  []string // ids of artifacts whose file was changed by hand
	Clashes  []string // provisional ids
	Pending  []string // paths of files that somebody is still writing
	Missing  []string // ids of artifacts whose file is gone
	Findings []Finding
	Warnings []string
}

// Warn puts into words what a reader of an answer should know.
func (i Intake) Warn() (lines []string) {
	const most = 20
	add := func(line string) {
		if len(lines) < most {
			lines = append(lines, line)
		}
	}
	for _, f := range i.Findings {
		add(f.String())
	}
	for _, p := range i.Pending {
		add(p + ": is being written; not taken in yet")
	}
	for _, id := range i.Missing {
		add(id + ": its file is missing; it was not deleted")
	}
	for _, w := range i.Warnings {
		add(w)
	}
	if n := len(i.Findings) + len(i.Pending) + len(i.Missing) + len(i.Warnings); n > most {
		lines = append(lines, fmt.Sprintf("%d more of these", n-most))
	}
	return lines
}

// intake turns what people did to files into events of a World.
type intake struct {
	w      *Workspace
	world  *World
	cache  *cache
	out    Intake
	paths  map[string]ulid.ULID // path of every source row, read when it is first needed
	claims map[ulid.ULID]string // uid → file that was taken for it
}

func (w *Workspace) intake(world *World) *intake {
	return &intake{w: w, world: world, cache: w.cache(), claims: map[ulid.ULID]string{}}
}

// file is one file under examination.
type file struct {
	path  string
	data  []byte
	doc   render.Document
	front render.Front
	sha   [32]byte
}

// maxTaken bounds a body that is taken in, bytes.
const maxTaken = 8 << 20

// young is how old a half-written file must at least be before it counts.
const young = 2 * time.Second

// take examines files and emits what they mean. New artifacts come in the
// order recorded, created, path; links after all of them.
func (in *intake) take(paths []string) error {
	var fresh []file
	for _, p := range paths {
		f, ok := in.read(p)
		if !ok {
			continue
		}
		uid, there, err := in.match(f)
		if err != nil {
			return err
		}
		switch {
		case there && in.claims[uid] != "":
			in.find(p, 0, "has the uid of "+in.claims[uid])
		case there:
			in.claims[uid] = p
			if err := in.change(uid, f); err != nil {
				return err
			}
		default:
			fresh = append(fresh, f)
		}
	}
	slices.SortStableFunc(fresh, func(a, b file) int {
		return cmp.Or(cmp.Compare(created(a.front), created(b.front)), strings.Compare(a.path, b.path))
	})
	var made []ulid.ULID
	for _, f := range fresh {
		uid, err := in.create(f)
		if err != nil {
			return err
		}
		made = append(made, uid)
	}
	for i, uid := range made {
		if uid == noID {
			continue
		}
		if err := in.link(uid, nil, links(fresh[i].front)); err != nil {
			return err
		}
	}
	return nil
}

func (in *intake) find(path string, line int, reason string) {
	in.out.Findings = append(in.out.Findings, Finding{Path: path, Line: line, Reason: reason})
}

// read reads a file that holds still and can be understood.
func (in *intake) read(name string) (f file, ok bool) {
	root := in.w.root
	before, err := root.Lstat(name)
	if errors.Is(err, os.ErrNotExist) {
		return f, false
	}
	data, _, err := readFile(root, name)
	if err != nil {
		in.find(name, 0, "cannot be read: "+plain(err).Error())
		return f, false
	}
	after, err := root.Lstat(name)
	if err != nil || changing(before, after) {
		in.out.Pending = append(in.out.Pending, name)
		return f, false
	}
	f = file{path: name, data: data, sha: sha256.Sum256(data)}
	if in.half(f, after) {
		in.out.Pending = append(in.out.Pending, name)
		return f, false
	}
	var pe *render.ParseError
	if f.doc, err = render.Split(data); err == nil {
		f.front, err = render.Parse(f.doc.Head)
	}
	switch {
	case errors.As(err, &pe):
		in.find(name, pe.Line, pe.Msg)
	case err != nil:
		in.find(name, 1, err.Error())
	case conflict(data) > 0:
		in.find(name, conflict(data), "holds the marks of a merge conflict")
	case len(f.doc.Body) > maxTaken:
		in.find(name, 0, "its body is larger than 8 MiB")
	case !utf8.Valid(f.doc.Body):
		in.find(name, 0, "its body is not valid UTF-8")
	default:
		return f, true
	}
	return f, false
}

// half reports whether somebody seems to be in the middle of writing: the file
// is empty, or the beginning of what it was, and younger than two seconds.
func (in *intake) half(f file, fi os.FileInfo) bool {
	age := in.w.env.now().Sub(fi.ModTime())
	if age < 0 || age >= young {
		return false
	}
	if len(f.data) == 0 {
		return true
	}
	uid, ok, err := in.byPath(f.path)
	if err != nil || !ok {
		return false
	}
	src, _, err := in.world.sources().Get(uid)
	if err != nil {
		return false
	}
	a, live := in.world.Live(uid)
	if !live {
		return false
	}
	body, err := in.world.Body(a)
	full := slices.Concat(src.Head, body)
	return err == nil && len(f.data) < len(full) && bytes.HasPrefix(full, f.data)
}

// conflict is the line of the first mark of a merge conflict, 0 if there is none.
func conflict(data []byte) int {
	open := 0
	for i, line := range strings.Split(string(data), "\n") {
		switch line = strings.TrimSuffix(line, "\r"); {
		case strings.HasPrefix(line, "<<<<<<< "):
			open = i + 1
		case strings.HasPrefix(line, ">>>>>>> ") && open > 0:
			return open
		}
	}
	return 0
}

// match finds the artifact of a file: by its uid, by the recorded name, by id.
func (in *intake) match(f file) (uid ulid.ULID, there bool, err error) {
	if text, ok := f.front.Text("uid"); ok {
		if id, perr := ulid.ParseStrict(strings.TrimSpace(text)); perr == nil {
			if _, live := in.world.Live(id); live {
				return id, true, nil
			}
		}
	}
	if uid, ok, err := in.byPath(f.path); err != nil || ok {
		return uid, ok, err
	}
	// By id only where the artifact's own file is not there: this is it, renamed.
	if id, ok := f.front.Text("id"); ok {
		if a, live := in.world.Holder(strings.TrimSpace(id)); live {
			if derived(f) == a.UID {
				return a.UID, true, nil
			}
			if _, err := in.w.root.Lstat(a.Path); errors.Is(err, os.ErrNotExist) && !hasUID(f.front) {
				return a.UID, true, nil
			}
		}
	}
	return noID, false, nil
}

func hasUID(f render.Front) bool { _, ok := f.Text("uid"); return ok }

// byPath is the live artifact that a file name is recorded for.
func (in *intake) byPath(name string) (ulid.ULID, bool, error) {
	if in.paths == nil {
		in.paths = map[string]ulid.ULID{}
		for a, err := range in.world.Artifacts().Scan() {
			if err != nil {
				return noID, false, err
			}
			in.paths[a.Path] = a.UID
		}
	}
	uid, ok := in.paths[name]
	if !ok {
		return noID, false, nil
	}
	_, live := in.world.Live(uid)
	return uid, live, nil
}

// derived is the uid of an artifact whose file came without one: the same in
// every clone. Time 0, then 80 bits of SHA-256 of kind, 0, id as written, 0,
// base name.
func derived(f file) (uid ulid.ULID) {
	kind, _ := f.front.Text("kind")
	id, _ := f.front.Text("id")
	sum := sha256.Sum256([]byte(kind + "\x00" + id + "\x00" + path.Base(f.path)))
	copy(uid[6:], sum[:10])
	return uid
}

// created is the key `created` as wall ns, 0 where there is none.
func created(f render.Front) int64 {
	text, ok := f.Text("created")
	if !ok {
		return 0
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return t.UnixNano()
		}
	}
	return 0
}

// ownKeys have events of their own, or none.
var ownKeys = []string{"id", "uid", "kind", "status", "title", "depth", "author", "parent_epic", "valid_until", "tags", "links", "created"}

// create emits the creation of an artifact that came with a file.
func (in *intake) create(f file) (ulid.ULID, error) {
	id, _ := f.front.Text("id")
	if id = strings.TrimSpace(id); id == "" {
		in.find(f.path, 1, "has no id")
		return noID, nil
	}
	if !artifact.ValidStoredID(id) {
		in.find(f.path, f.front.Line("id"), "its id has characters that an id cannot have")
		return noID, nil
	}
	kind, err := kindOf(f)
	if err != nil {
		in.find(f.path, max(1, f.front.Line("kind")), err.Error())
		return noID, nil
	}
	uid := derived(f)
	if text, ok := f.front.Text("uid"); ok {
		own, err := ulid.ParseStrict(strings.TrimSpace(text))
		if err != nil {
			in.find(f.path, f.front.Line("uid"), "its uid is no ULID")
			return noID, nil
		}
		uid = own
	}
	for r, err := range in.world.Receipts().Of(uid) {
		if err != nil {
			return noID, err
		}
		if r.Open() {
			in.find(f.path, 0, fmt.Sprintf("is the file of %s, which was deleted (receipt %s)", r.Artifact, r.ID))
			return noID, nil
		}
	}
	if in.claims[uid] != "" {
		in.find(f.path, f.front.Line("uid"), "has the uid of "+in.claims[uid])
		return noID, nil
	}
	in.claims[uid] = f.path

	c := artifact.Created{ID: id, Kind: string(kind), Status: string(artifact.StatusDraft), Title: id, Depth: "standard", CreatedAt: created(f.front),
		Body:   artifact.BodyFacts{Len: int64(len(f.doc.Body)), SHA: sha256.Sum256(f.doc.Body)},
		Source: artifact.Source{Path: f.path, Head: f.doc.Head, Want: f.sha}}
	if parsed, err := artifact.ParseID(id); err == nil && parsed.Kind == kind {
		c.Number = parsed.Number
	}
	if _, taken := in.world.Holder(id); taken {
		c.ID = in.provisional(id, uid)
		in.out.Clashes = append(in.out.Clashes, c.ID)
	}
	if text, ok := f.front.Text("title"); ok {
		c.Title = text
	}
	c.Status = statusOf(f, c.Status)
	c.Depth = depthOf(f, c.Depth)
	c.Author, c.ParentEpic = word(f.front, "author"), word(f.front, "parent_epic")
	c.ValidUntil, _ = validityOf(f)
	c.Tags = unique(f.front.List("tags"))
	for _, k := range f.front.Keys() {
		if !slices.Contains(ownKeys, k) {
			raw, _ := f.front.Raw(k)
			c.Fields = append(c.Fields, artifact.Field{Key: k, Value: raw})
		}
	}
	body := f.doc.Body
	if body == nil {
		body = []byte{}
	}
	in.out.Created = append(in.out.Created, c.ID)
	if err := in.world.Emit(uid, c, body); err != nil {
		return noID, err
	}
	in.odd(uid, f)
	return uid, nil
}

// odd adds what stays wrong in a file that was taken in as far as it can be.
func (in *intake) odd(uid ulid.ULID, f file) []Finding {
	a, _ := in.world.Live(uid)
	found := oddities(f.path, f.front, a)
	in.out.Findings = append(in.out.Findings, found...)
	return found
}

// provisional is the id of an artifact whose own is held by another one.
func (in *intake) provisional(id string, uid ulid.ULID) string {
	text := uid.String()
	for n := 4; n < len(text); n++ {
		p := id + "~" + text[len(text)-n:]
		if _, taken := in.world.Holder(p); !taken {
			return p
		}
	}
	return id + "~" + text
}

// kindOf is the kind in a file, or that of its folder.
func kindOf(f file) (artifact.Kind, error) {
	text, ok := f.front.Text("kind")
	if !ok {
		for _, k := range artifact.Kinds {
			if k.Folder == path.Dir(f.path) {
				return k.Kind, nil
			}
		}
	}
	return artifact.ParseKind(text)
}

// statusOf is the status in a file; was, where it has none that is one.
func statusOf(f file, was string) string {
	if text, ok := f.front.Text("status"); ok {
		if s, err := artifact.ParseStatus(text); err == nil {
			return string(s)
		}
	}
	return was
}

// depthOf is the depth in a file; was, where it has none that is one.
func depthOf(f file, was string) string {
	if text, ok := f.front.Text("depth"); ok {
		if d, err := artifact.ParseDepth(text); err == nil {
			return string(d)
		}
	}
	return was
}

// validityOf is until when a file says that it holds; false for what is no
// date.
func validityOf(f file) (string, bool) {
	text := word(f.front, "valid_until")
	return text, text == "" || artifact.CheckDate(text) == nil
}

// word is the text of a key; ~ and null mean that it has none.
func word(f render.Front, key string) string {
	if f.Null(key) {
		return ""
	}
	text, _ := f.Text(key)
	return text
}

func unique(list []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func links(f render.Front) (out []render.Link) {
	for _, l := range f.Links() {
		l.Relation = strings.ReplaceAll(strings.ToLower(l.Relation), "-", "_")
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// link emits the links that differ between two states of a file.
func (in *intake) link(uid ulid.ULID, was, is []render.Link) error {
	for _, l := range was {
		if !slices.Contains(is, l) {
			if err := in.world.Emit(uid, artifact.RelationRemoved{Relation: l.Relation, Target: l.Target, TargetUID: in.target(l.Target)}, nil); err != nil {
				return err
			}
		}
	}
	for _, l := range is {
		if !slices.Contains(was, l) {
			if err := in.world.Emit(uid, artifact.RelationAdded{Relation: l.Relation, Target: l.Target, TargetUID: in.target(l.Target)}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (in *intake) target(id string) ulid.ULID {
	a, err := in.world.Find(id)
	if err != nil {
		return noID
	}
	return a.UID
}

// base is the state that a file was last confirmed in here: what a person
// changed is the difference to it.
type base struct {
	at   artifact.Artifact
	head []byte
	body []byte
}

// change emits what a person changed in the file of a known artifact.
func (in *intake) change(uid ulid.ULID, f file) error {
	w := in.world
	src, _, err := w.sources().Get(uid)
	if err != nil {
		return err
	}
	last, seen := in.cache.get(uid)
	if f.sha == src.Want && f.path == src.Path {
		odd := len(in.odd(uid, f)) > 0
		if err := in.cache.note(uid, f.path, f.sha, odd, in.w.env.now()); err != nil {
			in.out.Warnings = append(in.out.Warnings, f.path+": not noted: "+plain(err).Error())
		}
		return nil
	}
	wr := &writer{w: in.w, tx: w.tx, tables: w.table, cache: in.cache, whole: true}
	if f.sha != src.Want && wr.ours(uid, f.sha, last, seen) {
		return nil // an older version of ours: the writer finishes it
	}
	a, _ := w.Live(uid)
	b := base{at: a, head: src.Head}
	lags := seen && last.hash() != src.Want && last.hash() != f.sha
	if lags {
		if at, ok, err := (projection.Wants{Table: w.table("wants")}).Get(uid, last.hash()); err != nil {
			return err
		} else if ok {
			if b.at, b.head, err = w.asOf(uid, at); err != nil {
				return err
			}
		} else {
			lags = false
		}
	}
	if b.body, err = w.Body(b.at); err != nil {
		return err
	}
	n := len(w.drafts)
	if err := in.changeKeys(uid, f, b); err != nil {
		return err
	}
	if !bytes.Equal(b.body, f.doc.Body) {
		if lags && b.at.Body != a.Body {
			in.out.Warnings = append(in.out.Warnings, fmt.Sprintf("%s: the body in the file replaces the one of event %s", f.path, a.Body.Event))
		}
		if now, live := w.Live(uid); live {
			if _, err := w.SetBody(now, f.doc.Body); err != nil {
				return err
			}
		}
	}
	was := ""
	if f.path != src.Path {
		was = src.Path
	}
	renamed := f.sha == src.Want
	if err := w.Emit(uid, artifact.SourceChanged{Source: artifact.Source{Path: f.path, Head: f.doc.Head, Want: f.sha}, Was: was}, nil); err != nil {
		return err
	}
	in.odd(uid, f)
	now, _ := w.Live(uid)
	if !renamed || len(w.drafts) > n+1 {
		in.out.Changed = append(in.out.Changed, now.ID)
	}
	if lags {
		// What the journal changed since the file was last confirmed goes on
		// top of what the person wrote.
		return in.merge(uid, f, now)
	}
	return nil
}

// merge decides the file anew where both sides changed it.
func (in *intake) merge(uid ulid.ULID, f file, now artifact.Artifact) error {
	asWritten := now
	asWritten.Title, _ = f.front.Text("title")
	asWritten.Status = statusOf(f, now.Status)
	asWritten.Depth = depthOf(f, now.Depth)
	asWritten.Author, asWritten.ParentEpic = word(f.front, "author"), word(f.front, "parent_epic")
	asWritten.ValidUntil = word(f.front, "valid_until")
	asWritten.Tags = f.front.List("tags")
	return in.world.seal(asWritten, now)
}

func (in *intake) changeKeys(uid ulid.ULID, f file, b base) error {
	w := in.world
	was, err := render.Parse(b.head)
	if err != nil {
		return err
	}
	differs := func(key string) bool {
		x, xok := was.Text(key)
		y, yok := f.front.Text(key)
		return x != y || xok != yok
	}
	emit := func(ps ...event.Payload) error {
		for _, p := range ps {
			if err := w.Emit(uid, p, nil); err != nil {
				return err
			}
		}
		return nil
	}
	now := func() artifact.Artifact { a, _ := w.Live(uid); return a }

	if title, _ := f.front.Text("title"); differs("title") && strings.TrimSpace(title) != "" {
		if err := emit(now().Retitle(title)...); err != nil {
			return err
		}
	}
	if s := statusOf(f, now().Status); differs("status") && s != now().Status {
		if !legal(now().Status, s) {
			in.find(f.path, f.front.Line("status"), fmt.Sprintf("%s does not follow %s; taken as written", s, now().Status))
		}
		if err := emit(artifact.StatusCorrected{Status: s, Was: now().Status}); err != nil {
			return err
		}
	}
	if k, err := kindOf(f); differs("kind") && err == nil && string(k) != now().Kind {
		if err := emit(artifact.KindChanged{Kind: string(k), Was: now().Kind}); err != nil {
			return err
		}
	}
	if differs("depth") {
		if err := emit(now().SetDepth(depthOf(f, now().Depth))...); err != nil {
			return err
		}
	}
	for _, key := range []string{"author", "parent_epic"} {
		if differs(key) {
			if err := emit(now().SetField(key, word(f.front, key))...); err != nil {
				return err
			}
		}
	}
	if differs("valid_until") {
		if until, ok := validityOf(f); ok {
			if err := emit(now().SetValidity(until)...); err != nil {
				return err
			}
		}
	}
	if x, y := was.List("tags"), f.front.List("tags"); !slices.Equal(x, y) {
		if err := emit(now().SetTags(unique(y))...); err != nil {
			return err
		}
	}
	var fields []artifact.FieldChange
	for _, key := range unique(append(was.Keys(), f.front.Keys()...)) {
		x, xok := was.Raw(key)
		y, yok := f.front.Raw(key)
		if !slices.Contains(ownKeys, key) && (x != y || xok != yok) {
			fields = append(fields, artifact.FieldChange{Key: key, Value: y, Set: yok, Was: x, WasSet: xok})
		}
	}
	if len(fields) > 0 {
		if err := emit(artifact.FieldsChanged{Fields: fields}); err != nil {
			return err
		}
	}
	return in.link(uid, links(was), links(f.front))
}

// legal: some step of the lifecycle leads from one status to the other.
func legal(from, to string) bool {
	return slices.Contains(artifact.Status(from).Next(), artifact.Status(to))
}

// missing lists artifacts whose file is gone. Absence never deletes.
func (in *intake) missing(there map[string]bool) error {
	for a, err := range in.world.Artifacts().Scan() {
		if err != nil {
			return err
		}
		if !there[a.Path] {
			if _, err := in.w.root.Lstat(a.Path); errors.Is(err, os.ErrNotExist) {
				in.out.Missing = append(in.out.Missing, a.ID)
			}
		}
	}
	return nil
}

// asOf is an artifact, and the bytes before its body, as the run that holds
// the event at had left it. It reads all of `changes` up to there.
func (w *World) asOf(uid, at ulid.ULID) (a artifact.Artifact, head []byte, err error) {
	var run ulid.ULID
	for e, err := range events(w.tx, journal.Changes, noID, noID) {
		if err != nil {
			return a, nil, err
		}
		if run != noID && e.Run != run {
			return a, head, nil
		}
		if e.ID == at {
			run = e.Run
		}
		if e.Subject != uid {
			continue
		}
		a, _ = artifact.Fold(a, e)
		switch p := e.Data.(type) {
		case artifact.Created:
			head = p.Source.Head
		case artifact.SourceChanged:
			head = p.Source.Head
		case artifact.Restored:
			if p.State.ID != "" {
				head = p.State.Source.Head
			}
		}
	}
	return a, head, nil
}
