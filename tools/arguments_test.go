package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// said drops what repair filled in by itself, so that a case lists what it is about.
func said(t *Tool, values map[string]any) map[string]any {
	values = maps.Clone(values)
	maps.DeleteFunc(values, func(name string, v any) bool { return reflect.DeepEqual(v, t.Param(name).Default) })
	return values
}

func TestRepairAccepts(t *testing.T) {
	type m = map[string]any
	tests := []struct {
		tool *Tool
		raw  string
		want m
	}{
		// numbers and booleans in quotes
		{sampleActivity, `{"since_hours":"24"}`, m{}},
		{sampleActivity, `{"since_hours":24.0,"limit":"5"}`, m{"limit": int64(5)}},
		{sampleActivity, `{"limit":5.0}`, m{"limit": int64(5)}},
		{sampleActivity, `{"limit":5e2}`, m{}},
		{sampleActivity, `{"limit":" 5.0 "}`, m{"limit": int64(5)}},
		{sampleActivity, `{"since_hours":0.5}`, m{"since_hours": 0.5}},
		{sampleActivity, `{"since_hours":""}`, m{}},
		{sampleActivity, `{"limit":"  "}`, m{}},
		{sampleUndo, `{"within_hours":"48"}`, m{"within_hours": 48.0}},
		{sampleUndo, `{"dry_run":"True"}`, m{"dry_run": true}},
		{sampleUndo, `{"dry_run":" false "}`, m{"dry_run": false}},
		{sampleTag, `{"id":"PRD-1","tags":["a"],"if_version":9007199254740993}`, m{"id": "PRD-1", "tags": []string{"a"}, "if_version": int64(9007199254740993)}},
		// strings stay strings
		{sampleNew, `{"kind":"note","title":"007"}`, m{"kind": "note", "title": "007"}},
		{sampleNew, `{"kind":"note","title":7}`, m{"kind": "note", "title": "7"}},
		{sampleNew, `{"kind":"note","title":24.50}`, m{"kind": "note", "title": "24.50"}},
		{sampleNew, `{"kind":"note","title":"null"}`, m{"kind": "note", "title": "null"}},
		{sampleNew, `{"kind":"note","title":" kept <&> "}`, m{"kind": "note", "title": " kept <&> "}},
		{sampleGet, `{"id":"001"}`, m{"id": "001"}},
		// free text: empty is a value
		{sampleNew, `{"kind":"note","title":"","body":""}`, m{"kind": "note", "title": "", "body": ""}},
		{sampleNew, `{"kind":"note","title":"x","body":null}`, m{"kind": "note", "title": "x"}},
		// null is absent
		{sampleActivity, `{"since_hours":null,"tool":null,"status":null,"limit":null}`, m{}},
		{sampleList, `{"kind":null,"status":null}`, m{}},
		{sampleUndo, `{"within_hours":null}`, m{}},
		{sampleList, `null`, m{}},
		{sampleList, ``, m{}},
		{sampleList, " \n", m{}},
		{sampleList, `{}`, m{}},
		// the object as a string
		{sampleList, `"{\"kind\":\"prd\"}"`, m{"kind": "prd"}},
		{sampleList, `""`, m{}},
		{sampleList, `"null"`, m{}},
		// enums
		{sampleList, `{"kind":"","status":""}`, m{}},
		{sampleList, `{"kind":" PRD "}`, m{"kind": "prd"}},
		{sampleList, `{"kind":"ProblemCard"}`, m{"kind": "problem"}},
		{sampleList, `{"status":"superseded"}`, m{"status": "superseded"}},
		{sampleActivity, `{"status":"Tool-Err"}`, m{"status": "tool_err"}},
		// comma-separated words
		{sampleActivity, `{"tool":""}`, m{}},
		{sampleActivity, `{"tool":" forgeplan_new , forgeplan_list ,"}`, m{"tool": "forgeplan_new,forgeplan_list"}},
		{sampleActivity, `{"tool":["forgeplan_new","forgeplan_list"]}`, m{"tool": "forgeplan_new,forgeplan_list"}},
		{sampleActivity, `{"tool":"[\"forgeplan_new\", \"forgeplan_list\"]"}`, m{"tool": "forgeplan_new,forgeplan_list"}},
		{sampleActivity, `{"tool":[]}`, m{}},
		{sampleActivity, `{"tool":" , ,"}`, m{}},
		// lists
		{sampleNew, `{"kind":"note","title":"x","tags":"a, b"}`, m{"kind": "note", "title": "x", "tags": []string{"a", "b"}}},
		{sampleNew, `{"kind":"note","title":"x","tags":"[\"a\",\"b\"]"}`, m{"kind": "note", "title": "x", "tags": []string{"a", "b"}}},
		{sampleNew, `{"kind":"note","title":"x","tags":"[a, b"}`, m{"kind": "note", "title": "x", "tags": []string{"[a", "b"}}},
		{sampleNew, `{"kind":"note","title":"x","tags":["a,b"," c ",null,"",7]}`, m{"kind": "note", "title": "x", "tags": []string{"a,b", "c", "7"}}},
		{sampleNew, `{"kind":"note","title":"x","tags":5}`, m{"kind": "note", "title": "x", "tags": []string{"5"}}},
		{sampleNew, `{"kind":"note","title":"x","tags":[]}`, m{"kind": "note", "title": "x", "tags": []string{}}},
		{sampleNew, `{"kind":"note","title":"x","tags":""}`, m{"kind": "note", "title": "x"}},
		// the last of two equal keys
		{sampleGet, `{"id":"PRD-1","id":"PRD-2"}`, m{"id": "PRD-2"}},
		{sampleList, `{"kind":"story","kind":null}`, m{}},
	}
	for _, tt := range tests {
		t.Run(tt.tool.Command+" "+tt.raw, func(t *testing.T) {
			got, f := tt.tool.Repair(json.RawMessage(tt.raw))
			if f != nil {
				t.Fatalf("refused: %s", f.Msg)
			}
			if s := said(tt.tool, got.Values); !reflect.DeepEqual(s, tt.want) {
				t.Errorf("got %#v, want %#v", s, tt.want)
			}
			if len(got.Warnings) != 0 {
				t.Errorf("warnings %q, want none", got.Warnings)
			}
		})
	}
}

