package tools

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"
	"forgeplan/internal/render"
	"forgeplan/internal/workspace"
	"forgeplan/receipts"

	"github.com/oklog/ulid/v2"
)

type undoOut struct {
	Restored           string   `json:"restored"`
	OpReversed         string   `json:"op_reversed"`
	ReceiptID          string   `json:"receipt_id"`
	RelationsRestored  int      `json:"relations_restored"`
	RelationsSkipped   []string `json:"relations_skipped"`
	ProjectionRestored bool     `json:"projection_restored"`
	Warnings           []string `json:"warnings"`
	Title              string   `json:"title"`
	OpAt               string   `json:"op_at"`
	OpBy               string   `json:"op_by"`
	OpCall             string   `json:"op_call"`
	Status             string   `json:"status"`
	Version            int      `json:"version"`
	Path               string   `json:"path"`
	RestoredAll        []string `json:"restored_all,omitempty"` // of a batch of accepted file deletions

	UID ulid.ULID `json:"uid"`
}

func (o *undoOut) setWarnings(w []string) { o.Warnings = w }

func (o *undoOut) files() []ulid.ULID { return []ulid.ULID{o.UID} }

// filed: the answer says that the file is back only when it was written.
func (o *undoOut) filed(written map[ulid.ULID]bool) { o.ProjectionRestored = written[o.UID] }

// Sealed fills in what is known once the files are decided.
func (o *undoOut) Sealed(w *workspace.World) error {
	if a, live := w.Live(o.UID); live {
		o.Version, o.Path, o.Status, o.Title = a.Version, a.Path, a.StatusAt(w.Now()), a.Title
	}
	return nil
}

func (o *undoOut) WriteText(w io.Writer, _ int) {
	fmt.Fprintf(w, "Took back the %s of %s  %s\n", o.OpReversed, o.Restored, render.Safe(o.Title, 200))
	fmt.Fprintf(w, "Done at %s by %s (receipt %s, call %s)\n", o.OpAt, render.Safe(o.OpBy, 200), o.ReceiptID, o.OpCall)
	fmt.Fprintf(w, "It is %s again; links visible again: %d; file written: %v\n", o.Status, o.RelationsRestored, o.ProjectionRestored)
	if len(o.RelationsSkipped) > 0 {
		fmt.Fprintf(w, "Links to what is gone: %s\n", strings.Join(o.RelationsSkipped, ", "))
	}
}

// scopes of an undo: whose operations it looks at.
type scopeIn struct {
	Scope string `json:"scope" enum:"all,mine,session,files" default:"all" doc:"Whose operations: of every actor, mine, this session's, or accepted file deletions."`
}

type undoLastIn struct {
	WithinHours float64 `json:"within_hours" above:"0" max:"720" default:"24" doc:"How far back to look, hours."`
	scopeIn
}

var undoLastTool = Mutating(Tool{
	Name: "forgeplan_undo_last", Command: "undo", Aliases: []string{"undo-last"}, Title: "Take back the last destructive step", Effect: Edits, Set: "core",
	Summary: "Takes back the newest delete, supersede or deprecate that was not taken back yet.",
	Doc:     "Called again it takes back the one before; it never undoes an undo and never guesses.",
	Example: `{}`,
}, func(c *Run, in undoLastIn) (undoOut, error) {
	since := c.Now().Add(-time.Duration(in.WithinHours * float64(time.Hour))).UnixNano()
	scope := in.Scope
	for r, err := range c.World.Receipts().Open() {
		if err != nil {
			return undoOut{}, err
		}
		if in, err := c.inScope(r.Run, scope); err != nil {
			return undoOut{}, err
		} else if !in {
			continue
		}
		if r.At < since {
			// Older ones follow, unless a clock was wrong: then they are
			// looked at too.
			continue
		}
		out, err := reverse(c, r, "undo")
		if err == nil && scope == "files" {
			err = reverseBatch(c, r, &out)
		}
		if err != nil {
			return out, err
		}
		c.Next(Say("Reversed most recent %s of `%s`. To undo another, call ", r.Op, r.Artifact), Call("forgeplan_undo_last"),
			Say(" again (finds the next newest non-consumed receipt). Or restore a specific ID: "),
			Call("forgeplan_restore", "id", Fixed("ID")).As("forgeplan_restore <id>"), Say("."))
		return out, nil
	}
	if in.Scope != "all" || in.WithinHours >= 720 {
		return undoOut{}, Fail(ClassNothingToDo, fmt.Sprintf("No non-consumed destructive op in the last %s hour(s).", digits(in.WithinHours))+scopeText(in.Scope),
			Say("See all that can be taken back: "), Call("forgeplan_receipts", "open", true), Say("."))
	}
	return undoOut{}, Fail(ClassNothingToDo, fmt.Sprintf("No non-consumed destructive op in the last %s hour(s).", digits(in.WithinHours)),
		Say("Expand the window: "), Call("forgeplan_undo_last", "within_hours", 720), Say(". Or inspect the log: "),
		Call("forgeplan_activity", "tool", "forgeplan_delete,forgeplan_supersede,forgeplan_deprecate", "since", "720h").
			As("forgeplan_activity --tool forgeplan_delete,forgeplan_supersede,forgeplan_deprecate --since 720h"), Say("."))
})

