package tools

import (
	"fmt"
	"io"
	"sort"

	"forgeplan/internal/artifact"
	"forgeplan/internal/render"
	"forgeplan/internal/workspace"
)

type newIn struct {
	Kind       string   `json:"kind" pos:"1" required:"true" enum:"prd,rfc,adr,epic,spec,problem|problemcard,solution|solutionportfolio,evidence|evidencepack,note,refresh|refreshreport" doc:"Kind of artifact."`
	Title      string   `json:"title" pos:"2" required:"true" text:"keep" doc:"1-500 characters, any script."`
	Body       *string  `json:"body" text:"keep" doc:"Markdown, kept byte for byte. Default: a skeleton of headings."`
	Depth      string   `json:"depth" enum:"note,tactical,standard,deep,critical" doc:"Default: by kind."`
	Tags       []string `json:"tags" doc:"Tags, such as source=code."`
	ParentEpic string   `json:"parent_epic" doc:"Id of an epic."`
}

type similar struct {
	ID         string  `json:"id"`
	Title      string  `json:"title"`
	Similarity float64 `json:"similarity"`
	Status     string  `json:"status"`
}

type newOut struct {
	ID      string    `json:"id"`
	UID     string    `json:"uid"`
	Kind    string    `json:"kind"`
	Status  string    `json:"status"`
	Title   string    `json:"title"`
	Depth   string    `json:"depth"`
	Version int       `json:"version"`
	Path    string    `json:"path"`
	Similar []similar `json:"similar"`
}

func (o *newOut) WriteText(w io.Writer, _ int) {
	fmt.Fprintf(w, "Created %s  %s\n%s/%s\n", o.ID, render.Safe(o.Title, 200), workspace.Folder, o.Path)
	for _, s := range o.Similar {
		fmt.Fprintf(w, "Similar: %s (%s)  %s\n", s.ID, s.Status, render.Safe(s.Title, 200))
	}
}

// similarFrom is the similarity of titles from which `new` names the other.
const similarFrom = 0.7

var newTool = Mutating(Tool{
	Name: "forgeplan_new", Command: "new", Title: "Create an artifact", Effect: Adds, Set: "core",
	Summary: "Creates a draft PRD, RFC, ADR, epic, spec, problem, solution, evidence, note or refresh.",
	Doc:     "Similar titles are named in `similar`, never refused. Returns the id.",
	Example: `{"kind": "prd", "title": "Auth system"}`,
}, func(c *Run, in newIn) (newOut, error) {
	out := newOut{Similar: []similar{}}
	epic := ""
	if in.ParentEpic != "" {
		parent, err := c.World.Find(in.ParentEpic)
		if err != nil {
			return out, err
		}
		if parent.Kind != "epic" {
			return out, notAnEpic(parent)
		}
		epic = parent.ID
	}
	for a, err := range c.World.Artifacts().Scan() {
		if err != nil {
			return out, err
		}
		if a.Kind != in.Kind {
			continue
		}
		if s := artifact.Similarity(a.Title, in.Title); s >= similarFrom {
			out.Similar = append(out.Similar, similar{ID: a.ID, Title: a.Title, Similarity: round2(s), Status: a.Status})
		}
	}
	sort.SliceStable(out.Similar, func(i, j int) bool { return out.Similar[i].Similarity > out.Similar[j].Similarity })
	if len(out.Similar) > 10 {
		out.Similar = out.Similar[:10]
	}

	var body []byte
	if in.Body != nil {
		if err := checkBody(c, *in.Body); err != nil {
			return out, err
		}
		body = []byte(*in.Body)
	}
	a, err := c.World.Create(workspace.New{Kind: in.Kind, Title: in.Title, Depth: in.Depth, Tags: in.Tags, ParentEpic: epic,
		Author: c.Caller.Actor, Body: body})
	if err != nil {
		return out, err
	}
	c.Target(a.UID)
	out.ID, out.UID, out.Kind, out.Status = a.ID, a.UID.String(), a.Kind, a.Status
	out.Title, out.Depth, out.Version, out.Path = a.Title, a.Depth, a.Version, a.Path
	if in.Body != nil {
		c.Next(Say("Find what it belongs to, then link it: "), Call("forgeplan_list"))
	} else {
		c.Next(Say("Read its headings, then update its body: "), Call("forgeplan_get", "id", a.ID))
	}
	return out, nil
})

func round2(f float64) float64 { return float64(int(f*100+0.5)) / 100 }

// checkBody refuses a body that would erase by accident, or is too large.
func checkBody(c *Run, body string) error {
	if body == "" {
		return Fail(ClassInvalidInput, "`body` is empty; nothing was changed", Say("Leave `body` out to keep the text as it is."))
	}
	if limit := c.World.Limits().MaxBody; int64(len(body)) > limit {
		return Fail(ClassInvalidInput, fmt.Sprintf("`body` has %d bytes; at most %d are allowed", len(body), limit),
			Say("Split the text into several artifacts and link them."))
	}
	return nil
}
