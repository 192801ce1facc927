package projection

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"testing"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"
)

// uid makes a small, readable ULID.
func uid(n int) (id ulid.ULID) {
	id[0], id[14], id[15] = 1, byte(n>>8), byte(n)
	return id
}

// at makes events of payloads: the n-th has the ULID 0x1000+n. A subject
// stands before the payload it belongs to.
func at(subject ulid.ULID, n int, p event.Payload) event.Event {
	e := event.Event{ID: uid(0x1000 + n), Subject: subject, At: int64(n) * 1e9, Data: p, Name: "future.thing_happened", Version: 1}
	if p != nil {
		e.Name, e.Version = p.EventName(), p.EventVersion()
	}
	return e
}

func seq(events []event.Event) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// tableSet is a set of tables, made as they are asked for.
type tableSet map[string]Table

func (s tableSet) table(name string) Table {
	if s[name] == nil {
		s[name] = NewMemory()
	}
	return s[name]
}

// dump lists all rows of all tables of All.
func dump(tables func(string) Table) (out []string) {
	for _, p := range All {
		name, _ := p.Ident()
		for key, row := range tables(name).Scan("") {
			out = append(out, fmt.Sprintf("%s %q %x", name, key, row))
		}
	}
	return out
}

func apply(t interface{ Fatal(...any) }, tables func(string) Table, events ...event.Event) {
	for _, e := range events {
		for _, p := range All {
			name, _ := p.Ident()
			if err := p.Apply(tables(name), e); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// anyPayload draws payloads with no regard for what a tool would do.
var anyPayload = rapid.Custom(func(t *rapid.T) event.Payload {
	word := rapid.SampledFrom([]string{"", "a", "b", "é\x00", "PRD-001", "prd-1", "ADR-002", uid(2).String()})
	hash := rapid.Custom(func(t *rapid.T) (h [32]byte) {
		h[0] = byte(rapid.IntRange(0, 3).Draw(t, "hash"))
		return h
	})
	source := func() artifact.Source {
		return artifact.Source{Path: word.Draw(t, "path"), Head: []byte(word.Draw(t, "head")), Want: hash.Draw(t, "want")}
	}
	tags := func() []string { return rapid.SliceOfN(word, 0, 3).Draw(t, "tags") }
	some := func() ulid.ULID {
		if rapid.Bool().Draw(t, "known") {
			return uid(rapid.IntRange(1, 4).Draw(t, "target"))
		}
		return ulid.ULID{}
	}
	relation := rapid.SampledFrom([]string{"informs", "based_on", ""})
	switch rapid.IntRange(0, 13).Draw(t, "event") {
	case 0, 1, 2:
		return artifact.Created{ID: word.Draw(t, "id"), Number: rapid.IntRange(-1, 3).Draw(t, "number"), Kind: word.Draw(t, "kind"),
			Status: "draft", Title: word.Draw(t, "title"), Tags: tags(), Body: artifact.BodyFacts{Len: 3, SHA: hash.Draw(t, "sha")}, Source: source()}
	case 3:
		return artifact.TitleChanged{Title: word.Draw(t, "title")}
	case 4:
		return artifact.BodyChanged{Body: artifact.BodyFacts{Len: 4, SHA: hash.Draw(t, "sha")}}
	case 5:
		return artifact.Tagged{Tags: tags()}
	case 6:
		return artifact.Untagged{Tags: tags()}
	case 7:
		return artifact.SourceChanged{Source: source()}
	case 8, 9:
		return artifact.RelationAdded{Relation: relation.Draw(t, "relation"), Target: word.Draw(t, "written"), TargetUID: some()}
	case 10:
		return artifact.RelationRemoved{Relation: relation.Draw(t, "relation"), Target: word.Draw(t, "written")}
	case 11:
		return artifact.FieldsChanged{Fields: []artifact.FieldChange{{Key: word.Draw(t, "key"), Value: word.Draw(t, "value"), Set: rapid.Bool().Draw(t, "set")}}}
	case 12:
		return event.Call{Tool: word.Draw(t, "tool"), KeyHash: hash.Draw(t, "key"), ArgsDigest: hash.Draw(t, "args"),
			Status: rapid.SampledFrom([]string{"ok", "tool_err"}).Draw(t, "status"),
			Effect: rapid.SampledFrom([]string{"changed", "none", "dry_run", "replayed"}).Draw(t, "effect")}
	}
	return nil // an event this program does not know
})

// anyEvents draws events in any order: of subjects never created, created
// twice, or none.
func anyEvents(t *rapid.T) []event.Event {
	payloads := rapid.SliceOfN(anyPayload, 0, 40).Draw(t, "payloads")
	events := make([]event.Event, len(payloads))
	for i, p := range payloads {
		var subject ulid.ULID
		if n := rapid.IntRange(0, 4).Draw(t, "subject"); n > 0 {
			subject = uid(n)
		}
		events[i] = at(subject, i, p)
	}
	return events
}

// However the rows are made, they are the same bytes: folded at once, event by
// event into stored rows, or call by call through overlays.
func TestAnyWayOfFoldingIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := anyEvents(t)
		whole := tableSet{}
		if err := Rebuild(seq(events), whole.table); err != nil {
			t.Fatal(err)
		}
		want := dump(whole.table)

		single := tableSet{}
		apply(t, single.table, events...)
		if got := dump(single.table); !slices.Equal(got, want) {
			t.Fatalf("event by event:\n%q\nwant\n%q", got, want)
		}

		stored := tableSet{}
		for rest := events; len(rest) > 0; {
			run := rest[:rapid.IntRange(1, len(rest)).Draw(t, "run")]
			rest = rest[len(run):]
			over := map[string]*Overlay{}
			layer := func(name string) Table {
				if over[name] == nil {
					over[name] = NewOverlay(stored.table(name))
				}
				return over[name]
			}
			apply(t, layer, run...)
			seen := dump(layer)
			if rapid.Bool().Draw(t, "keep what is stored") {
				over, rest = map[string]*Overlay{}, append(slices.Clone(run), rest...) // a dry run
				if len(rest) > 0 {
					apply(t, stored.table, rest[0])
					rest = rest[1:]
				}
				continue
			}
			for name, o := range over {
				if err := o.Flush(stored.table(name)); err != nil {
					t.Fatal(err)
				}
			}
			if got := dump(stored.table); !slices.Equal(got, seen) {
				t.Fatalf("flushed:\n%q\nthe overlay showed\n%q", got, seen)
			}
		}
		if got := dump(stored.table); !slices.Equal(got, want) {
			t.Fatalf("call by call:\n%q\nwant\n%q", got, want)
		}
		if drift, err := Verify(seq(events), stored.table); err != nil || drift != nil {
			t.Fatalf("verify: %+v, %v", drift, err)
		}
	})
}

