package tools_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"forgeplan/internal/testws"
	"forgeplan/tools"
)

// TestExamples keeps one example answer of every tool: what docs/tools.md
// prints. The calls run in order in one fixed workspace.
func TestExamples(t *testing.T) {
	ws := testws.Bare(t)
	for _, c := range [][3]string{
		{"forgeplan_init", `{}`, ""},
		{"forgeplan_new", `{"kind": "prd", "title": "Auth system"}`, ""},
		{"forgeplan_new", `{"kind": "evidence", "title": "Login takes 80 ms", "body": "verdict: supports\n"}`, "-"},
		{"forgeplan_link", `{"source": "EVID-001", "target": "PRD-001", "relation": "informs"}`, ""},
		{"forgeplan_tag", `{"id": "PRD-001", "tags": ["security", "source=code"]}`, ""},
		{"forgeplan_update", `{"id": "PRD-001", "title": "Sign-in", "body": "# Sign-in\n"}`, ""},
		{"forgeplan_get", `{"id": "prd-1"}`, ""},
		{"forgeplan_list", `{"kind": "prd"}`, ""},
		{"forgeplan_untag", `{"id": "PRD-001", "tags": ["security"]}`, ""},
		{"forgeplan_unlink", `{"source": "EVID-001", "target": "PRD-001"}`, ""},
		{"forgeplan_activate", `{"id": "PRD-001", "force": true}`, ""},
		{"forgeplan_new", `{"kind": "prd", "title": "Sessions"}`, "-"},
		{"forgeplan_link", `{"source": "EVID-001", "target": "PRD-001"}`, "-"},
		{"forgeplan_supersede", `{"id": "PRD-001", "by": "PRD-002"}`, ""},
		{"forgeplan_undo_last", `{}`, "-"},
		{"forgeplan_redo", `{}`, ""},
		{"forgeplan_undo_last", `{}`, "-"},
		{"forgeplan_deprecate", `{"id": "PRD-001", "reason": "the market changed"}`, ""},
		{"forgeplan_restore", `{"id": "PRD-001"}`, ""},
		{"forgeplan_delete", `{"id": "PRD-001"}`, ""},
		{"forgeplan_receipts", `{"limit": 2}`, ""},
		{"forgeplan_undo_last", `{}`, ""},
		{"forgeplan_update", `{"id": "PRD-001", "valid_until": "2026-04-01"}`, "-"},
		{"forgeplan_renew", `{"id": "PRD-001", "until": "2027-06-30", "reason": "measured again"}`, ""},
		{"forgeplan_reopen", `{"id": "PRD-001", "reason": "the load tripled"}`, ""},
		{"forgeplan_sync", `{}`, ""},
		{"forgeplan_renumber", `{"id": "PRD-002"}`, ""},
		{"forgeplan_activity", `{"since_hours": 1, "limit": 2}`, ""},
	} {
		r := ws.Reg.Call(context.Background(), ws.Caller, c[0], json.RawMessage(c[1]))
		if r.Failure != nil {
			t.Fatalf("%s: %s", c[0], r.Body)
		}
		if c[2] == "-" {
			continue
		}
		golden(t, filepath.Join("testdata", "examples", c[0]+".json"), pretty(t, r.Body))
	}
	ws.Check()
}

// TestExamplesOfTools: the example arguments that a tool documents are ones it
// accepts, and every tool has an example answer.
func TestExamplesOfTools(t *testing.T) {
	for _, tool := range tools.All() {
		if tool.Example != "" {
			if _, f := tool.Repair(json.RawMessage(tool.Example)); f != nil {
				t.Errorf("%s: example %s: %s", tool.Name, tool.Example, f.Msg)
			}
		}
		if !*update {
			names, _ := filepath.Glob(filepath.Join("testdata", "examples", tool.Name+".json"))
			if len(names) != 1 {
				t.Errorf("%s has no example answer", tool.Name)
			}
		}
	}
}

// TestDefinitions keeps what clients see of every tool, and holds the core set
// to what a client can carry in every turn.
func TestDefinitions(t *testing.T) {
	reg, err := tools.New(testws.Bare(t).Env, tools.All())
	if err != nil {
		t.Fatal(err)
	}
	core, bytes := reg.Tools("core"), 0
	for _, tool := range core {
		golden(t, filepath.Join("testdata", "schemas", tool.Name+".json"), pretty(t, tool.Schema()))
		bytes += len(tool.Schema()) + len(tool.Name) + len(tool.Summary) + len(tool.Doc) + len(tool.Title)
		if !strings.HasPrefix(tool.Name, "forgeplan_") || tool.Summary == "" || tool.Command == "" {
			t.Errorf("tool %+v", tool)
		}
	}
	if len(core) > 24 || bytes/4 > 5000 {
		t.Errorf("%d tools, about %d tokens", len(core), bytes/4)
	}
}
