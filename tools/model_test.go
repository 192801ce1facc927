package tools_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"forgeplan/internal/testws"
	"forgeplan/tools"

	"pgregory.net/rapid"
)

// model is what a workspace should come to, kept in the plainest way.
type model struct {
	last      map[string]int // by kind
	artifacts map[string]*modelArtifact
	links     map[string]bool // source relation target
}

type modelArtifact struct {
	kind, title, depth, body string
	tags                     []string
}

var prefixes = map[string]string{"prd": "PRD", "rfc": "RFC", "adr": "ADR", "note": "NOTE", "evidence": "EVID"}

// TestModel: random sequences of calls, valid and not, agree with the model
// after every step, also under a clock that jumps; stored rows equal folded
// ones, and a replay changes nothing.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ws := testws.New(t)
		m := &model{last: map[string]int{}, artifacts: map[string]*modelArtifact{}, links: map[string]bool{}}
		kinds := []string{"prd", "rfc", "adr", "note", "evidence"}
		anyID := func() string {
			ids := make([]string, 0, len(m.artifacts))
			for id := range m.artifacts {
				ids = append(ids, id)
			}
			sort.Strings(ids)
			return rapid.SampledFrom(append(ids, "PRD-900")).Draw(rt, "id")
		}
		titles := rapid.SampledFrom([]string{"Auth system", "Привет 🚀 café", "$1 & \\1 {{x}}", "007", "null", "- dash", "a: b # c", "..", "日本語", `say "hi"`})
		steps := rapid.IntRange(1, 14).Draw(rt, "steps")
		for range steps {
			before := stateHash(ws)
			dry := rapid.IntRange(0, 5).Draw(rt, "dry") == 0
			ok, changed := true, true
			var r tools.Reply
			args := map[string]any{}
			if dry {
				args["dry_run"] = true
			}
			apply := func() {}
			switch rapid.IntRange(0, 6).Draw(rt, "op") {
			case 0, 1:
				kind, title := rapid.SampledFrom(kinds).Draw(rt, "kind"), titles.Draw(rt, "title")
				args["kind"], args["title"], args["body"] = kind, title, "# "+title+"\n"
				r = ws.Call("forgeplan_new", args)
				apply = func() {
					m.last[kind]++
					id := fmt.Sprintf("%s-%03d", prefixes[kind], m.last[kind])
					if got := testws.Object(t, r.Body)["id"]; got != id {
						rt.Fatalf("new %s: got %v want %s", kind, got, id)
					}
					depth := map[bool]string{true: "standard", false: "tactical"}[slices.Contains([]string{"prd", "rfc", "adr"}, kind)]
					m.artifacts[id] = &modelArtifact{kind: kind, title: title, depth: depth, body: "# " + title + "\n"}
				}
			case 2:
				id, title, body := anyID(), titles.Draw(rt, "title"), rapid.SampledFrom([]string{"one\n", "two", "Текст\r\n"}).Draw(rt, "body")
				args["id"], args["title"], args["body"] = id, title, body
				r = ws.Call("forgeplan_update", args)
				a := m.artifacts[id]
				if ok = a != nil; ok {
					changed = a.title != title || a.body != body
					apply = func() { a.title, a.body = title, body }
				}
			case 3:
				id, tag := anyID(), rapid.SampledFrom([]string{"a", "b", "source=code"}).Draw(rt, "tag")
				args["id"], args["tags"] = id, []string{tag}
				r = ws.Call("forgeplan_tag", args)
				a := m.artifacts[id]
				if ok = a != nil; ok {
					changed = !slices.Contains(a.tags, tag)
					apply = func() { a.tags = append(a.tags, tag) }
				}
			case 4:
				id, tag := anyID(), rapid.SampledFrom([]string{"a", "b", "source=code"}).Draw(rt, "tag")
				args["id"], args["tags"] = id, []string{tag}
				r = ws.Call("forgeplan_untag", args)
				a := m.artifacts[id]
				if ok = a != nil && slices.Contains(a.tags, tag); ok {
					apply = func() { a.tags = slices.DeleteFunc(a.tags, func(s string) bool { return s == tag }) }
				}
			case 5, 6:
				s, d, rel := anyID(), anyID(), rapid.SampledFrom([]string{"informs", "based_on"}).Draw(rt, "relation")
				key := s + " " + rel + " " + d
				args["source"], args["target"], args["relation"] = s, d, rel
				ok = m.artifacts[s] != nil && m.artifacts[d] != nil && s != d
				if rapid.Bool().Draw(rt, "unlink") {
					r = ws.Call("forgeplan_unlink", args)
					ok = ok && m.links[key]
					apply = func() { delete(m.links, key) }
				} else {
					r = ws.Call("forgeplan_link", args)
					changed = !m.links[key]
					apply = func() { m.links[key] = true }
				}
			}
			if (r.Failure == nil) != ok {
				rt.Fatalf("args %v: want ok=%v, got %s", args, ok, r.Body)
			}
			if ok {
				if got := testws.Object(t, r.Body)["changed"]; got != changed {
					rt.Fatalf("args %v: want changed=%v, got %s", args, changed, r.Body)
				}
			}
			if ok && changed && !dry {
				apply()
			} else if stateHash(ws) != before {
				rt.Fatalf("args %v changed something: %s", args, r.Body)
			}
			if jump := rapid.IntRange(-3, 3).Draw(rt, "clock"); jump != 0 {
				ws.Clock.Set(ws.Clock.Now().Add(time.Duration(jump) * time.Hour))
			}
			m.compare(rt, ws)
		}
		rep := ws.Replay()
		if rep.Written != 0 || rep.Tables != "ready" {
			rt.Fatalf("a replay found something to do: %+v", rep)
		}
	})
}

