package workspace

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"
	"forgeplan/journal"
	"forgeplan/projection"
	"forgeplan/receipts"

	"github.com/oklog/ulid/v2"
)

// World is what one call decides on: a snapshot of the tables, and above it
// an overlay that holds what the call's own events change. It is valid only
// inside the function it was given to. Nothing is written until that function
// has returned.
type World struct {
	tx       *journal.Tx
	now      time.Time
	call     ulid.ULID // of this call's event; zero for a reader
	next     ulid.ULID // of the next event
	seen     ulid.ULID // head of changes that the snapshot stands at
	base     func(name string) projection.Table
	overlays map[string]*projection.Overlay
	drafts   []draft
	bodies   map[ulid.ULID][]byte
	limits   Config
	settled  map[ulid.ULID]artifact.Artifact // artifacts as hand edits left them, their files decided
	taken    int                             // drafts before this one came from files
	own      int                             // drafts before this one are hand edits that a dry run looks through
}

// draft is an event that the call wants appended.
type draft struct {
	event event.Event
	body  []byte // of events that set a body
}

// NotFoundError says that no artifact has this id.
type NotFoundError struct{ ID string }

func (e *NotFoundError) Error() string { return "no artifact has the id " + e.ID }

// DeletedError says that the artifact was deleted, and when.
type DeletedError struct {
	ID      string
	Receipt receipts.Receipt
	By      string // who deleted it: actor, and client program where known
}

func (e *DeletedError) Error() string { return e.ID + " was deleted" }

func (e *DeletedError) Is(target error) bool { return target == ErrNotFound }

// ErrNotFound: errors.Is of every *NotFoundError.
var ErrNotFound = errors.New("not found")

func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// Now is the clock of the call: read once, inside the transaction.
func (w *World) Now() time.Time { return w.now }

// Call is the ULID that this call is recorded under.
func (w *World) Call() ulid.ULID { return w.call }

// Seen is the head of `changes` that the snapshot stands at.
func (w *World) Seen() ulid.ULID { return w.seen }

// Limits is the configuration that bounds titles and bodies.
func (w *World) Limits() Config { return w.limits }

func (w *World) table(name string) projection.Table {
	if o := w.overlays[name]; o != nil {
		return o
	}
	o := projection.NewOverlay(w.base(name))
	w.overlays[name] = o
	return o
}

// Artifacts reads the artifact rows, the call's own changes included.
func (w *World) Artifacts() projection.Artifacts {
	return projection.Artifacts{Table: w.table("artifacts")}
}

// IDs reads the table of display ids.
func (w *World) IDs() projection.IDs { return projection.IDs{Table: w.table("ids")} }

// Relations reads the links from both ends.
func (w *World) Relations() projection.Relations {
	return projection.Relations{Table: w.table("relations")}
}

// Keys reads the bound idempotency keys.
func (w *World) Keys() projection.Keys { return projection.Keys{Table: w.table("keys")} }

// Clashes lists the artifacts whose own id is held by a, under the provisional
// ids that they have until they are renumbered.
func (w *World) Clashes(a artifact.Artifact) (out []artifact.Artifact) {
	for id := range w.table("ids").Scan(a.ID + "~") {
		if other, live := w.Holder(id); live && other.ID == id {
			out = append(out, other)
		}
	}
	return out
}

// Receipts reads what may be taken back.
func (w *World) Receipts() receipts.Table { return receipts.Table{Rows: w.table("receipts")} }

// CallOf reads the record of a call; false if there is none.
func (w *World) CallOf(id ulid.ULID) (event.Call, bool, error) {
	e, ok, err := w.Event(id)
	c, call := e.Data.(event.Call)
	return c, ok && call, err
}

// Who says in words who made a call: actor, and client program where known.
func (w *World) Who(call ulid.ULID) string {
	c, ok, err := w.CallOf(call)
	switch {
	case err != nil || !ok:
		return ""
	case c.Client != "" && c.Client != c.Actor:
		return c.Actor + " (" + c.Client + ")"
	}
	return c.Actor
}

// Event reads a recorded event; false if there is none.
func (w *World) Event(id ulid.ULID) (event.Event, bool, error) {
	r, ok, err := w.tx.Record(id)
	if err != nil || !ok {
		return event.Event{}, false, err
	}
	e, err := decode(r)
	return e, err == nil, err
}

// Since lists the calls that recorded events of an artifact after an event,
// oldest first, each once. It reads all events since: ask it of recent ones.
func (w *World) Since(uid, after ulid.ULID) (calls []ulid.ULID, err error) {
	for r, err := range w.tx.Records(journal.Changes, after, ulid.ULID{}) {
		if err != nil {
			return nil, err
		}
		if r.Subject == uid && (len(calls) == 0 || calls[len(calls)-1] != r.Run) {
			calls = append(calls, r.Run)
		}
	}
	return calls, nil
}

// Live is an artifact that exists now, this call's changes included.
func (w *World) Live(uid ulid.ULID) (artifact.Artifact, bool) {
	a, ok, err := w.Artifacts().Get(uid)
	return a, ok && err == nil
}

// Holder is the artifact that holds a display id now.
func (w *World) Holder(id string) (artifact.Artifact, bool) {
	uid, ok, err := w.IDs().Get(id)
	if err != nil || !ok {
		return artifact.Artifact{}, false
	}
	return w.Live(uid)
}

