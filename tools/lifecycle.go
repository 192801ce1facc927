package tools

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"forgeplan/internal/artifact"
	"forgeplan/internal/render"
	"forgeplan/internal/workspace"
)

// statusOut is what every step of the lifecycle answers.
type statusOut struct {
	ID         string   `json:"id"`
	From       string   `json:"from"`
	To         string   `json:"to"`
	Version    int      `json:"version"`
	ReceiptID  string   `json:"receipt_id,omitempty"`
	Dependents []string `json:"dependents_affected,omitempty"`
	Forced     bool     `json:"forced,omitempty"`
	By         string   `json:"by,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	Until      string   `json:"until,omitempty"`
	NewID      string   `json:"new_id,omitempty"`
}

func (o *statusOut) WriteText(w io.Writer, _ int) {
	fmt.Fprintf(w, "%s: %s -> %s\n", o.ID, o.From, o.To)
	if o.NewID != "" {
		fmt.Fprintf(w, "It goes on as %s.\n", o.NewID)
	}
	if o.ReceiptID != "" {
		fmt.Fprintf(w, "Take it back: forgeplan undo (receipt %s)\n", o.ReceiptID)
	}
	if len(o.Dependents) > 0 {
		fmt.Fprintf(w, "Linked to it: %s\n", strings.Join(o.Dependents, ", "))
	}
}

// Sealed fills in the version once the file is decided.
func (o *statusOut) Sealed(w *workspace.World) error {
	a, err := w.Find(o.ID)
	o.Version = a.Version
	return err
}

// step checks a transition and starts its answer.
func step(c *Run, id, operation string, to artifact.Status) (artifact.Artifact, statusOut, error) {
	a, err := c.World.Find(id)
	if err != nil {
		return a, statusOut{}, err
	}
	c.Target(a.UID)
	from := a.StatusAt(c.Now())
	out := statusOut{ID: a.ID, From: from, To: string(to)}
	if !artifact.Status(from).Allows(operation, to) {
		return a, out, illegal(a.ID, from, to)
	}
	return a, out, nil
}

// illegal names the statuses that can follow, and no tool.
func illegal(id, from string, to artifact.Status) *Failure {
	if from == string(to) {
		return Fail(ClassRule, fmt.Sprintf("%s is %s already%s", id, from, canBecome(from)), Say("See it: "), Call("forgeplan_get", "id", id))
	}
	return Fail(ClassRule, fmt.Sprintf("%s is %s: this step does not lead to %s%s", id, from, to, canBecome(from)), Say("See it: "), Call("forgeplan_get", "id", id))
}

func canBecome(from string) string {
	next := artifact.Status(from).Next()
	words := make([]string, len(next))
	for i, s := range next {
		words[i] = string(s)
	}
	if len(words) == 0 {
		return "; from " + from + " no status follows"
	}
	return "; from " + from + " it can become " + strings.Join(words, " or ")
}

// dependents are the live artifacts that link to a.
func dependents(w *workspace.World, a artifact.Artifact) (ids []string, err error) {
	seen := map[string]bool{}
	for r, err := range w.Relations().To(a.UID) {
		if err != nil {
			return nil, err
		}
		if source, live := w.Live(r.Source); live && !seen[source.ID] {
			seen[source.ID] = true
			ids = append(ids, source.ID)
		}
	}
	sort.Strings(ids)
	return ids, nil
}

type activateIn struct {
	ID    string `json:"id" pos:"1" required:"true" doc:"Id, any case and padding."`
	Force bool   `json:"force" doc:"Activate although a gate does not pass; recorded."`
}

var activateTool = Mutating(Tool{
	Name: "forgeplan_activate", Command: "activate", Title: "Activate a draft", Effect: Edits, Set: "core",
	Summary: "Makes a draft active, if its gates pass: enough text, evidence linked, no stub.",
	Doc:     "Gates hold for prd, epic, spec, rfc and adr.",
	Example: `{"id": "PRD-042"}`,
}, activate)

func activate(c *Run, in activateIn) (statusOut, error) {
	a, out, err := step(c, in.ID, "activate", artifact.StatusActive)
	if err != nil {
		return out, err
	}
	if a.Status == string(artifact.StatusActive) {
		return out, Fail(ClassRule, fmt.Sprintf("%s is stale since %s: it is active again once valid_until lies ahead", a.ID, a.ValidUntil),
			Say("See it: "), Call("forgeplan_get", "id", a.ID))
	}
	closed, err := gates(c.World, a)
	if err != nil {
		return out, err
	}
	if len(closed) > 0 && !in.Force {
		return out, Fail(ClassRule, fmt.Sprintf("%s cannot be activated yet: %s", a.ID, strings.Join(closed, "; ")),
			Say("Mend this and try again. See it: "), Call("forgeplan_get", "id", a.ID))
	}
	out.Forced = len(closed) > 0
	for _, g := range closed {
		c.Warn("gate overridden: %s", g)
	}
	if err := c.World.Emit(a.UID, artifact.Activated{Was: a.Status, Forced: out.Forced}, nil); err != nil {
		return out, err
	}
	if now, live := c.World.Live(a.UID); live && now.StatusAt(c.Now()) != string(artifact.StatusActive) {
		out.To = now.StatusAt(c.Now())
		c.Warn("it is %s at once: valid_until %s lies behind", out.To, a.ValidUntil)
	}
	c.Next(Say("See what is active: "), Call("forgeplan_list", "status", "active"))
	return out, nil
}

// minBody is how much text a gated kind needs, bytes without blanks around it.
const minBody = 100

// gates says in words which gates of an activation do not pass.
func gates(w *workspace.World, a artifact.Artifact) (closed []string, err error) {
	if !artifact.Kind(a.Kind).Info().Gated {
		return nil, nil
	}
	body, err := w.Body(a)
	if err != nil {
		return nil, err
	}
	if n := len(strings.TrimSpace(string(body))); n < minBody {
		closed = append(closed, fmt.Sprintf("its text has %d bytes, %d are needed", n, minBody))
	}
	proven, err := hasEvidence(w, a)
	if err != nil {
		return nil, err
	}
	if !proven {
		closed = append(closed, "no evidence is linked to it")
	}
	if n := artifact.StubMarkers(string(body)); n >= artifact.StubThreshold {
		closed = append(closed, fmt.Sprintf("%d passages of the template are not filled in", n))
	}
	return closed, nil
}

// hasEvidence: it informs or supports something, or evidence is linked to it.
func hasEvidence(w *workspace.World, a artifact.Artifact) (bool, error) {
	for r, err := range w.Relations().From(a.UID) {
		if err != nil {
			return false, err
		}
		if _, live := w.Live(r.Bound); live && (r.Relation == "informs" || r.Relation == "supports") {
			return true, nil
		}
	}
	for r, err := range w.Relations().To(a.UID) {
		if err != nil {
			return false, err
		}
		if source, live := w.Live(r.Source); live && source.Kind == "evidence" {
			return true, nil
		}
	}
	return false, nil
}

type supersedeIn struct {
	ID string `json:"id" pos:"1" required:"true" doc:"Id of the active artifact that is replaced."`
	By string `json:"by" required:"true" doc:"Id of the replacement."`
}

var supersedeTool = Mutating(Tool{
	Name: "forgeplan_supersede", Command: "supersede", Title: "Replace an artifact", Effect: Destroys, Set: "core",
	Summary: "Marks an active artifact as superseded by another one.",
	Doc:     "Opens a receipt; forgeplan_undo_last takes it back. Adds the link replacement supersedes old.",
	Example: `{"id": "PRD-041", "by": "PRD-042"}`,
}, func(c *Run, in supersedeIn) (statusOut, error) {
	a, out, err := step(c, in.ID, "supersede", artifact.StatusSuperseded)
	if err != nil {
		return out, err
	}
	return out, supersede(c, a, &out, in.By, artifact.Redo{})
})

func supersede(c *Run, a artifact.Artifact, out *statusOut, by string, redo artifact.Redo) error {
	w := c.World
	repl, err := w.Find(by)
	if err != nil {
		return err
	}
	c.Target(repl.UID)
	switch {
	case repl.UID == a.UID:
		return Fail(ClassRule, a.ID+" cannot replace itself", Say("Name the replacement in `by`."))
	case repl.Status == string(artifact.StatusSuperseded) || repl.Status == string(artifact.StatusDeprecated):
		return Fail(ClassRule, fmt.Sprintf("%s is %s and cannot replace %s", repl.ID, repl.Status, a.ID), Say("See it: "), Call("forgeplan_get", "id", repl.ID))
	case repl.Status == string(artifact.StatusDraft):
		c.Warn("the replacement %s is still a draft", repl.ID)
	}
	if out.Dependents, err = dependents(w, a); err != nil {
		return err
	}
	linked := !w.Linked(repl.UID, a.UID, "supersedes")
	out.By, out.ReceiptID = repl.ID, w.Receipts().NewID(c.Now())
	if err := w.Emit(a.UID, artifact.Superseded{By: repl.ID, ByUID: repl.UID, Linked: linked, Was: a.Before(artifact.KeySuperseded),
		ReceiptID: out.ReceiptID, Redo: redo}, nil); err != nil {
		return err
	}
	if linked {
		if err := w.Emit(repl.UID, artifact.RelationAdded{Relation: "supersedes", Target: a.ID, TargetUID: a.UID}, nil); err != nil {
			return err
		}
	}
	c.Next(Say("See the replacement: "), Call("forgeplan_get", "id", repl.ID))
	return nil
}

type deprecateIn struct {
	ID     string `json:"id" pos:"1" required:"true" doc:"Id of an active or stale artifact."`
	Reason string `json:"reason" required:"true" max:"2000" doc:"Why it no longer holds."`
}

var deprecateTool = Mutating(Tool{
	Name: "forgeplan_deprecate", Command: "deprecate", Title: "Retire an artifact", Effect: Destroys, Set: "core",
	Summary: "Marks an active or stale artifact as deprecated, with the reason.",
	Doc:     "Opens a receipt; forgeplan_undo_last takes it back.",
	Example: `{"id": "PRD-042", "reason": "the market changed"}`,
}, func(c *Run, in deprecateIn) (statusOut, error) {
	a, out, err := step(c, in.ID, "deprecate", artifact.StatusDeprecated)
	if err != nil {
		return out, err
	}
	return out, deprecate(c, a, &out, oneLine(in.Reason), artifact.Redo{})
})

func deprecate(c *Run, a artifact.Artifact, out *statusOut, reason string, redo artifact.Redo) (err error) {
	if out.Dependents, err = dependents(c.World, a); err != nil {
		return err
	}
	out.Reason, out.ReceiptID = reason, c.World.Receipts().NewID(c.Now())
	c.Next(Say("See it: "), Call("forgeplan_get", "id", a.ID))
	return c.World.Emit(a.UID, artifact.Deprecated{Reason: reason, Was: a.Before(artifact.KeyDeprecated), ReceiptID: out.ReceiptID, Redo: redo}, nil)
}

func oneLine(s string) string { return strings.TrimSpace(render.Safe(s, 0)) }

type deleteIn struct {
	ID  string `json:"id" pos:"1" required:"true" doc:"Id, any case and padding."`
	Yes bool   `json:"yes" short:"y" face:"cli" doc:"Accepted; delete never asks."`
}

type deleteOut struct {
	ID         string   `json:"id"`
	Title      string   `json:"title"`
	ReceiptID  string   `json:"receipt_id"`
	Dependents []string `json:"dependents_affected"`
}

func (o *deleteOut) WriteText(w io.Writer, _ int) {
	fmt.Fprintf(w, "Deleted %s  %s\nTake it back: forgeplan undo, or forgeplan restore %s (receipt %s)\n", o.ID, render.Safe(o.Title, 200), o.ID, o.ReceiptID)
	if len(o.Dependents) > 0 {
		fmt.Fprintf(w, "Linked to it: %s\n", strings.Join(o.Dependents, ", "))
	}
}

var deleteTool = Mutating(Tool{
	Name: "forgeplan_delete", Command: "delete", Title: "Delete an artifact", Effect: Destroys, Set: "core",
	Summary: "Takes an artifact and its file away.",
	Doc:     "Opens a receipt that never expires: forgeplan_undo_last or forgeplan_restore bring all of it back.",
	Example: `{"id": "PRD-042"}`,
}, func(c *Run, in deleteIn) (deleteOut, error) {
	a, err := c.World.Find(in.ID)
	if err != nil {
		return deleteOut{Dependents: []string{}}, err
	}
	c.Target(a.UID)
	return remove(c, a, artifact.Redo{})
})

func remove(c *Run, a artifact.Artifact, redo artifact.Redo) (deleteOut, error) {
	out := deleteOut{ID: a.ID, Title: a.Title, Dependents: []string{}}
	deps, err := dependents(c.World, a)
	if err != nil {
		return out, err
	}
	out.Dependents = append(out.Dependents, deps...)
	head, err := c.World.Head(a.UID)
	if err != nil {
		return out, err
	}
	out.ReceiptID = c.World.Receipts().NewID(c.Now())
	c.Next(Say("It can be brought back at any time. See what is left: "), Call("forgeplan_list"))
	return out, c.World.Emit(a.UID, artifact.Deleted{State: a.State(head), ReceiptID: out.ReceiptID, Redo: redo}, nil)
}

type renewIn struct {
	ID     string `json:"id" pos:"1" required:"true" doc:"Id of a stale artifact."`
	Until  string `json:"until" required:"true" doc:"YYYY-MM-DD or RFC 3339, ahead of now."`
	Reason string `json:"reason" required:"true" max:"500" doc:"Why it still holds."`
}

var renewTool = Mutating(Tool{
	Name: "forgeplan_renew", Command: "renew", Title: "Renew a stale artifact", Effect: Edits, Set: "core",
	Summary: "Makes a stale artifact active again until a later day.",
	Doc:     "",
	Example: `{"id": "ADR-007", "until": "2027-06-30", "reason": "measured again"}`,
}, func(c *Run, in renewIn) (statusOut, error) {
	a, out, err := step(c, in.ID, "renew", artifact.StatusActive)
	if err != nil {
		return out, err
	}
	if err := artifact.CheckDate(in.Until); err != nil {
		return out, err
	}
	if end, ok := artifact.Expiry(in.Until); !ok || !c.Now().Before(end) {
		return out, Fail(ClassInvalidInput, "`until` must lie ahead of now", Say("Give a later day."))
	}
	out.Until, out.Reason = in.Until, oneLine(in.Reason)
	c.Next(Say("See it: "), Call("forgeplan_get", "id", a.ID))
	return out, c.World.Emit(a.UID, artifact.Renewed{Until: in.Until, Reason: out.Reason, Was: a.Before(artifact.KeyRenewed)}, nil)
})

type reopenIn struct {
	ID     string `json:"id" pos:"1" required:"true" doc:"Id of an active or stale artifact."`
	Reason string `json:"reason" required:"true" max:"500" doc:"Why it has to be thought through again."`
}

var reopenTool = Mutating(Tool{
	Name: "forgeplan_reopen", Command: "reopen", Title: "Reopen as a new draft", Effect: Edits, Set: "core",
	Summary: "Starts a new draft from an active or stale artifact, which becomes deprecated.",
	Doc:     "The draft has title, depth, author, epic and tags of the old one and is linked based_on it.",
	Example: `{"id": "ADR-007", "reason": "the load tripled"}`,
}, func(c *Run, in reopenIn) (statusOut, error) {
	a, out, err := step(c, in.ID, "reopen", artifact.StatusDeprecated)
	if err != nil {
		return out, err
	}
	w := c.World
	reason := oneLine(in.Reason)
	title := a.Title + " (reopened)"
	if _, err := artifact.CheckTitle(title); err != nil {
		title = a.Title // no room for the mark
	}
	body := artifact.Skeleton(artifact.Kind(a.Kind), title) + "\n## Lineage\n\nReopened from " + a.ID + ": " + reason + "\n"
	draft, err := w.Create(workspace.New{Kind: a.Kind, Title: title, Depth: a.Depth, Tags: a.Tags, ParentEpic: a.ParentEpic, Author: a.Author, Body: []byte(body)})
	if err != nil {
		return out, err
	}
	if err := w.Emit(draft.UID, artifact.RelationAdded{Relation: "based_on", Target: a.ID, TargetUID: a.UID}, nil); err != nil {
		return out, err
	}
	out.NewID, out.Reason = draft.ID, reason
	c.Target(draft.UID)
	c.Next(Say("Write it: "), Call("forgeplan_get", "id", draft.ID))
	return out, w.Emit(a.UID, artifact.Reopened{As: draft.ID, AsUID: draft.UID, Reason: reason, Was: a.Before(artifact.KeyReopened, artifact.KeyDeprecated)}, nil)
})