func TestRepairRefuses(t *testing.T) {
	const hours = "`since_hours` must be a number above 0, at most 720, got "
	const limit = "`limit` must be a whole number from 1 to 5000, got "
	tests := []struct {
		tool      *Tool
		raw, want string
	}{
		{sampleActivity, `{"since_hours":"24h"}`, hours + "a string of 3 characters"},
		{sampleActivity, `{"since_hours":"abc"}`, hours + "a string of 3 characters"},
		{sampleActivity, `{"since_hours":"NaN"}`, hours + "a string of 3 characters"},
		{sampleActivity, `{"since_hours":"Infinity"}`, hours + "a string of 8 characters"},
		{sampleActivity, `{"since_hours":"0x10"}`, hours + "a string of 4 characters"},
		{sampleActivity, `{"since_hours":-1}`, hours + "-1"},
		{sampleActivity, `{"since_hours":"-1"}`, hours + "-1"},
		{sampleActivity, `{"since_hours":0}`, hours + "0"},
		{sampleActivity, `{"since_hours":1e400}`, hours + "1e400"},
		{sampleActivity, `{"since_hours":"1e400"}`, hours + "1e400"},
		{sampleActivity, `{"since_hours":1e-400}`, hours + "1e-400"},
		{sampleActivity, `{"since_hours":true}`, hours + "a boolean"},
		{sampleActivity, `{"since_hours":[24]}`, hours + "a list of 1"},
		{sampleActivity, `{"since_hours":{"a":1}}`, hours + "an object"},
		{sampleActivity, `{"since_hours":-0.0000000000000000000000001}`, hours + "a number of 28 characters"},
		{sampleActivity, `{"limit":5.5}`, limit + "5.5"},
		{sampleActivity, `{"limit":0}`, limit + "0"},
		{sampleActivity, `{"limit":-0}`, limit + "-0"},
		{sampleActivity, `{"limit":"5.5"}`, limit + "5.5"},
		{sampleTag, `{"id":"PRD-1","tags":"a","if_version":1e30}`, "`if_version` must be a whole number of at least 1, got 1e30"},
		{sampleTag, `{"id":"PRD-1","tags":"a","if_version":9223372036854775808}`, "`if_version` must be a whole number of at least 1, got 9223372036854775808"},
		{sampleUndo, `{"dry_run":"yes"}`, "`dry_run` must be true or false, got a string of 3 characters"},
		{sampleUndo, `{"dry_run":1}`, "`dry_run` must be true or false, got 1"},
		{sampleUndo, `{"idempotency_key":"` + strings.Repeat("ж", 201) + `"}`, "`idempotency_key` must be a string of at most 200 characters, got a string of 201 characters"},

		{sampleList, `{"status":"open"}`, "`status` must be one of draft, active, stale, superseded, deprecated, got `open`"},
		{sampleList, `{"kind":"story"}`, "`kind` must be one of prd, epic, problem, note, got `story`"},
		{sampleList, `{"kind":"tok-TEST-012"}`, "`kind` must be one of prd, epic, problem, note, got a string of 12 characters"},
		{sampleList, `{"kind":["prd","epic"]}`, "`kind` must be one of prd, epic, problem, note, got a list of 2"},
		{sampleActivity, `{"status":"error"}`, "`status` must be one of ok, tool_err, rpc_err, got `error`"},
		{sampleActivity, `{"tool":[["a"]]}`, "`tool` must be a string of comma-separated words, got a list of 1"},
		{sampleActivity, `{"tool":{}}`, "`tool` must be a string of comma-separated words, got an object"},
		{sampleNew, `{"kind":"note","title":true}`, "`title` must be a string, got a boolean"},
		{sampleNew, `{"kind":"note","title":"x","tags":[{"a":"secret"}]}`, "`tags` must be a list of strings, got a list that holds an object"},

		{sampleGet, `{}`, "`id` is required: a string"},
		{sampleGet, `{"id":null}`, "`id` is required: a string"},
		{sampleGet, `{"id":"  "}`, "`id` is required: a string"},
		{sampleNew, `{"title":"x"}`, "`kind` is required: one of prd, note"},

		{sampleList, `[]`, "arguments must be an object, got a list of 0"},
		{sampleList, `7`, "arguments must be an object, got 7"},
		{sampleList, `true`, "arguments must be an object, got a boolean"},
		{sampleList, `"kind=prd"`, "arguments must be an object, got text that is not JSON"},
		{sampleList, `"[1,2]"`, "arguments must be an object, got a list of 2"},
		{sampleList, `{"kind":`, "arguments must be an object, got text that is not JSON"},
		{sampleList, `{} {}`, "arguments must be an object, got text that is not JSON"},

		// the first mistake only, unknown arguments before all, then the tool's order
		{sampleActivity, `{"limit":0,"since_hours":0}`, hours + "0"},
		{sampleGet, `{"zeta":1,"colour":1}`, "unknown argument `colour`; valid: id"},
	}
	for _, tt := range tests {
		t.Run(tt.tool.Command+" "+tt.raw, func(t *testing.T) {
			args, f := tt.tool.Repair(json.RawMessage(tt.raw))
			if f == nil {
				t.Fatalf("accepted as %v", args.Values)
			}
			if f.Class != ClassInvalidInput || f.Msg != tt.want {
				t.Errorf("got %s: %s\nwant %s", f.Class, f.Msg, tt.want)
			}
			if args.Values != nil {
				t.Errorf("values %v beside a failure", args.Values)
			}
			if f.Hint.MCP() == "" {
				t.Error("no hint")
			}
		})
	}
}

