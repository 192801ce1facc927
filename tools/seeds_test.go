package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"forgeplan/internal/testws"
	"forgeplan/tools"
)

var update = flag.Bool("update", false, "rewrite golden files")

// seed is a call that a product page shows. The answers of both faces are
// golden files: testdata/seeds/<name>.<face>.json.
type seed struct {
	name, tool, args string
}

// TestSeeds runs every example and error of the product pages of list and
// activity in one fixed workspace.
func TestSeeds(t *testing.T) {
	ws := testws.New(t)
	seedWorkspace(ws)
	for _, s := range []seed{
		{"list-all", "forgeplan_list", `{}`},
		{"list-prd-draft", "forgeplan_list", `{"kind":"prd","status":"draft"}`},
		{"list-active", "forgeplan_list", `{"status":"active"}`},
		{"list-prd-active", "forgeplan_list", `{ "kind": "prd", "status": "active" }`},
		{"list-unknown-status", "forgeplan_list", `{"status":"open"}`},
		{"list-unknown-kind", "forgeplan_list", `{"kind":"story"}`},
		{"activity-default", "forgeplan_activity", `{}`},
		{"activity-last-hour", "forgeplan_activity", `{ "since_hours": 1 }`},
		{"activity-destructive-week", "forgeplan_activity", `{ "since_hours": 168, "tool": "forgeplan_delete,forgeplan_supersede,forgeplan_deprecate" }`},
		{"activity-errors-only", "forgeplan_activity", `{ "status": "tool_err", "limit": 50 }`},
		{"activity-one-tool", "forgeplan_activity", `{"tool":"forgeplan_new"}`},
		{"activity-unknown-status", "forgeplan_activity", `{"status":"error"}`},
		{"activity-over-max", "forgeplan_activity", `{"since_hours":721,"limit":6000}`},
		{"activity-since-720h", "forgeplan_activity", `{"since":"720h","tool":"forgeplan_delete,forgeplan_supersede,forgeplan_deprecate"}`},
	} {
		for _, face := range []string{"mcp", "cli"} {
			t.Run(s.name+"/"+face, func(t *testing.T) {
				caller := ws.Caller
				caller.Face = face
				r := ws.Reg.Call(context.Background(), caller, s.tool, json.RawMessage(s.args))
				golden(t, filepath.Join("testdata", "seeds", s.name+"."+face+".json"), pretty(t, r.Body))
			})
		}
	}
}

// seedWorkspace makes what the list page shows, and some failed calls.
func seedWorkspace(ws *testws.WS) {
	ws.Must("forgeplan_new", `{"kind":"prd","title":"Scoring intelligence"}`)
	ws.Must("forgeplan_new", `{"kind":"prd","title":"FPF rules","depth":"deep","tags":["source=code"]}`)
	ws.Must("forgeplan_new", `{"kind":"prd","title":"Auth system"}`)
	ws.Must("forgeplan_new", `{"kind":"rfc","title":"Sessions"}`)
	ws.Call("forgeplan_get", `{"id":"PRD-404"}`)
	ws.Call("forgeplan_list", `{"colour":"red"}`)
	ws.Call("forgeplan_nope", `{}`)
	ws.Clock.Set(testws.Start.Add(2 * time.Minute))
}

// golden compares with a committed file; -update writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\ngot\n%s\nwant\n%s", name, got, want)
	}
}

