package projection

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"
)

var hash = func(n byte) (h [32]byte) { h[31] = n; return h }

// story is a small journal with one of everything: uid(1) is PRD-001, uid(2)
// ADR-002, uid(3) the adopted prd-1, uid(4) has a relation to what is not there.
func story() []event.Event {
	payloads := []struct {
		subject int
		p       event.Payload
	}{
		{0, event.Call{Tool: "forgeplan_new", Status: "ok", Effect: "changed", KeyHash: hash(1), ArgsDigest: hash(9)}},
		{1, artifact.Created{ID: "PRD-001", Number: 1, Kind: "prd", Status: "draft", Title: "Auth system", Depth: "standard", Tags: []string{"x"},
			Body: artifact.BodyFacts{Len: 3, SHA: hash(5)}, Source: artifact.Source{Path: "prds/PRD-001-auth-system.md", Head: []byte("---\n"), Want: hash(7)}}},
		{1, artifact.RelationAdded{Relation: "based_on", Target: "adr-2"}},
		{4, artifact.RelationAdded{Relation: "informs", Target: "PRD-777"}},
		{1, nil},
		{2, artifact.Created{ID: "ADR-002", Number: 2, Kind: "adr", Status: "draft", Title: "Use it", Depth: "standard"}},
		{2, artifact.RelationAdded{Relation: "informs", Target: "PRD-001", TargetUID: uid(1)}},
		{3, artifact.Created{ID: "prd-1", Number: 1, Kind: "prd", Status: "active", Title: "Adopted", Depth: "deep"}},
		{1, artifact.TitleChanged{Title: "Auth", Was: "Auth system"}},
		{1, artifact.SourceChanged{Source: artifact.Source{Path: "prds/PRD-001-auth.md", Head: []byte("---\n--"), Want: hash(8)}, Was: "prds/PRD-001-auth-system.md"}},
		{0, event.Call{Tool: "forgeplan_tag", Status: "ok", Effect: "replayed", KeyHash: hash(2)}},
		{1, artifact.SourceChanged{Source: artifact.Source{Path: "prds/PRD-001-auth.md", Head: []byte("---\n"), Want: hash(7)}, Was: "prds/PRD-001-auth.md"}},
	}
	events := make([]event.Event, len(payloads))
	for i, x := range payloads {
		var subject ulid.ULID
		if x.subject > 0 {
			subject = uid(x.subject)
		}
		events[i] = at(subject, i, x.p)
	}
	return events
}

func told(t *testing.T) (tableSet, []event.Event) {
	t.Helper()
	tables, events := tableSet{}, story()
	if err := Rebuild(seq(events), tables.table); err != nil {
		t.Fatal(err)
	}
	return tables, events
}

func TestArtifactRows(t *testing.T) {
	tables, events := told(t)
	view := Artifacts{tables.table("artifacts")}
	a, ok, err := view.Get(uid(1))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if a.UID != uid(1) || a.ID != "PRD-001" || a.Title != "Auth" || !slices.Equal(a.Tags, []string{"x"}) || a.Want != hash(7) ||
		a.Path != "prds/PRD-001-auth.md" || a.UpdatedAt != events[len(events)-1].At {
		t.Errorf("PRD-001 is %+v", a)
	}
	if _, ok, err := view.Get(uid(4)); ok || err != nil {
		t.Errorf("an artifact that was never created: %v, %v", ok, err)
	}
	var scanned, copied []string
	for a, err := range view.Scan() {
		if err != nil {
			t.Fatal(err)
		}
		scanned = append(scanned, a.ID)
	}
	view.ScanRows(func(key string, row []byte) {
		a, err := DecodeArtifact(row)
		if err != nil || uidKey(a.UID) != key {
			t.Errorf("row %q: %v, uid %s", key, err, a.UID)
		}
		copied = append(copied, a.ID)
	})
	if want := []string{"PRD-001", "ADR-002", "prd-1"}; !slices.Equal(scanned, want) || !slices.Equal(copied, want) {
		t.Errorf("scanned %q, copied %q, want %q", scanned, copied, want)
	}
}

func TestSourcesAndWants(t *testing.T) {
	tables, events := told(t)
	s, ok, err := Sources{tables.table("sources")}.Get(uid(1))
	if err != nil || !ok || s.Path != "prds/PRD-001-auth.md" || string(s.Head) != "---\n" || s.Want != hash(7) {
		t.Errorf("source %+v, %v, %v", s, ok, err)
	}
	if _, ok, _ := (Sources{tables.table("sources")}).Get(uid(2)); ok {
		t.Error("ADR-002 has a source, but no event set one")
	}
	wants := Wants{tables.table("wants")}
	for _, c := range []struct {
		uid  ulid.ULID
		want [32]byte
		set  ulid.ULID
	}{
		{uid(1), hash(7), events[11].ID}, // wanted twice: the newest counts
		{uid(1), hash(8), events[9].ID},
		{uid(1), hash(9), ulid.ULID{}},
		{uid(2), hash(7), ulid.ULID{}},
		{uid(2), [32]byte{}, ulid.ULID{}},
	} {
		set, ok, err := wants.Get(c.uid, c.want)
		has, _ := wants.Has(c.uid, c.want)
		if err != nil || set != c.set || ok != (c.set != ulid.ULID{}) || has != ok {
			t.Errorf("want %x of %s: %s, %v, %v, want %s", c.want[31], c.uid, set, ok, err, c.set)
		}
	}
}