func TestRepairUnknownArgument(t *testing.T) {
	const activity = "; valid: since_hours, tool, status, limit; did you mean `since_hours`?"
	tests := []struct {
		tool      *Tool
		raw, want string
	}{
		{sampleActivity, `{"last_hours":1}`, "unknown argument `last_hours`" + activity},
		{sampleActivity, `{"sinceHours":1}`, "unknown argument `sinceHours`" + activity},
		{sampleActivity, `{"Since_Hours":1}`, "unknown argument `Since_Hours`" + activity},
		{sampleActivity, `{"since":1}`, "unknown argument `since`" + activity},
		{sampleActivity, `{"hours":1}`, "unknown argument `hours`" + activity},
		{sampleActivity, `{"since_hour":1}`, "unknown argument `since_hour`" + activity},
		{sampleActivity, `{"cursor":"x"}`, "unknown argument `cursor`; valid: since_hours, tool, status, limit; did you mean `limit`?"},
		{sampleActivity, `{"tool_name":"x"}`, "unknown argument `tool_name`; valid: since_hours, tool, status, limit; did you mean `tool`?"},
		{sampleUndo, `{"hours":720}`, "unknown argument `hours`; valid: within_hours, dry_run, idempotency_key; did you mean `within_hours`?"},
		{sampleUndo, `{"since_hours":720}`, "unknown argument `since_hours`; valid: within_hours, dry_run, idempotency_key; did you mean `within_hours`?"},
		{sampleUndo, `{"DryRun":true}`, "unknown argument `DryRun`; valid: within_hours, dry_run, idempotency_key; did you mean `dry_run`?"},
		{sampleList, `{"type":"prd"}`, "unknown argument `type`; valid: kind, status, cursor, limit, detail; did you mean `kind`?"},
		{sampleList, `{"t":"prd"}`, "unknown argument `t`; valid: kind, status, cursor, limit, detail; did you mean `kind`?"},
		{sampleList, `{"Kind":"prd"}`, "unknown argument `Kind`; valid: kind, status, cursor, limit, detail; did you mean `kind`?"},
		{sampleList, `{"offset":10}`, "unknown argument `offset`; valid: kind, status, cursor, limit, detail; did you mean `cursor`?"},
		{sampleList, `{"colour":"red"}`, "unknown argument `colour`; valid: kind, status, cursor, limit, detail"},
		{sampleList, `{"api_key":"tok-TEST-0123456789abcdef"}`, "unknown argument `api_key`; valid: kind, status, cursor, limit, detail"},
		{sampleList, `{"colour":null}`, "unknown argument `colour`; valid: kind, status, cursor, limit, detail"},
		{sampleGet, `{"artifact_id":"PRD-1"}`, "unknown argument `artifact_id`; valid: id; did you mean `id`?"},
		{sampleNew, `{"kind":"note","name":"x"}`, "unknown argument `name`; valid: kind, title, body, tags, dry_run, idempotency_key; did you mean `title`?"},
		{sampleNew, `{"kind":"note","title":"x","content":"y"}`, "unknown argument `content`; valid: kind, title, body, tags, dry_run, idempotency_key; did you mean `body`?"},
		{sampleTag, `{"id":"PRD-1","tags":"a","expected_version":2}`, "unknown argument `expected_version`; valid: id, tags, dry_run, idempotency_key, if_version; did you mean `if_version`?"},
		{&Tool{}, `{"a":1}`, "unknown argument `a`; this tool takes none"},
	}
	for _, tt := range tests {
		t.Run(tt.raw, func(t *testing.T) {
			_, f := tt.tool.Repair(json.RawMessage(tt.raw))
			if f == nil || f.Class != ClassInvalidInput || f.Msg != tt.want {
				t.Errorf("got %v\nwant %s", f, tt.want)
			}
		})
	}
}