// scopeText says whose operations were looked at, where not everybody's were.
func scopeText(scope string) string {
	switch scope {
	case "mine":
		return " Only yours were looked at."
	case "session":
		return " Only those of this session were looked at."
	case "files":
		return " Only accepted deletions of files were looked at."
	}
	return ""
}

// reverseBatch takes back the rest of the deletions that were accepted in one
// call; the answer names the first and lists all.
func reverseBatch(c *Run, first receipts.Receipt, out *undoOut) error {
	batch := []receipts.Receipt{}
	for r, err := range c.World.Receipts().Open() {
		if err != nil {
			return err
		}
		if r.Run == first.Run {
			batch = append(batch, r)
		}
	}
	all := []string{first.Artifact}
	for _, r := range batch {
		one, err := reverse(c, r, "undo")
		if err != nil {
			return err
		}
		all = append(all, r.Artifact)
		out.RelationsRestored += one.RelationsRestored
	}
	slices.Reverse(all) // the newest was first
	out.RestoredAll, out.Restored = all, all[0]
	return nil
}

// inScope reports whether a call is one that the caller wants to look at.
func (c *Run) inScope(call ulid.ULID, scope string) (bool, error) {
	made, ok, err := c.World.CallOf(call)
	if err != nil || !ok {
		return false, err
	}
	// A deletion that came from a file is taken back only by who asks for these.
	if files := made.Tool == workspace.SyncTool; files != (scope == "files") {
		return false, nil
	}
	switch scope {
	case "mine":
		return c.mine(made), nil
	case "session":
		return c.Caller.Session != "" && made.Session == c.Caller.Session, nil
	}
	return true, nil
}

// mine: the same session, or the same actor where either has none.
func (c *Run) mine(made event.Call) bool {
	if c.Caller.Session != "" && made.Session != "" {
		return made.Session == c.Caller.Session
	}
	return made.Actor == c.Caller.Actor
}

// reverse takes one receipt back.
func reverse(c *Run, r receipts.Receipt, by string) (undoOut, error) {
	w := c.World
	out := undoOut{Restored: r.Artifact, OpReversed: r.Op, ReceiptID: r.ID, RelationsSkipped: []string{}, Title: r.Title, UID: r.UID,
		OpAt: render.Time(r.At), OpBy: w.Who(r.Run), OpCall: r.Run.String()}
	was, ok, err := w.Event(r.Event)
	if err != nil {
		return out, err
	}
	if !ok || was.Data == nil {
		return out, fmt.Errorf("%w: the event of receipt %s", workspace.ErrNewer, r.ID)
	}
	plan, err := receipts.Reverse(r, was.Data, w)
	if err != nil {
		return out, err
	}
	c.Target(r.UID)
	c.Answers(r.Run)
	for _, s := range plan.Steps {
		if err := w.Emit(s.UID, s.Payload, nil); err != nil {
			return out, err
		}
	}
	if err := w.Emit(ulid.ULID{}, receipts.Consumed{Receipt: r.Event, ReceiptID: r.ID, By: by}, nil); err != nil {
		return out, err
	}
	if r.Op == receipts.OpDelete {
		if out.RelationsRestored, out.RelationsSkipped, err = relationsOf(w, r.UID); err != nil {
			return out, err
		}
	}
	if len(plan.Later) > 0 {
		c.Warn("edited since, and kept: %s", strings.Join(plan.Later, ", "))
	}
	made, ok, err := w.CallOf(r.Run)
	if err != nil {
		return out, err
	}
	if ok && made.ActorKind != "file" && (made.Actor != c.Caller.Actor || made.Client != c.Caller.Client) {
		c.Warn("this %s was made by %s, not by you", r.Op, render.Safe(out.OpBy, 160))
	}
	return out, nil
}

// relationsOf counts the links of an artifact that are visible, each once, and
// names the other ends that are gone.
func relationsOf(w *workspace.World, uid ulid.ULID) (visible int, skipped []string, err error) {
	skipped = []string{}
	for r, err := range w.Relations().From(uid) {
		if err != nil {
			return 0, skipped, err
		}
		if _, live := w.Live(r.Bound); live {
			visible++
		} else {
			skipped = append(skipped, r.Target)
		}
	}
	for r, err := range w.Relations().To(uid) {
		if err != nil {
			return 0, skipped, err
		}
		if _, live := w.Live(r.Source); live {
			visible++
			continue
		}
		for gone, err := range w.Receipts().Of(r.Source) {
			if err != nil {
				return 0, skipped, err
			}
			skipped = append(skipped, gone.Artifact)
			break
		}
	}
	return visible, skipped, nil
}

type restoreIn struct {
	ID string `json:"id" pos:"1" required:"true" doc:"Id of an artifact that was deleted, superseded or deprecated."`
}

