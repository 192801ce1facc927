package tools

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"forgeplan/internal/render"
	"forgeplan/internal/workspace"
)

type tagIn struct {
	ID   string   `json:"id" pos:"1" required:"true" doc:"Id, any case and padding."`
	Tags []string `json:"tags" pos:"2" required:"true" doc:"Tags, such as security or source=code."`
}

type tagOut struct {
	ID      string   `json:"id"`
	Tags    []string `json:"tags"`
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Version int      `json:"version"`
}

func (o *tagOut) WriteText(w io.Writer, _ int) {
	switch {
	case len(o.Added) > 0:
		fmt.Fprintf(w, "Tagged %s: %s\n", o.ID, strings.Join(o.Added, ", "))
	case len(o.Removed) > 0:
		fmt.Fprintf(w, "Untagged %s: %s\n", o.ID, strings.Join(o.Removed, ", "))
	default:
		fmt.Fprintf(w, "%s has these tags already.\n", o.ID)
	}
	fmt.Fprintf(w, "Tags now: %s\n", render.Safe(strings.Join(o.Tags, ", "), 0))
}

// Sealed fills in the version once the file is decided.
func (o *tagOut) Sealed(w *workspace.World) error {
	a, err := w.Find(o.ID)
	o.Version = a.Version
	return err
}

var tagTool = Mutating(Tool{
	Name: "forgeplan_tag", Command: "tag", Title: "Add tags", Effect: Adds, Set: "core",
	Summary: "Adds tags to an artifact.",
	Doc:     "Tags are lower case; blanks become a dash. Those it has already change nothing.",
	Example: `{"id": "PRD-001", "tags": ["security", "source=code"]}`,
}, func(c *Run, in tagIn) (tagOut, error) {
	return retag(c, in, func(have, tags []string) (added, removed []string) {
		for _, t := range tags {
			if !slices.Contains(have, t) && !slices.Contains(added, t) {
				added = append(added, t)
			}
		}
		return added, nil
	})
})

var untagTool = Mutating(Tool{
	Name: "forgeplan_untag", Command: "untag", Title: "Remove tags", Effect: Edits, Set: "core",
	Summary: "Removes tags from an artifact.",
	Doc:     "Fails with nothing_to_do where it has none of them.",
	Example: `{"id": "PRD-001", "tags": ["security"]}`,
}, func(c *Run, in tagIn) (tagOut, error) {
	out, err := retag(c, in, func(have, tags []string) (added, removed []string) {
		for i, t := range tags {
			written := in.Tags[i]
			for _, h := range have {
				if (h == t || h == written) && !slices.Contains(removed, h) {
					removed = append(removed, h)
				}
			}
		}
		return nil, removed
	})
	if err == nil && len(out.Removed) == 0 {
		return out, Fail(ClassNothingToDo, out.ID+" has none of these tags", Say("See its tags: "), Call("forgeplan_get", "id", out.ID))
	}
	return out, err
})

func retag(c *Run, in tagIn, pick func(have, tags []string) (added, removed []string)) (tagOut, error) {
	out := tagOut{Tags: []string{}, Added: []string{}, Removed: []string{}}
	a, err := c.World.Find(in.ID)
	if err != nil {
		return out, err
	}
	c.Target(a.UID)
	tags, err := cleanTags(in.Tags)
	if err != nil {
		return out, err
	}
	added, removed := pick(a.Tags, tags)
	out.ID, out.Added, out.Removed = a.ID, append(out.Added, added...), append(out.Removed, removed...)
	if err := c.World.EmitAll(a.UID, append(a.AddTags(added), a.RemoveTags(removed)...)); err != nil {
		return out, err
	}
	now, err := c.World.Find(a.UID.String())
	if err != nil {
		return out, err
	}
	out.Tags, out.Version = append(out.Tags, now.Tags...), now.Version
	c.Next(Say("See it: "), Call("forgeplan_get", "id", a.ID))
	return out, nil
}