func TestRepairClampsWithWarning(t *testing.T) {
	tests := []struct {
		raw, name string
		want      any
		warning   string
	}{
		{`{"since_hours":721}`, "since_hours", 720.0, "`since_hours` can be at most 720: 720 was used instead of 721"},
		{`{"since_hours":"1e300"}`, "since_hours", 720.0, "`since_hours` can be at most 720: 720 was used instead of 1e300"},
		{`{"limit":99999999999999999999999}`, "limit", int64(5000), "`limit` can be at most 5000: 5000 was used instead of a number of 23 characters"},
	}
	for _, tt := range tests {
		got, f := sampleActivity.Repair(json.RawMessage(tt.raw))
		if f != nil {
			t.Errorf("%s refused: %s", tt.raw, f.Msg)
			continue
		}
		if got.Values[tt.name] != tt.want || !slices.Equal(got.Warnings, []string{tt.warning}) {
			t.Errorf("%s: got %v, warnings %q", tt.raw, got.Values[tt.name], got.Warnings)
		}
	}
}

func TestRepairFillsDefaults(t *testing.T) {
	got, f := sampleActivity.Repair(nil)
	if f != nil {
		t.Fatal(f)
	}
	want := map[string]any{"since_hours": 24.0, "limit": int64(500)}
	if !reflect.DeepEqual(got.Values, want) {
		t.Errorf("got %#v, want %#v", got.Values, want)
	}

	type in struct {
		Fields []string `json:"fields" default:"id,title"`
	}
	tool := &Tool{Params: ParamsOf(in{})}
	first, _ := tool.Repair(nil)
	first.Values["fields"].([]string)[0] = "changed"
	second, _ := tool.Repair(nil)
	if got := second.Values["fields"].([]string); !slices.Equal(got, []string{"id", "title"}) {
		t.Errorf("a caller changed the default to %q", got)
	}
}