var restoreTool = Mutating(Tool{
	Name: "forgeplan_restore", Command: "restore", Title: "Bring one artifact back", Effect: Edits, Set: "core",
	Summary: "Takes back the newest delete, supersede or deprecate of one artifact, of any age.",
	Doc:     "",
	Example: `{"id": "PRD-042"}`,
}, func(c *Run, in restoreIn) (undoOut, error) {
	newest, open, err := newestOf(c.World, in.ID)
	if err != nil {
		return undoOut{}, err
	}
	if !open {
		msg := newest.Artifact + " was never deleted, superseded or deprecated by a call"
		if newest.ID != "" {
			msg = fmt.Sprintf("%s: receipt %s was taken back at %s by call %s", newest.Artifact, newest.ID, render.Time(newest.ConsumedAt), newest.Consumed)
		}
		return undoOut{}, Fail(ClassNothingToDo, msg, Say("See what can be taken back: "), Call("forgeplan_receipts"))
	}
	out, err := reverse(c, newest, "restore")
	if err == nil {
		c.Next(Say("See it: "), Call("forgeplan_get", "id", newest.Artifact))
	}
	return out, err
})

// newestOf finds the newest open receipt of whatever an id means; without one,
// the newest that was taken back.
func newestOf(w *workspace.World, id string) (r receipts.Receipt, open bool, err error) {
	a, err := w.Find(id)
	var deleted *workspace.DeletedError
	switch {
	case err == nil:
		r.Artifact = a.ID
		for x, err := range w.Receipts().Of(a.UID) {
			if err != nil {
				return r, false, err
			}
			if x.Open() {
				return x, true, nil
			}
			if r.ID == "" {
				r = x
			}
		}
		return r, false, nil
	case asDeleted(err, &deleted):
		return deleted.Receipt, true, nil
	}
	return r, false, err
}

type redoOut struct {
	Redone    string `json:"redone"`
	Op        string `json:"op"`
	ReceiptID string `json:"receipt_id"`
	Title     string `json:"title"`
	UndoneAt  string `json:"undone_at"`
	UndoneBy  string `json:"undone_by"`
	UndoCall  string `json:"undo_call"`
}

func (o *redoOut) WriteText(w io.Writer, _ int) {
	fmt.Fprintf(w, "Did the %s of %s again  %s (receipt %s)\n", o.Op, o.Redone, render.Safe(o.Title, 200), o.ReceiptID)
}

const redoName = "forgeplan_redo"

var redoTool = Mutating(Tool{
	Name: redoName, Command: "redo", Title: "Do again what was undone", Effect: Destroys, Set: "audit",
	Summary: "Does again the newest operation that was taken back, while nothing newer touched its artifact.",
	Doc:     "",
	Example: `{}`,
}, func(c *Run, in scopeIn) (redoOut, error) {
	for r, err := range c.World.Receipts().Undone() {
		if err != nil {
			return redoOut{}, err
		}
		if in, err := c.inScope(r.Consumed, in.Scope); err != nil {
			return redoOut{}, err
		} else if !in {
			continue
		}
		return again(c, r)
	}
	return redoOut{}, Fail(ClassNothingToDo, "nothing was taken back that could be done again", Say("See the receipts: "), Call("forgeplan_receipts"))
})

// touchedSince: something but undo and redo changed the artifact after the
// receipt was taken back.
func touchedSince(w *workspace.World, r receipts.Receipt) (bool, error) {
	calls, err := w.Since(r.UID, r.Undo)
	if err != nil {
		return false, err
	}
	for _, id := range calls {
		made, ok, err := w.CallOf(id)
		if err != nil {
			return false, err
		}
		if id != r.Consumed && (!ok || made.Tool != undoLastTool.Name && made.Tool != restoreTool.Name && made.Tool != redoName) {
			return true, nil
		}
	}
	return false, nil
}

func again(c *Run, r receipts.Receipt) (redoOut, error) {
	w := c.World
	out := redoOut{Redone: r.Artifact, Op: r.Op, Title: r.Title, UndoneAt: render.Time(r.ConsumedAt), UndoneBy: w.Who(r.Consumed), UndoCall: r.Consumed.String()}
	a, live := w.Live(r.UID)
	touched, err := touchedSince(w, r)
	if err != nil {
		return out, err
	}
	if !live || touched {
		return out, Fail(ClassConflict, fmt.Sprintf("%s was changed after its %s was taken back; it is not done again", r.Artifact, r.Op),
			Say("See what happened: "), Call("forgeplan_activity"))
	}
	was, ok, err := w.Event(r.Event)
	if err != nil || !ok || was.Data == nil {
		return out, fmt.Errorf("read the event of receipt %s: %v", r.ID, err)
	}
	c.Target(a.UID)
	c.Answers(r.Consumed)
	redo := artifact.Redo{Receipt: r.Event}
	var done statusOut
	switch p := was.Data.(type) {
	case artifact.Deleted:
		gone, err := remove(c, a, redo)
		out.ReceiptID = gone.ReceiptID
		return out, err
	case artifact.Superseded:
		err = supersede(c, a, &done, p.By, redo)
	case artifact.Deprecated:
		err = deprecate(c, a, &done, p.Reason, redo)
	}
	out.ReceiptID = done.ReceiptID
	return out, err
}