func TestIDs(t *testing.T) {
	tables, _ := told(t)
	view := IDs{tables.table("ids")}
	for id, want := range map[string]ulid.ULID{"PRD-001": uid(1), "prd-1": uid(3), "ADR-002": uid(2), "ADR-2": {}, "": {}} {
		got, ok, err := view.Get(id)
		if err != nil || got != want || ok != (want != ulid.ULID{}) {
			t.Errorf("%q is %s, %v, %v, want %s", id, got, ok, err, want)
		}
	}
	if h, err := view.Holders("PRD-001"); err != nil || !slices.Equal(h.Exact, []ulid.ULID{uid(1)}) || !slices.Equal(h.Near, []ulid.ULID{uid(3)}) {
		t.Errorf("holders of PRD-001: %+v, %v", h, err)
	}
	var clashes []string
	for id, err := range view.Clashes() {
		if err != nil {
			t.Fatal(err)
		}
		clashes = append(clashes, id)
	}
	if !slices.Equal(clashes, []string{"PRD-001"}) {
		t.Errorf("clashes %q", clashes)
	}
	// The one that was recorded first holds an id, also where another had it
	// in other spelling before.
	apply(t, tables.table, at(uid(8), 90, artifact.Created{ID: "adr-3"}), at(uid(7), 91, artifact.Created{ID: "ADR-003"}), at(uid(6), 92, artifact.Created{ID: "ADR-003"}))
	if got, _, _ := view.Get("ADR-003"); got != uid(7) {
		t.Errorf("ADR-003 is %s, want %s", got, uid(7))
	}
}

func TestCountersNeverFall(t *testing.T) {
	tables, _ := told(t)
	view := Counters{tables.table("counters")}
	last := func(kind string) int {
		n, err := view.Last(kind)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if last("prd") != 1 || last("adr") != 2 || last("note") != 0 {
		t.Errorf("prd %d, adr %d, note %d, want 1, 2, 0", last("prd"), last("adr"), last("note"))
	}
	apply(t, tables.table, at(uid(7), 90, artifact.Created{Kind: "prd", Number: 1000}), at(uid(8), 91, artifact.Created{Kind: "prd", Number: 3}))
	if last("prd") != 1000 {
		t.Errorf("prd %d, want 1000", last("prd"))
	}
}

func TestKeysBindTheFirstSuccess(t *testing.T) {
	call := event.Call{Tool: "forgeplan_new", Status: "ok", Effect: "changed", KeyHash: hash(3), ArgsDigest: hash(4)}
	with := func(change func(*event.Call)) event.Call { c := call; change(&c); return c }
	for name, c := range map[string]struct {
		calls []event.Call
		bound int // which call, -1 for none
	}{
		"success":              {[]event.Call{call}, 0},
		"success without work": {[]event.Call{with(func(c *event.Call) { c.Effect = "none" })}, 0},
		"the first one":        {[]event.Call{call, with(func(c *event.Call) { c.Tool = "other" })}, 0},
		"failure":              {[]event.Call{with(func(c *event.Call) { c.Status = "tool_err" })}, -1},
		"trial":                {[]event.Call{with(func(c *event.Call) { c.Effect = "dry_run" })}, -1},
		"repetition":           {[]event.Call{with(func(c *event.Call) { c.Effect = "replayed" })}, -1},
		"no key":               {[]event.Call{with(func(c *event.Call) { c.KeyHash = [32]byte{} })}, -1},
		"failure, success":     {[]event.Call{with(func(c *event.Call) { c.Status = "tool_err" }), call}, 1},
	} {
		tables := tableSet{}
		for i, call := range c.calls {
			apply(t, tables.table, at(ulid.ULID{}, i, call))
		}
		key, ok, err := Keys{tables.table("keys")}.Get(hash(3))
		if err != nil || ok != (c.bound >= 0) {
			t.Errorf("%s: bound %v, %v", name, ok, err)
		} else if ok && (key.Call != uid(0x1000+c.bound) || key.Tool != "forgeplan_new" || key.ArgsDigest != hash(4)) {
			t.Errorf("%s: bound to %+v", name, key)
		}
		if n := tables.table("keys").(*Memory).Len(); !ok && n > 0 {
			t.Errorf("%s: %d rows", name, n)
		}
	}
}

// links spells what a reader sees of a table of relations.
func links(t interface{ Fatal(...any) }, table Table) (out []string) {
	view := Relations{table}
	for r, err := range view.All() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%d %s %q %d", r.Source[15], r.Relation, r.Target, r.Bound[15]))
		if again, ok, err := view.Get(r.Source, r.Relation, r.Target); err != nil || !ok || again != r {
			t.Fatal("get", again, ok, err)
		}
		if r.Bound == (ulid.ULID{}) {
			continue
		}
		found := false
		for back, err := range view.To(r.Bound) {
			if err != nil {
				t.Fatal(err)
			}
			found = found || back == r
		}
		if !found {
			t.Fatal("not found from its target:", r)
		}
	}
	return out
}

