package tools

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"forgeplan/internal/artifact"
	"forgeplan/internal/workspace"
)

type updateIn struct {
	ID         string    `json:"id" pos:"1" required:"true" doc:"Id, any case and padding."`
	Title      *string   `json:"title" text:"keep" doc:"New title; the file moves with it."`
	Body       *string   `json:"body" text:"keep" doc:"New body, byte for byte; replaces the old one unless append."`
	Append     bool      `json:"append" doc:"Add body at the end of the old one."`
	Depth      *string   `json:"depth" enum:"note,tactical,standard,deep,critical" doc:"New depth."`
	Tags       *[]string `json:"tags" doc:"The whole new set of tags."`
	Author     *string   `json:"author" text:"keep" doc:"New author; empty removes it."`
	ParentEpic *string   `json:"parent_epic" text:"keep" doc:"Id of an epic; empty removes it."`
	ValidUntil *string   `json:"valid_until" text:"keep" doc:"YYYY-MM-DD or RFC 3339; empty removes it."`
	Status     *string   `json:"status" doc:"Only active: activates, if the gates pass."`
}

type bodyChange struct {
	BytesBefore int64  `json:"bytes_before"`
	Bytes       int64  `json:"bytes"`
	Replaced    string `json:"replaced"` // event that holds the body before
	SHA256      string `json:"sha256_before"`
}

type updateOut struct {
	ID      string      `json:"id"`
	Title   string      `json:"title"`
	Status  string      `json:"status"`
	Version int         `json:"version"`
	Path    string      `json:"path"`
	Fields  []string    `json:"fields"`
	Body    *bodyChange `json:"body,omitempty"`
}

func (o *updateOut) WriteText(w io.Writer, _ int) {
	if len(o.Fields) == 0 {
		fmt.Fprintf(w, "%s is as it was: nothing to change.\n", o.ID)
		return
	}
	fmt.Fprintf(w, "Updated %s (version %d): %s\n", o.ID, o.Version, strings.Join(o.Fields, ", "))
	if b := o.Body; b != nil {
		fmt.Fprintf(w, "Body: %d bytes, before %d (kept in event %s)\n", b.Bytes, b.BytesBefore, b.Replaced)
	}
}

// Sealed fills in what is known only once the file is decided.
func (o *updateOut) Sealed(w *workspace.World) error {
	a, err := w.Find(o.ID)
	if err != nil {
		return err
	}
	o.Version, o.Path = a.Version, a.Path
	return nil
}

var updateTool = Mutating(Tool{
	Name: "forgeplan_update", Command: "update", Title: "Change an artifact", Effect: Edits, Set: "core",
	Summary: "Changes title, body, depth, tags, author, parent_epic or valid_until of one artifact.",
	Doc:     "What it replaces stays in the journal. Pass if_version so that nobody's later change is lost.",
	Example: `{"id": "PRD-042", "title": "Auth system"}`,
}, func(c *Run, in updateIn) (updateOut, error) {
	out := updateOut{Fields: []string{}}
	a, err := c.World.Find(in.ID)
	if err != nil {
		return out, err
	}
	c.Target(a.UID)
	activates := in.Status != nil && strings.EqualFold(strings.TrimSpace(*in.Status), "active")
	if in.Status != nil && !activates {
		return out, Fail(ClassRule, fmt.Sprintf("%s is %s: an update sets no status but active%s",
			a.ID, a.StatusAt(c.Now()), canBecome(a.StatusAt(c.Now()))), Say("Leave status out; the other fields can be updated."))
	}
	if in.Title == nil && in.Body == nil && in.Depth == nil && in.Tags == nil && in.Author == nil && in.ParentEpic == nil && in.ValidUntil == nil && !activates {
		return out, Fail(ClassInvalidInput, "nothing to update: give title, body, depth, tags, author, parent_epic or valid_until",
			Say("See what it is now: "), Call("forgeplan_get", "id", a.ID))
	}
	if err := updateFields(c, a, in); err != nil {
		return out, err
	}
	if in.Body != nil {
		if out.Body, err = updateBody(c, a, *in.Body, in.Append); err != nil {
			return out, err
		}
	}
	if activates {
		if _, err := activate(c, activateIn{ID: a.UID.String()}); err != nil {
			return out, err
		}
	}
	now, err := c.World.Find(a.UID.String())
	if err != nil {
		return out, err
	}
	for _, e := range c.World.Emitted() {
		out.Fields = append(out.Fields, artifact.Changes(e.Data)...)
	}
	out.ID, out.Title, out.Status, out.Version, out.Path = now.ID, now.Title, now.StatusAt(c.Now()), now.Version, now.Path
	c.Next(Say("Read it: "), Call("forgeplan_get", "id", a.ID))
	return out, nil
})