// Linked reports whether a link is recorded.
func (w *World) Linked(source, target ulid.ULID, relation string) bool {
	for r, err := range w.Relations().From(source) {
		if err != nil {
			return false
		}
		if r.Relation == relation && r.Bound == target {
			return true
		}
	}
	return false
}

func (w *World) counters() projection.Counters {
	return projection.Counters{Table: w.table("counters")}
}

func (w *World) sources() projection.Sources { return projection.Sources{Table: w.table("sources")} }

// Before is the artifact as the snapshot has it, without this call's changes.
func (w *World) Before(uid ulid.ULID) (artifact.Artifact, bool) {
	if a, ok := w.settled[uid]; ok {
		return a, true
	}
	a, ok, err := projection.Artifacts{Table: w.base("artifacts")}.Get(uid)
	return a, ok && err == nil
}

// Find resolves an id as people and agents write it: a stored id as written,
// a display id in any case and padding, or a whole uid. *NotFoundError, or an
// *artifact.InputError for text that cannot be an id.
func (w *World) Find(id string) (artifact.Artifact, error) {
	text := strings.TrimSpace(id)
	if uid, ok, err := w.IDs().Get(text); err != nil {
		return artifact.Artifact{}, err
	} else if ok {
		return w.must(uid, text)
	}
	parsed, perr := artifact.ParseID(text)
	if perr == nil {
		if uid, ok, err := w.IDs().Get(parsed.Text); err != nil {
			return artifact.Artifact{}, err
		} else if ok {
			return w.must(uid, parsed.Text)
		}
		return artifact.Artifact{}, w.missing(parsed.Text, w.Receipts().OfID(parsed.Text))
	}
	if uid, err := ulid.ParseStrict(strings.ToUpper(text)); err == nil {
		return w.must(uid, strings.ToUpper(text))
	}
	return artifact.Artifact{}, perr
}

func (w *World) must(uid ulid.ULID, id string) (artifact.Artifact, error) {
	a, ok, err := w.Artifacts().Get(uid)
	if err != nil {
		return a, err
	}
	if !ok {
		return a, w.missing(id, w.Receipts().Of(uid))
	}
	return a, nil
}

// missing tells an id that was deleted from one that never was.
func (w *World) missing(id string, of iter.Seq2[receipts.Receipt, error]) error {
	for r, err := range of {
		if err != nil {
			return err
		}
		if r.Op == receipts.OpDelete && r.Open() {
			return &DeletedError{ID: r.Artifact, Receipt: r, By: w.Who(r.Run)}
		}
	}
	return &NotFoundError{ID: id}
}

// Body reads the text of an artifact, whole.
func (w *World) Body(a artifact.Artifact) ([]byte, error) {
	if b, ok := w.bodies[a.Body.Event]; ok {
		return b, nil
	}
	if a.Body.Event == (ulid.ULID{}) {
		return nil, nil
	}
	b, ok := w.tx.Body(a.Body.Event)
	if !ok {
		return nil, &journal.DamageError{File: journalName, What: "body of event " + a.Body.Event.String() + " is missing"}
	}
	if sha256.Sum256(b) != a.Body.SHA {
		return nil, &journal.DamageError{File: journalName, What: "body of event " + a.Body.Event.String() + " is not what was stored"}
	}
	return b, nil
}

// Result reads the kept result of an earlier keyed call.
func (w *World) Result(call ulid.ULID) ([]byte, bool) { return w.tx.Result(call) }

// Emit appends an event of the artifact uid to this call and folds it at
// once, so that later reads of this World see it. body is stored for events
// that set one. ErrNewer if the artifact has events this program cannot read.
func (w *World) Emit(uid ulid.ULID, p event.Payload, body []byte) error {
	if a, ok, err := w.Artifacts().Get(uid); err != nil {
		return err
	} else if ok && a.Unknown > 0 {
		return fmt.Errorf("%w: %s has %d newer event(s) that this program cannot read", ErrNewer, a.ID, a.Unknown)
	}
	e := event.Event{ID: w.next, Run: w.call, Subject: uid, At: w.now.UnixNano(), Name: p.EventName(), Version: p.EventVersion(), Data: p}
	w.next = journal.Successor(w.next)
	return w.emit(e, body)
}

func (w *World) emit(e event.Event, body []byte) error {
	for _, p := range projectors {
		name, _ := p.Ident()
		if err := p.Apply(w.table(name), e); err != nil {
			return err
		}
	}
	if body != nil {
		w.bodies[e.ID] = body
	}
	w.drafts = append(w.drafts, draft{event: e, body: body})
	return nil
}

// EmitAll emits several events of one artifact, none of which sets a body.
func (w *World) EmitAll(uid ulid.ULID, ps []event.Payload) error {
	for _, p := range ps {
		if err := w.Emit(uid, p, nil); err != nil {
			return err
		}
	}
	return nil
}

// Changed reports whether the call emitted any event.
func (w *World) Changed() bool { return len(w.drafts) > w.own }

// Emitted lists the events of this call so far, oldest first.
func (w *World) Emitted() []event.Event {
	out := make([]event.Event, 0, len(w.drafts)-w.own)
	for _, d := range w.drafts[w.own:] {
		out = append(out, d.event)
	}
	return out
}

// NextUID is the ULID that the next event will get: the uid of an artifact
// that is about to be created.
func (w *World) NextUID() ulid.ULID { return w.next }

// NextNumber is the display number that the next artifact of a kind gets. It
// never returns a number that was ever used.
func (w *World) NextNumber(kind string) (int, error) {
	last, err := w.counters().Last(kind)
	return last + 1, err
}
