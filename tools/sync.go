package tools

import (
	"fmt"
	"io"
	"strings"

	"forgeplan/internal/artifact"
	"forgeplan/internal/workspace"
)

type syncIn struct {
	AcceptDeletions bool `json:"accept_deletions" face:"cli" doc:"Delete the artifacts whose file is gone; each gets a receipt."`
}

type syncOut struct {
	Created  []string            `json:"created"`
	Edited   []string            `json:"edited"`
	Clashes  []string            `json:"clashes"`
	Pending  []string            `json:"pending"`
	Missing  []string            `json:"missing"`
	Deleted  []string            `json:"deleted"`
	Findings []workspace.Finding `json:"findings"`
}

func (o *syncOut) WriteText(w io.Writer, _ int) {
	line := func(what string, list []string) {
		if n := len(list); n > 20 {
			fmt.Fprintf(w, "%-10s%s and %d more\n", what, strings.Join(list[:20], ", "), n-20)
		} else if n > 0 {
			fmt.Fprintf(w, "%-10s%s\n", what, strings.Join(list, ", "))
		}
	}
	line("Taken in", o.Created)
	line("Edited", o.Edited)
	line("Clashes", o.Clashes)
	line("Pending", o.Pending)
	line("Missing", o.Missing)
	line("Deleted", o.Deleted)
	for _, f := range o.Findings {
		fmt.Fprintf(w, "Finding   %s\n", f)
	}
	fmt.Fprintf(w, "%d taken in, %d edited, %d finding(s)\n", len(o.Created), len(o.Edited), len(o.Findings))
}

// findings make the command end with exit code 3.
func (o *syncOut) findings() int { return len(o.Findings) }

var syncTool = Mutating(Tool{
	Name: workspace.SyncTool, Command: "sync", Title: "Take hand edits in", Effect: Edits, Set: "core", looks: looksNowhere,
	Summary: "Takes in what people changed in the Markdown files: edits, new files, renames.",
	Doc:     "Other calls do this by themselves for the files they see. A file that is gone deletes nothing.",
	Example: `{}`,
}, func(c *Run, in syncIn) (syncOut, error) {
	found, err := c.ws.TakeIn(c.World, workspace.Look{All: true})
	out := synced(found)
	for _, w := range found.Warnings {
		c.Warn("%s", w)
	}
	c.Next(Say("See what is there: "), Call("forgeplan_list"))
	if err != nil || !in.AcceptDeletions {
		return out, err
	}
	gone, err := c.ws.Absent(c.World)
	if err != nil {
		return out, err
	}
	for _, a := range gone {
		if _, err := remove(c, a, artifact.Redo{}); err != nil {
			return out, err
		}
		c.Target(a.UID)
		out.Deleted = append(out.Deleted, a.ID)
	}
	out.Missing = []string{}
	return out, nil
})

func synced(found workspace.Intake) syncOut {
	return syncOut{Created: orNone(found.Created), Edited: orNone(found.Changed), Clashes: orNone(found.Clashes), Pending: orNone(found.Pending),
		Missing: orNone(found.Missing), Deleted: []string{}, Findings: append([]workspace.Finding{}, found.Findings...)}
}

func orNone(list []string) []string { return append([]string{}, list...) }