func updateFields(c *Run, a artifact.Artifact, in updateIn) error {
	w := c.World
	steps := []func() error{}
	if in.Title != nil {
		title, err := artifact.CheckTitle(*in.Title)
		if err != nil {
			return err
		}
		steps = append(steps, func() error { return w.EmitAll(a.UID, a.Retitle(title)) })
	}
	if in.Depth != nil {
		steps = append(steps, func() error { return w.EmitAll(a.UID, a.SetDepth(*in.Depth)) })
	}
	if in.Tags != nil {
		tags, err := cleanTags(*in.Tags)
		if err != nil {
			return err
		}
		steps = append(steps, func() error { return w.EmitAll(a.UID, a.SetTags(tags)) })
	}
	if in.Author != nil {
		if err := artifact.CheckLine("author", *in.Author); err != nil {
			return err
		}
		steps = append(steps, func() error { return w.EmitAll(a.UID, a.SetField("author", *in.Author)) })
	}
	if in.ParentEpic != nil {
		epic := ""
		if *in.ParentEpic != "" {
			parent, err := w.Find(*in.ParentEpic)
			if err != nil {
				return err
			}
			if parent.Kind != "epic" {
				return notAnEpic(parent)
			}
			epic = parent.ID
		}
		steps = append(steps, func() error { return w.EmitAll(a.UID, a.SetField("parent_epic", epic)) })
	}
	if in.ValidUntil != nil {
		if *in.ValidUntil != "" {
			if err := artifact.CheckDate(*in.ValidUntil); err != nil {
				return err
			}
			if end, ok := artifact.Expiry(*in.ValidUntil); ok && !c.Now().Before(end) {
				c.Warn("valid_until %s lies behind: an active artifact is stale then", *in.ValidUntil)
			}
		}
		steps = append(steps, func() error { return w.EmitAll(a.UID, a.SetValidity(*in.ValidUntil)) })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func notAnEpic(a artifact.Artifact) *Failure {
	return Fail(ClassInvalidInput, fmt.Sprintf("`parent_epic` must be an epic; %s is of kind %s", a.ID, a.Kind),
		Say("See the epics: "), Call("forgeplan_list", "kind", "epic"))
}

func updateBody(c *Run, a artifact.Artifact, text string, add bool) (*bodyChange, error) {
	if err := checkBody(c, text); err != nil {
		return nil, err
	}
	body := []byte(text)
	if add {
		old, err := c.World.Body(a)
		if err != nil {
			return nil, err
		}
		body = append(append([]byte(nil), old...), text...)
		if err := checkBody(c, string(body)); err != nil {
			return nil, err
		}
	}
	changed, err := c.World.SetBody(a, body)
	if err != nil || !changed {
		return nil, err
	}
	return &bodyChange{BytesBefore: a.Body.Len, Bytes: int64(len(body)), Replaced: a.Body.Event.String(),
		SHA256: hex.EncodeToString(a.Body.SHA[:])}, nil
}

// cleanTags brings tags into their stored form; one of which nothing remains is refused.
func cleanTags(tags []string) ([]string, error) {
	out := []string{}
	for _, t := range tags {
		clean := artifact.CleanTag(t)
		if clean == "" {
			return nil, Fail(ClassInvalidInput, "a tag needs a letter or digit", Say("Tags look like security or source=code."))
		}
		out = append(out, clean)
	}
	return out, nil
}