func TestRelationsBindWhenTheTargetAppears(t *testing.T) {
	tables, _ := told(t)
	table := tables.table("relations")
	want := []string{`1 based_on "adr-2" 2`, `2 informs "PRD-001" 1`, `4 informs "PRD-777" 0`}
	if got := links(t, table); !slices.Equal(got, want) {
		t.Fatalf("links %q, want %q", got, want)
	}
	apply(t, tables.table,
		at(uid(9), 90, artifact.Created{ID: "PRD-777"}),
		at(uid(8), 91, artifact.Created{ID: "PRD-777"}), // the first one holds the id
		at(uid(1), 92, artifact.RelationRemoved{Relation: "based_on", Target: "adr-2"}),
		at(uid(1), 93, artifact.RelationRemoved{Relation: "never", Target: "was"}),
		at(uid(2), 94, artifact.RelationAdded{Relation: "informs", Target: "PRD-001"}), // again, target not known this time
		at(uid(2), 95, artifact.RelationAdded{Relation: "refines", Target: uid(1).String()}),
	)
	want = []string{`2 informs "PRD-001" 1`, fmt.Sprintf(`2 refines %q 1`, uid(1)), `4 informs "PRD-777" 9`}
	if got := links(t, table); !slices.Equal(got, want) {
		t.Errorf("links %q, want %q", got, want)
	}
	n := 0
	for range (Relations{table}).From(uid(2)) {
		n++
	}
	if n != 2 {
		t.Errorf("ADR-002 has %d links, want 2", n)
	}
	if rows := listed(table.Scan("w")); len(rows) > 0 {
		t.Errorf("still waiting: %q", rows)
	}
}

// Against a list that is searched from end to end.
func TestRelationsAgainstAList(t *testing.T) {
	type link struct {
		source           int
		relation, target string
		bound            int
	}
	rapid.Check(t, func(t *rapid.T) {
		table := NewMemory()
		var model []link
		text := rapid.SampledFrom([]string{"PRD-001", "prd-1", "ADR-002", "odd"})
		relation := rapid.SampledFrom([]string{"informs", "refines"})
		n := 0
		step := func(subject int, p event.Payload) {
			n++
			if err := (relations{}).Apply(table, at(uid(subject), n, p)); err != nil {
				t.Fatal(err)
			}
		}
		find := func(l link) int {
			return slices.IndexFunc(model, func(m link) bool { return m.source == l.source && m.relation == l.relation && m.target == l.target })
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				l := link{rapid.IntRange(1, 3).Draw(t, "source"), relation.Draw(t, "relation"), text.Draw(t, "target"), rapid.IntRange(0, 2).Draw(t, "bound")}
				p := artifact.RelationAdded{Relation: l.relation, Target: l.target}
				if l.bound > 0 {
					p.TargetUID = uid(l.bound)
				}
				step(l.source, p)
				if i := find(l); i < 0 {
					model = append(model, l)
				} else if l.bound > 0 {
					model[i].bound = l.bound
				}
			},
			"remove": func(t *rapid.T) {
				l := link{source: rapid.IntRange(1, 3).Draw(t, "source"), relation: relation.Draw(t, "relation"), target: text.Draw(t, "target")}
				step(l.source, artifact.RelationRemoved{Relation: l.relation, Target: l.target})
				if i := find(l); i >= 0 {
					model = slices.Delete(model, i, i+1)
				}
			},
			"create": func(t *rapid.T) {
				subject, id := rapid.IntRange(4, 6).Draw(t, "subject"), text.Draw(t, "id")
				step(subject, artifact.Created{ID: id})
				for i, l := range model {
					if l.bound == 0 && (l.target == id || strings.HasPrefix(strings.ToLower(id), "prd") && strings.HasPrefix(strings.ToLower(l.target), "prd")) {
						model[i].bound = subject
					}
				}
			},
			"": func(t *rapid.T) {
				var want []string
				for _, l := range model {
					want = append(want, fmt.Sprintf("%d %s %q %d", l.source, l.relation, l.target, l.bound))
				}
				got := links(t, table)
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Fatalf("links %q, want %q", got, want)
				}
				bound := len(slices.DeleteFunc(slices.Clone(model), func(l link) bool { return l.bound == 0 }))
				if rows := len(listed(table.Scan("i"))); rows != bound {
					t.Fatalf("%d rows from targets for %d bound links", rows, bound)
				}
			},
		})
	})
}

