package tools

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"forgeplan/internal/workspace"
)

type initIn struct {
	Yes   bool `json:"yes" short:"y" face:"cli" doc:"Accepted; init never asks."`
	Force bool `json:"force" face:"cli" doc:"Accepted; init never erases."`
}

type initOut struct {
	Workspace string `json:"workspace"`
	Project   string `json:"project"`
	Message   string `json:"message"`
	syncOut
	LeftAlone []string `json:"left_alone"`
}

func (o *initOut) WriteText(w io.Writer, width int) {
	fmt.Fprintln(w, o.Message)
	if len(o.Created)+len(o.Findings) > 0 {
		o.syncOut.WriteText(w, width)
	}
	if len(o.LeftAlone) > 0 {
		fmt.Fprintf(w, "Not taken in: %s\n", strings.Join(o.LeftAlone, ", "))
	}
}

var initTool = Starting(Tool{
	Name: "forgeplan_init", Command: "init", Title: "Make the workspace", Effect: Starts, Set: "core",
	Summary: "Makes .forgeplan/ in the project folder.",
	Doc:     "Artifact files that stand there are taken in as they are. Where a workspace exists it changes nothing and says so.",
}, func(c *Run, in initIn, start func() (workspace.Initialized, error)) (initOut, error) {
	done, err := start()
	out := initOut{Workspace: workspace.Folder, Project: done.Project, syncOut: synced(done.Found), LeftAlone: orNone(done.Left)}
	switch {
	case errors.Is(err, workspace.ErrExists):
		out.Message = "The workspace exists already; nothing was changed."
		c.Next(Say("See what is in it: "), Call("forgeplan_list"))
		return out, nil
	case err != nil:
		return out, err
	}
	out.Message = "Made the workspace .forgeplan/."
	if done.Above != "" {
		c.Warn("there is another workspace in a folder above; calls made here now use this one")
	}
	c.Next(Say("Write down the first decision: "), Call("forgeplan_new", "kind", "prd", "title", Fixed("First decision")))
	return out, nil
})
