package tools

import (
	"fmt"
	"io"

	"forgeplan/internal/artifact"
	"forgeplan/internal/workspace"
)

type renumberIn struct {
	ID string `json:"id" pos:"1" required:"true" doc:"Id, such as the provisional PRD-012~7F3K."`
}

type renumberOut struct {
	ID   string `json:"id"`
	Was  string `json:"was"`
	Path string `json:"path"`
}

func (o *renumberOut) WriteText(w io.Writer, _ int) {
	fmt.Fprintf(w, "%s is %s now\n%s/%s\n", o.Was, o.ID, workspace.Folder, o.Path)
}

// Sealed fills in the file's name once it is decided.
func (o *renumberOut) Sealed(w *workspace.World) error {
	a, err := w.Find(o.ID)
	o.Path = a.Path
	return err
}

var renumberTool = Mutating(Tool{
	Name: "forgeplan_renumber", Command: "renumber", Title: "Give the next free number", Effect: Edits, Set: "audit",
	Summary: "Gives an artifact the next free number of its kind: settles two files with one id.",
	Doc:     "Its file moves; the old id keeps resolving; links follow by uid.",
	Example: `{"id": "PRD-012~7F3K"}`,
}, func(c *Run, in renumberIn) (renumberOut, error) {
	a, err := c.World.Find(in.ID)
	if err != nil {
		return renumberOut{}, err
	}
	c.Target(a.UID)
	kind := artifact.Kind(a.Kind)
	if kind.Info().Prefix == "" {
		return renumberOut{}, Fail(ClassRule, a.ID+" is of kind "+a.Kind+", which has no numbers", Say("See it: "), Call("forgeplan_get", "id", a.ID))
	}
	n, err := c.World.NextNumber(a.Kind)
	if err != nil {
		return renumberOut{}, err
	}
	out := renumberOut{ID: artifact.FormatID(kind, n), Was: a.ID}
	c.Next(Say("See it: "), Call("forgeplan_get", "id", out.ID))
	return out, c.World.Emit(a.UID, artifact.Renumbered{ID: out.ID, Number: n, Was: a.ID}, nil)
})