func pretty(t *testing.T, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", "  "); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// TestSeedKeys: the keys of the pages come first, in the pages' order.
func TestSeedKeys(t *testing.T) {
	ws := testws.New(t)
	seedWorkspace(ws)
	for _, c := range []struct{ tool, pattern string }{
		{"forgeplan_list", `^\{"count":\d+,"artifacts":\[\{"id":"[^"]+","kind":"[^"]+","status":"[^"]+","title":"[^"]+","depth":"[^"]+","tags":\[[^\]]*\],"updated_at":"[^"]+Z"\}.*"_next_action":"[^"]*"\}$`},
		{"forgeplan_activity", `^\{"entries":\[\{"ts":"[^"]+Z","tool":"[^"]+","status":"[^"]+","duration_ms":\d+,.*"total_scanned":\d+,"returned":\d+,"warnings":\[\],"since_hours":24,"_next_action":"\d+ entries in window\. Busiest tool: .*"\}$`},
	} {
		if body := ws.Call(c.tool, `{}`).Body; !regexp.MustCompile(c.pattern).Match(body) {
			t.Errorf("%s: %s", c.tool, body)
		}
	}
	fail := ws.Call("forgeplan_get", `{"id":"PRD-404"}`)
	if !regexp.MustCompile(`^\{"ok":false,"error":"[^"]+","error_class":"not_found","_next_action":".+"\}$`).Match(fail.Body) {
		t.Errorf("failure: %s", fail.Body)
	}
}

// TestHintsRun: every hint met here, run as it is printed, is accepted.
func TestHintsRun(t *testing.T) {
	ws := testws.New(t)
	seedWorkspace(ws)
	call := regexp.MustCompile("`(forgeplan_[a-z_]+)((?: [a-z_]+=(?:\"[^\"]*\"|[^ `]+))*)`")
	arg := regexp.MustCompile(`([a-z_]+)=("[^"]*"|[^ ]+)`)
	seen := map[string]bool{}
	check := func(r tools.Reply) {
		next, _ := testws.Object(t, r.Body)["_next_action"].(string)
		for _, m := range call.FindAllStringSubmatch(next, -1) {
			if seen[m[0]] {
				continue
			}
			seen[m[0]] = true
			args := map[string]any{}
			for _, a := range arg.FindAllStringSubmatch(m[2], -1) {
				var s string
				if json.Unmarshal([]byte(a[2]), &s) != nil {
					s = a[2]
				}
				args[a[1]] = s
			}
			if r := ws.Call(m[1], args); r.Failure != nil && (r.Failure.Class == tools.ClassInvalidInput || r.Failure.Class == tools.ClassProtocol) {
				t.Errorf("hint %s: %s", m[0], r.Body)
			}
		}
	}
	for _, c := range [][2]string{
		{"forgeplan_init", `{}`}, {"forgeplan_list", `{}`}, {"forgeplan_list", `{"limit":2}`}, {"forgeplan_list", `{"status":"active"}`},
		{"forgeplan_get", `{"id":"prd-1"}`}, {"forgeplan_get", `{"id":"PRD-404"}`}, {"forgeplan_get", `{"id":"x y"}`},
		{"forgeplan_new", `{"kind":"evidence","title":"Measured"}`}, {"forgeplan_new", `{"kind":"note","title":"With text","body":"text"}`},
		{"forgeplan_update", `{"id":"PRD-001","depth":"deep","if_version":1}`}, {"forgeplan_update", `{"id":"PRD-001"}`},
		{"forgeplan_update", `{"id":"PRD-001","status":"active"}`}, {"forgeplan_link", `{"source":"EVID-001","target":"PRD-001"}`},
		{"forgeplan_unlink", `{"source":"EVID-001","target":"PRD-001"}`}, {"forgeplan_unlink", `{"source":"EVID-001","target":"PRD-001"}`},
		{"forgeplan_tag", `{"id":"PRD-001","tags":["a"]}`}, {"forgeplan_untag", `{"id":"PRD-001","tags":["b"]}`},
		{"forgeplan_activity", `{}`}, {"forgeplan_activity", `{"since":"720h"}`}, {"forgeplan_activity", `{"tool":"forgeplan_nope_at_all"}`},
		{"forgeplan_activity", `{"since":"yesterday"}`}, {"forgeplan_list", `{"cursor":"zzz"}`},
	} {
		check(ws.Call(c[0], c[1]))
	}
	if len(seen) < 8 {
		t.Errorf("only %d hints were met", len(seen))
	}
}
