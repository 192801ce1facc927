package tools

import "slices"

// Sample tools: shapes of input as real tools have them, so that these tests do not depend on any tool.

type sampleActivityIn struct {
	SinceHours float64 `json:"since_hours" default:"24" above:"0" max:"720" doc:"Window in hours back from now."`
	Tool       string  `json:"tool" list:"commas" doc:"Comma-separated tool names."`
	Status     string  `json:"status" enum:"ok,tool_err,rpc_err"`
	Limit      int     `json:"limit" default:"500" min:"1" max:"5000" short:"n"`
}

type sampleListIn struct {
	Kind   string `json:"kind" enum:"prd,epic,problem|problemcard,note" short:"k" flag:"type,t"`
	Status string `json:"status" enum:"draft,active,stale,superseded,deprecated"`
	Cursor string `json:"cursor"`
	Limit  *int   `json:"limit" min:"1" max:"1000"`
	Detail bool   `json:"detail" default:"false"`
}

type sampleNewIn struct {
	Kind  string   `json:"kind" required:"true" enum:"prd,note" pos:"1"`
	Title string   `json:"title" required:"true" text:"keep" pos:"2"`
	Body  *string  `json:"body" text:"keep"`
	Tags  []string `json:"tags"`
	Force bool     `json:"force" face:"cli"`
}

type sampleGetIn struct {
	ID string `json:"id" required:"true" pos:"1"`
}

type sampleUndoIn struct {
	WithinHours float64 `json:"within_hours" default:"24" above:"0" max:"720"`
}

type sampleTagIn struct {
	ID   string    `json:"id" required:"true" pos:"1"`
	Tags *[]string `json:"tags" required:"true" pos:"2"`
}

func sampleTool(name, command string, effect Effect, namesArtifact bool, in any) *Tool {
	return &Tool{Name: name, Command: command, Effect: effect, Params: append(ParamsOf(in), commonParams(effect, namesArtifact)...)}
}

var (
	sampleActivity = sampleTool("forgeplan_activity", "activity", Reads, false, sampleActivityIn{})
	sampleList     = sampleTool("forgeplan_list", "list", Reads, false, sampleListIn{})
	sampleNew      = sampleTool("forgeplan_new", "new", Adds, false, sampleNewIn{})
	sampleGet      = sampleTool("forgeplan_get", "get", Reads, false, sampleGetIn{})
	sampleUndo     = sampleTool("forgeplan_undo_last", "undo", Edits, false, sampleUndoIn{})
	sampleTag      = sampleTool("forgeplan_tag", "tag", Edits, true, sampleTagIn{})
	sampleDelete   = sampleTool("forgeplan_delete", "delete", Destroys, true, sampleGetIn{})
	sampleTools    = []*Tool{sampleActivity, sampleList, sampleNew, sampleGet, sampleUndo, sampleTag, sampleDelete}
)

func sampleLookup(name string) (*Tool, bool) {
	i := slices.IndexFunc(sampleTools, func(t *Tool) bool { return t.Name == name })
	if i < 0 {
		return nil, false
	}
	return sampleTools[i], true
}