func TestRepairCommandLineOnly(t *testing.T) {
	raw := json.RawMessage(`{"kind":"note","title":"x","force":true}`)
	if _, f := sampleNew.Repair(raw); f == nil || !strings.HasPrefix(f.Msg, "unknown argument `force`; valid: kind, title, body, tags, dry_run") {
		t.Errorf("over MCP: got %v", f)
	}
	if args, f := sampleNew.RepairCLI(raw); f != nil || args.Values["force"] != true {
		t.Errorf("on the command line: got %v, %v", args.Values, f)
	}
}

// A secret that came in the wrong place stands in no message: only its form does.
func TestRepairKeepsSecrets(t *testing.T) {
	const secret = "tok-TEST-0123456789abcdef"
	for _, tool := range sampleTools {
		for _, p := range append(tool.Params, Param{Name: "api_key"}) {
			for _, raw := range []string{`{%q:%q}`, `{%q:[%q]}`, `{%q:[[%q]]}`, `{%q:{"a":%q}}`, `%.0s%q`, `%.0s[%q]`, `{%q:1,"nope":%q}`} {
				args, f := tool.Repair(json.RawMessage(fmt.Sprintf(raw, p.Name, secret)))
				if f != nil && strings.Contains(f.Msg+f.Hint.MCP(), secret) {
					t.Errorf("%s: %s", tool.Name, f.Msg)
				}
				if s := fmt.Sprint(args.Warnings, args.Names); strings.Contains(s, secret) {
					t.Errorf("%s: %s", tool.Name, s)
				}
			}
		}
	}
}

func TestArgumentNames(t *testing.T) {
	got, f := sampleList.Repair(json.RawMessage(`{"status":"open","` + strings.Repeat("x", 90) + `":1,"kind": "prd", "a` + "`\\n\u202e<b>" + `":[1, 2]}`))
	if f == nil {
		t.Fatal("accepted")
	}
	want := []ArgName{{"a????b?", 6}, {"kind", 5}, {"status", 6}, {strings.Repeat("x", 80), 1}}
	if !slices.Equal(got.Names, want) {
		t.Errorf("got %v, want %v", got.Names, want)
	}

	var many bytes.Buffer
	many.WriteByte('{')
	for i := range 100 {
		fmt.Fprintf(&many, "%q:1,", fmt.Sprintf("n%03d", i))
	}
	many.WriteString(`"z":1}`)
	if got, _ := sampleList.Repair(many.Bytes()); len(got.Names) != maxNames {
		t.Errorf("%d names kept, want %d", len(got.Names), maxNames)
	}
	if got, _ := sampleList.Repair([]byte(`[1]`)); len(got.Names) != 0 {
		t.Errorf("names %v out of a list", got.Names)
	}
}

