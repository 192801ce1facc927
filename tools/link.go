package tools

import (
	"fmt"
	"io"
	"strings"

	"forgeplan/internal/artifact"
	"forgeplan/internal/workspace"
)

type linkIn struct {
	Source   string `json:"source" pos:"1" required:"true" doc:"Id of what speaks or depends."`
	Target   string `json:"target" pos:"2" required:"true" doc:"Id of what it speaks about."`
	Relation string `json:"relation" short:"r" pos:"3" enum:"informs,based_on,supersedes,contradicts,refines,supports" default:"informs" doc:"Evidence informs what it proves."`
}

type linkOut struct {
	Source   string `json:"source"`
	Relation string `json:"relation"`
	Target   string `json:"target"`
	Version  int    `json:"version"`
}

func (o *linkOut) WriteText(w io.Writer, _ int) {
	fmt.Fprintf(w, "%s %s %s (%s is at version %d)\n", o.Source, o.Relation, o.Target, o.Source, o.Version)
}

// Sealed fills in the version of the source once its file is decided.
func (o *linkOut) Sealed(w *workspace.World) error {
	a, err := w.Find(o.Source)
	o.Version = a.Version
	return err
}

// ends resolves both ends of a link.
func ends(c *Run, in linkIn) (source, target artifact.Artifact, err error) {
	if source, err = c.World.Find(in.Source); err != nil {
		return
	}
	if target, err = c.World.Find(in.Target); err != nil {
		return
	}
	c.Target(source.UID, target.UID)
	if source.UID == target.UID {
		err = Fail(ClassRule, source.ID+" cannot be linked to itself", Say("Name two artifacts."))
	}
	return
}

var linkTool = Mutating(Tool{
	Name: "forgeplan_link", Command: "link", Title: "Link two artifacts", Effect: Adds, Set: "core",
	Summary: "Links source to target: EVID-001 informs PRD-001.",
	Doc:     "A link that is there already changes nothing.",
	Example: `{"source": "EVID-001", "target": "PRD-001", "relation": "informs"}`,
}, func(c *Run, in linkIn) (linkOut, error) {
	source, target, err := ends(c, in)
	if err != nil {
		return linkOut{}, err
	}
	out := linkOut{Source: source.ID, Relation: in.Relation, Target: target.ID, Version: source.Version}
	c.Next(Say("See it with its links: "), Call("forgeplan_get", "id", source.ID))
	if _, ok, err := linked(c.World, source, target, in.Relation); err != nil || ok {
		return out, err
	}
	return out, c.World.Emit(source.UID, artifact.RelationAdded{Relation: in.Relation, Target: target.ID, TargetUID: target.UID}, nil)
})

var unlinkTool = Mutating(Tool{
	Name: "forgeplan_unlink", Command: "unlink", Title: "Remove a link", Effect: Edits, Set: "core",
	Summary: "Removes one link between two artifacts.",
	Doc:     "Fails with nothing_to_do where there is none of that relation.",
	Example: `{"source": "EVID-001", "target": "PRD-001"}`,
}, func(c *Run, in linkIn) (linkOut, error) {
	source, target, err := ends(c, in)
	if err != nil {
		return linkOut{}, err
	}
	out := linkOut{Source: source.ID, Relation: in.Relation, Target: target.ID, Version: source.Version}
	text, ok, err := linked(c.World, source, target, in.Relation)
	if err != nil {
		return out, err
	}
	if !ok {
		return out, Fail(ClassNothingToDo, fmt.Sprintf("there is no link %s %s %s", source.ID, in.Relation, target.ID),
			Say("See its links: "), Call("forgeplan_get", "id", source.ID))
	}
	c.Next(Say("See it with its links: "), Call("forgeplan_get", "id", source.ID))
	return out, c.World.Emit(source.UID, artifact.RelationRemoved{Relation: in.Relation, Target: text, TargetUID: target.UID}, nil)
})

// linked looks for a link and returns its target as written.
func linked(w *workspace.World, source, target artifact.Artifact, relation string) (text string, ok bool, err error) {
	for r, err := range w.Relations().From(source.UID) {
		if err != nil {
			return "", false, err
		}
		if r.Relation == relation && (r.Bound == target.UID || strings.EqualFold(r.Target, target.ID)) {
			return r.Target, true, nil
		}
	}
	return "", false, nil
}