// Every row reads back as what was written, and is spelled one way only.
func TestRowsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Make[artifact.Artifact]().Draw(t, "artifact")
		a.Tags, a.Fields, a.Set = unempty(a.Tags), unempty(a.Fields), unempty(a.Set)
		row := encodeArtifact(a)
		got, err := DecodeArtifact(row)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, a) {
			t.Fatalf("got  %+v\nwant %+v", got, a)
		}
		roundTrip(t, sources, rapid.Make[Source]().Draw(t, "source"), func(s Source) Source { s.Head = unempty(s.Head); return s })
		roundTrip(t, keys, rapid.Make[Key]().Draw(t, "key"), nil)
		roundTrip(t, counters, rapid.Int().Draw(t, "counter"), nil)
		roundTrip(t, wants, rapid.Make[ulid.ULID]().Draw(t, "want"), nil)
		roundTrip(t, ids, rapid.Make[Holders]().Draw(t, "holders"), func(h Holders) Holders {
			return Holders{Exact: unempty(h.Exact), Near: unempty(h.Near)}
		})
		r := rapid.Make[Relation]().Draw(t, "relation")
		if got, err := decodeRelation(encodeRelation(r)); err != nil || got != r {
			t.Fatalf("got %+v, %v, want %+v", got, err, r)
		}
	})
}

// unempty makes an empty slice nil: a row does not tell them apart.
func unempty[E any](s []E) []E {
	if len(s) == 0 {
		return nil
	}
	return s
}

func roundTrip[R any](t *rapid.T, v View[R], row R, norm func(R) R) {
	got, err := v.Decode(v.Encode(row))
	if err != nil {
		t.Fatal(err)
	}
	if norm != nil {
		got, row = norm(got), norm(row)
	}
	if !reflect.DeepEqual(got, row) {
		t.Fatalf("%s: got %+v, want %+v", v.Name, got, row)
	}
}