func (m *model) compare(rt *rapid.T, ws *testws.WS) {
	list := ws.Must("forgeplan_list", `{"limit":1000,"detail":true}`)
	rows := list["artifacts"].([]any)
	if len(rows) != len(m.artifacts) {
		rt.Fatalf("%d artifacts listed, want %d", len(rows), len(m.artifacts))
	}
	for _, row := range rows {
		got := row.(map[string]any)
		id := got["id"].(string)
		want := m.artifacts[id]
		if want == nil {
			rt.Fatalf("%s listed", id)
		}
		whole := ws.Must("forgeplan_get", map[string]any{"id": strings.ToLower(id)})
		tags := []string{}
		for _, t := range whole["tags"].([]any) {
			tags = append(tags, t.(string))
		}
		if got["title"] != want.title || whole["title"] != want.title || whole["body"] != want.body || whole["depth"] != want.depth ||
			!slices.Equal(tags, append([]string{}, want.tags...)) {
			rt.Fatalf("%s: got %v, want %+v", id, whole, *want)
		}
		for _, l := range whole["links"].([]any) {
			link := l.(map[string]any)
			if !m.links[id+" "+link["relation"].(string)+" "+link["id"].(string)] {
				rt.Fatalf("%s: link %v", id, link)
			}
		}
		for _, l := range whole["linked_from"].([]any) {
			link := l.(map[string]any)
			if !m.links[link["id"].(string)+" "+link["relation"].(string)+" "+id] {
				rt.Fatalf("%s: linked from %v", id, link)
			}
		}
		if file := ws.File(whole["path"].(string)); !strings.HasSuffix(file, want.body) || !strings.Contains(file, "\ntitle: "+quoted(want.title)+"\n") {
			rt.Fatalf("%s: file is %q", id, file)
		}
	}
	n := 0
	for key := range m.links {
		id, _, _ := strings.Cut(key, " ")
		n += 1
		_ = id
	}
	rep := ws.Check()
	if rep.Relations != n || len(rep.Pending)+len(rep.Missing) > 0 {
		rt.Fatalf("relations %d want %d; files changed %v missing %v", rep.Relations, n, rep.Pending, rep.Missing)
	}
}

func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(s)
	return strings.TrimSpace(b.String())
}

func stateHash(ws *testws.WS) [32]byte { return ws.Check().StateHash }