func TestBind(t *testing.T) {
	args, f := sampleNew.Repair(json.RawMessage(`{"kind":"note","title":"x","body":"","tags":"a,b"}`))
	if f != nil {
		t.Fatal(f)
	}
	var in sampleNewIn
	if err := Bind(args.Values, &in); err != nil {
		t.Fatal(err)
	}
	if in.Kind != "note" || in.Title != "x" || in.Body == nil || *in.Body != "" || !slices.Equal(in.Tags, []string{"a", "b"}) {
		t.Errorf("got %+v", in)
	}

	var list sampleListIn
	if err := Bind(map[string]any{"limit": int64(7), "detail": true}, &list); err != nil {
		t.Fatal(err)
	}
	if list.Limit == nil || *list.Limit != 7 || !list.Detail || list.Kind != "" {
		t.Errorf("got %+v", list)
	}
	list = sampleListIn{}
	if err := Bind(nil, &list); err != nil || list.Limit != nil {
		t.Errorf("got %+v, %v: what was not given must stay nil", list, err)
	}

	var tag sampleTagIn
	if err := Bind(map[string]any{"tags": []string{}}, &tag); err != nil || tag.Tags == nil || *tag.Tags == nil {
		t.Errorf("got %+v, %v: an empty list was given", tag, err)
	}

	type inner struct {
		ID string `json:"id"`
	}
	type outer struct {
		inner
		Hours float64 `json:"hours"`
	}
	var out outer
	if err := Bind(map[string]any{"id": "PRD-1", "hours": 0.5, "dry_run": true}, &out); err != nil || out.ID != "PRD-1" || out.Hours != 0.5 {
		t.Errorf("got %+v, %v", out, err)
	}

	if err := Bind(map[string]any{"hours": "5"}, &out); err == nil {
		t.Error("a string went into a float64")
	}
	if err := Bind(nil, out); err == nil {
		t.Error("bound into a copy")
	}
}

func FuzzRepair(f *testing.F) {
	for _, raw := range []string{``, `null`, `{}`, `[]`, `"{\"kind\":\"prd\"}"`, `{"since_hours":"24","limit":5.0,"tool":["a","[b]"]}`,
		`{"number":1e400}`, `{"number":-0.0,"int":"-0"}`, `{"list":"[\"a\",null,7]","words":"a, \"b\",,[c]"}`, `{"enum":" Two-Words "}`,
		`{"text":" ","string":"\ud800\u0000","bool":"TRUE"}`, `{"int":9007199254740993}`, `{"a":1,"a":2}`, `{"lists":["one","TWO"]}`} {
		f.Add([]byte(raw))
	}
	type in struct {
		String  string   `json:"string" max:"50"`
		Text    string   `json:"text" text:"keep"`
		Enum    string   `json:"enum" enum:"one,two_words|both"`
		Words   string   `json:"words" list:"commas"`
		Choice  string   `json:"choice" list:"commas" enum:"one,two"`
		Int     int      `json:"int" min:"-9" default:"3"`
		Number  float64  `json:"number" max:"1e6" default:"0"`
		Above   float64  `json:"above" above:"0"`
		Bool    bool     `json:"bool"`
		List    []string `json:"list"`
		Lists   []string `json:"lists" enum:"one,two" default:"one"`
		Command bool     `json:"command" face:"cli"`
	}
	tool := sampleTool("forgeplan_fuzz", "fuzz", Edits, true, in{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		first, fail := tool.Repair(raw)
		if fail != nil {
			if fail.Msg == "" || fail.Class != ClassInvalidInput || len(fail.Msg) > 2000 {
				t.Fatalf("failure %+v", fail)
			}
			return
		}
		var bound in
		if err := Bind(first.Values, &bound); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(first.Values)
		if err != nil {
			t.Fatal(err)
		}
		second, fail := tool.Repair(again)
		if fail != nil {
			t.Fatalf("repaired arguments %s refused: %s", again, fail.Msg)
		}
		if !reflect.DeepEqual(first.Values, second.Values) || first.Digest != second.Digest || len(second.Warnings) > 0 {
			t.Fatalf("repaired again: %#v became %#v, warnings %q", first.Values, second.Values, second.Warnings)
		}
	})
}