func TestTenRebuildsWriteOnce(t *testing.T) {
	events := story()
	logs := map[string]*logged{}
	tables := func(name string) Table {
		if logs[name] == nil {
			logs[name] = &logged{}
		}
		return logs[name]
	}
	logs["artifacts"] = &logged{}
	logs["artifacts"].Memory.Put("left over", []byte("row"))
	var want []string
	for i := range 10 {
		if err := Rebuild(seq(events), tables); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = dump(tables)
			if len(want) == 0 || !slices.Contains(logs["artifacts"].log, "delete left over") {
				t.Fatalf("first rebuild: rows %d, log %q", len(want), logs["artifacts"].log)
			}
		} else {
			for name, l := range logs {
				if len(l.log) > 0 {
					t.Errorf("rebuild %d wrote to %s: %q", i+1, name, l.log)
				}
			}
			if got := dump(tables); !slices.Equal(got, want) {
				t.Errorf("rebuild %d changed rows", i+1)
			}
		}
		for _, l := range logs {
			l.log = nil
		}
	}
}

func TestRebuildStopsAtAnError(t *testing.T) {
	broken := errors.New("broken")
	tables := tableSet{}
	tables.table("artifacts").Put("k", []byte("row"))
	err := Rebuild(func(yield func(event.Event, error) bool) {
		if yield(story()[0], nil) {
			yield(event.Event{}, broken)
		}
	}, tables.table)
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if got := listed(tables.table("artifacts").Scan("")); !slices.Equal(got, []string{"k=row"}) {
		t.Errorf("rows after a rebuild that failed: %q", got)
	}
}

// Whatever is wrong with one row, verify names it and an event of it.
func TestVerifyNamesTheRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := story()
		stored := tableSet{}
		if err := Rebuild(seq(events), stored.table); err != nil {
			t.Fatal(err)
		}
		p := rapid.SampledFrom(All).Draw(t, "table")
		name, _ := p.Ident()
		table := stored.table(name)
		var keys []string
		for key := range table.Scan("") {
			keys = append(keys, key)
		}
		key := rapid.SampledFrom(keys).Draw(t, "key")
		known := true
		switch rapid.IntRange(0, 2).Draw(t, "damage") {
		case 0:
			row := slices.Clone(table.Get(key))
			row[rapid.IntRange(0, len(row)-1).Draw(t, "byte")] ^= 1
			table.Put(key, row)
		case 1:
			table.Delete(key)
		case 2:
			key, known = key+"\x00extra", false
			table.Put(key, []byte("row"))
		}
		drift, err := Verify(seq(events), stored.table)
		if err != nil {
			t.Fatal(err)
		}
		if drift == nil || drift.Table != name || drift.Key != key || drift.Rows != 1 || (drift.Event != ulid.ULID{}) != known {
			t.Fatalf("drift %+v, want row %q of %s", drift, key, name)
		}
	})
}

func TestVerifyNamesTheFirstEvent(t *testing.T) {
	events := story()
	stored := tableSet{}
	if err := Rebuild(seq(events), stored.table); err != nil {
		t.Fatal(err)
	}
	stored.table("counters").Put("zzz", []byte("row"))                     // no event
	stored.table("counters").Delete("adr")                                 // event 5
	stored.table("relations").Delete(outKey(uid(4), "informs", "PRD-777")) // event 3
	stored.table("artifacts").Delete(uidKey(uid(1)))                       // event 11, the last
	drift, err := Verify(seq(events), stored.table)
	if err != nil {
		t.Fatal(err)
	}
	if drift == nil || drift.Table != "relations" || drift.Event != events[3].ID || drift.Rows != 4 {
		t.Errorf("drift %+v, want one of relations, event %s, 4 rows", drift, events[3].ID)
	}
}

// FuzzDecodeArtifact: a row is refused, or is the one spelling of what it says.
func FuzzDecodeArtifact(f *testing.F) {
	tables := tableSet{}
	apply(f, tables.table, story()...)
	Artifacts{tables.table("artifacts")}.ScanRows(func(_ string, row []byte) { f.Add(row) })
	f.Add([]byte{})
	f.Add([]byte("\xdd\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, row []byte) {
		a, err := DecodeArtifact(row)
		if err != nil {
			if !errors.Is(err, ErrRow) {
				t.Errorf("error %v, want ErrRow", err)
			}
			return
		}
		again, err := DecodeArtifact(encodeArtifact(a))
		if err != nil || !reflect.DeepEqual(again, a) {
			t.Errorf("read %+v, and again %+v, %v", a, again, err)
		}
	})
}