// An event of a future program moves nothing but the count of its artifact.
func TestUnknownEvents(t *testing.T) {
	tables, _ := told(t)
	before := dump(tables.table)
	apply(t, tables.table, at(ulid.ULID{}, 99, nil), at(uid(4), 100, nil)) // of nothing, of what was never created
	if after := dump(tables.table); !slices.Equal(after, before) {
		t.Errorf("rows changed")
	}
	a, _, _ := Artifacts{tables.table("artifacts")}.Get(uid(1))
	b, _, _ := Artifacts{tables.table("artifacts")}.Get(uid(2))
	apply(t, tables.table, at(uid(2), 101, nil))
	c, ok, err := Artifacts{tables.table("artifacts")}.Get(uid(2))
	if !ok || err != nil || a.Unknown != 1 || b.Unknown != 0 || c.Unknown != 1 || c.Version != b.Version+1 || c.Title != b.Title {
		t.Errorf("unknown events counted %d, %d, then %+v, %v", a.Unknown, b.Unknown, c, err)
	}
	changed := 0
	for i, row := range dump(tables.table) {
		if row != before[i] {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d rows changed, want 1", changed)
	}
}

func TestStateHash(t *testing.T) {
	tables, _ := told(t)
	hash := StateHash(tables.table)
	if again := StateHash(tables.table); again != hash {
		t.Fatal("two hashes of one state")
	}
	if empty := StateHash(tableSet{}.table); empty == hash {
		t.Fatal("an empty workspace has the same hash")
	}
	set := func(change func(*artifact.Artifact)) [32]byte {
		tables, _ := told(t)
		a, _, _ := Artifacts{tables.table("artifacts")}.Get(uid(1))
		change(&a)
		tables.table("artifacts").Put(uidKey(uid(1)), encodeArtifact(a))
		return StateHash(tables.table)
	}
	for name, change := range map[string]func(*artifact.Artifact){
		"id":         func(a *artifact.Artifact) { a.ID = "PRD-009" },
		"kind":       func(a *artifact.Artifact) { a.Kind = "adr" },
		"status":     func(a *artifact.Artifact) { a.Status = "active" },
		"title":      func(a *artifact.Artifact) { a.Title += "x" },
		"depth":      func(a *artifact.Artifact) { a.Depth = "deep" },
		"tags":       func(a *artifact.Artifact) { a.Tags = nil },
		"author":     func(a *artifact.Artifact) { a.Author = "me" },
		"epic":       func(a *artifact.Artifact) { a.ParentEpic = "EPIC-001" },
		"valid":      func(a *artifact.Artifact) { a.ValidUntil = "2027-01-01" },
		"created":    func(a *artifact.Artifact) { a.CreatedAt++ },
		"body":       func(a *artifact.Artifact) { a.Body.SHA[0]++ },
		"want":       func(a *artifact.Artifact) { a.Want[0]++ },
		"other keys": func(a *artifact.Artifact) { a.Fields = []artifact.Field{{Key: "k", Value: "v"}} },
	} {
		if set(change) == hash {
			t.Errorf("%s: changed, and the hash is the same", name)
		}
	}
	for name, change := range map[string]func(*artifact.Artifact){
		"version":    func(a *artifact.Artifact) { a.Version++ },
		"updated":    func(a *artifact.Artifact) { a.UpdatedAt++ },
		"path":       func(a *artifact.Artifact) { a.Path = "elsewhere.md" },
		"body event": func(a *artifact.Artifact) { a.Body.Event = uid(77) },
		"versions":   func(a *artifact.Artifact) { a.Set = nil },
	} {
		if set(change) != hash {
			t.Errorf("%s: changed the hash", name)
		}
	}
	tables.table("counters").Put("prd", []byte("x"))
	if StateHash(tables.table) != hash {
		t.Error("counters changed the hash")
	}
	apply(t, tables.table, at(uid(1), 99, artifact.RelationAdded{Relation: "informs", Target: "ADR-002", TargetUID: uid(2)}))
	linked := StateHash(tables.table)
	if linked == hash {
		t.Error("a link: the hash is the same")
	}
	tables.table("artifacts").Put(uidKey(uid(1)), []byte("garbage"))
	if StateHash(tables.table) == linked {
		t.Error("a damaged row: the hash is the same")
	}
}
