package artifact

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseKind(t *testing.T) {
	for in, want := range map[string]Kind{
		"prd": "prd", "PRD": "prd", " Epic ": "epic", "problem": "problem", "ProblemCard": "problem", "SolutionPortfolio": "solution",
		"evidencepack": "evidence", "refreshreport": "refresh", "memory": "memory",
	} {
		if got, err := ParseKind(in); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"banana", "", "evid", "prob", "sol", "ref", "mem", "brief"} {
		if got, err := ParseKind(in); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "prd, epic, spec, rfc, adr, problem") {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
}

func TestKinds(t *testing.T) {
	for _, tt := range []struct {
		kind           Kind
		prefix, folder string
		depth          Depth
	}{
		{"prd", "PRD", "prds", "standard"}, {"epic", "EPIC", "epics", "standard"}, {"spec", "SPEC", "specs", "standard"},
		{"rfc", "RFC", "rfcs", "standard"}, {"adr", "ADR", "adrs", "standard"}, {"problem", "PROB", "problems", "tactical"},
		{"solution", "SOL", "solutions", "tactical"}, {"evidence", "EVID", "evidence", "tactical"}, {"note", "NOTE", "notes", "tactical"},
		{"refresh", "REF", "refresh", "tactical"}, {"memory", "", "memory", "tactical"}, {"banana", "", "", ""},
	} {
		if i := tt.kind.Info(); i.Prefix != tt.prefix || i.Folder != tt.folder || i.DefaultDepth != tt.depth {
			t.Errorf("%s: got %+v", tt.kind, i)
		}
	}
	for _, i := range Kinds {
		if body := Skeleton(i.Kind, "Вход"); !strings.HasPrefix(body, "# Вход\n") || !strings.HasSuffix(body, "\n") ||
			strings.Count(body, "\n## ") != len(sections[i.Kind]) || i.Prefix != "" && len(sections[i.Kind]) == 0 {
			t.Errorf("skeleton of %s: %q", i.Kind, body)
		}
	}
}

func TestParseEnums(t *testing.T) {
	for in, want := range map[string]Status{"draft": StatusDraft, "Draft": StatusDraft, " ACTIVE\t": StatusActive, "Stale": StatusStale, "superseded": StatusSuperseded, "deprecated": StatusDeprecated} {
		if got, err := ParseStatus(in); err != nil || got != want {
			t.Errorf("status %q: got %q, %v", in, got, err)
		}
	}
	for in, want := range map[string]Relation{"informs": Informs, "based-on": BasedOn, "Based_On": BasedOn, "SUPPORTS ": Supports, "refines": Refines, "contradicts": Contradicts, "supersedes": Supersedes} {
		if got, err := ParseRelation(in); err != nil || got != want {
			t.Errorf("relation %q: got %q, %v", in, got, err)
		}
	}
	for in, want := range map[string]int{"note": 0, "Tactical": 1, "standard": 2, "DEEP": 3, "critical": 3} {
		if got, err := ParseDepth(in); err != nil || got.Rank() != want {
			t.Errorf("depth %q: got %q, rank %d, %v", in, got, got.Rank(), err)
		}
	}
	if rank := Depth("odd").Rank(); rank != 2 {
		t.Errorf("an unknown depth ranks %d, want 2", rank)
	}
	_, status := ParseStatus("done")
	_, depth := ParseDepth("")
	_, relation := ParseRelation("depends_on")
	for want, err := range map[string]error{"draft, active, stale, superseded, deprecated": status, "note, tactical, standard, deep, critical": depth,
		"informs, based_on, supersedes, contradicts, refines, supports": relation} {
		if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v; want it to list %s", err, want)
		}
	}
}

func TestTransitions(t *testing.T) {
	for from, want := range map[Status][]Status{
		StatusDraft: {StatusActive}, StatusActive: {StatusSuperseded, StatusDeprecated}, StatusStale: {StatusActive, StatusDeprecated}, StatusSuperseded: nil, StatusDeprecated: nil, "odd": nil,
	} {
		if got := from.Next(); !slices.Equal(got, want) {
			t.Errorf("after %s: got %v, want %v", from, got, want)
		}
	}
	for _, tt := range []struct {
		from      Status
		operation string
		to        Status
		want      bool
	}{
		{StatusDraft, "activate", StatusActive, true}, {StatusActive, "activate", StatusActive, false}, {StatusDraft, "supersede", StatusSuperseded, false},
		{StatusDraft, "renew", StatusActive, false}, {StatusStale, "renew", StatusActive, true}, {StatusActive, "reopen", StatusDeprecated, true}, {StatusDeprecated, "renew", StatusActive, false},
	} {
		if got := tt.from.Allows(tt.operation, tt.to); got != tt.want {
			t.Errorf("%s, %s to %s: got %v", tt.operation, tt.from, tt.to, got)
		}
	}
}

func TestStatusAt(t *testing.T) {
	noon := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ status, until, want string }{
		{"active", "", "active"},
		{"active", "2026-03-10", "active"}, // the day itself
		{"active", "2026-03-09", "stale"},
		{"active", "2026-03-10T12:00:00Z", "stale"},
		{"active", "2026-03-10T12:00:01Z", "active"},
		{"active", "2026-03-10T12:30:00+02:00", "stale"},
		{"active", "2026-03-10T11:59:59", "stale"},
		{"active", "soon", "active"},
		{"draft", "2020-01-01", "draft"},
		{"deprecated", "2020-01-01", "deprecated"},
		{"stale", "", "stale"},
		{"Blocked", "2020-01-01", "Blocked"}, // unknown: shown as it is
	} {
		if got := (Artifact{Status: tt.status, ValidUntil: tt.until}).StatusAt(noon); got != tt.want {
			t.Errorf("%s until %q: got %s, want %s", tt.status, tt.until, got, tt.want)
		}
	}
}

func TestCheckDate(t *testing.T) {
	for _, in := range []string{"2026-03-01", "2028-02-29", "2026-03-01T00:00:00Z", "2026-03-01T00:00:00.5+03:00", "2026-03-01T00:00:00"} {
		if err := CheckDate(in); err != nil {
			t.Errorf("%q: %v", in, err)
		}
	}
	for _, in := range []string{"", "not-a-date", "2026-02-29", "2026-3-1", "01.03.2026", " 2026-03-01", "2026-03-01 00:00:00", "20260301"} {
		if err := CheckDate(in); !errors.Is(err, ErrInput) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestCheckTitle(t *testing.T) {
	for _, in := range []string{"A", "  kept as given  ", "Вход в систему", "認証", "🔑", "שלום", "e\u0301", "a\u200db", strings.Repeat("щ", MaxTitle), `quote " and \`} {
		if got, err := CheckTitle(in); err != nil || got != in {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
	for name, in := range map[string]string{
		"empty": "", "blank": " \u00a0\u3000", "zero width": "\u200b\u200c\u200d\u2060\ufeff", "fillers": "\u3164\u115f\uffa0\u2800\u034f\ufe0f\u00ad",
		"newline": "a\nb", "tab": "a\tb", "escape": "\x1b[31mred", "delete": "a\x7f", "C1": "a\u0085b", "line separator": "a\u2028b",
		"override": "a\u202eb", "isolate": "\u2066a\u2069", "too long": strings.Repeat("щ", MaxTitle+1), "not UTF-8": "a\xff",
	} {
		var input *InputError
		if got, err := CheckTitle(in); !errors.As(err, &input) || input.Field != "title" || got != "" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestCleanTag(t *testing.T) {
	for in, want := range map[string]string{
		"UPPER-case": "upper-case", "test tag with spaces": "test-tag-with-spaces", "a/b": "ab", " source=Code ": "source=code",
		"v1.2_x": "v1.2_x", "Безопасность": "безопасность", "हिन्दी": "हिन्दी", "🔑": "", "": "", " ": "", "a\u202eb\u200bc": "abc", "a\xffb": "ab", "a\nb": "a-b",
	} {
		if got := CleanTag(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		once := CleanTag(rapid.String().Draw(t, "tag"))
		if twice := CleanTag(once); twice != once {
			t.Fatalf("%q cleaned again is %q", once, twice)
		}
	})
}

func TestSimilarity(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want float64
	}{
		{"Auth System", "auth SYSTEM", 1},
		{"Auth System", "Auth System Design", 2.0 / 3},
		{"one two three four five six seven", "one two three four five six seven eight nine ten", 0.7},
		{"a b", "c d", 0},
		{"", "", 0},
		{"Вход, вход!", "вход", 1},
		{"auth", "billing", 0},
	} {
		for range 2 {
			if got := Similarity(tt.a, tt.b); math.Abs(got-tt.want) > 1e-12 {
				t.Errorf("%q, %q: got %v, want %v", tt.a, tt.b, got, tt.want)
			}
			tt.a, tt.b = tt.b, tt.a
		}
	}
}

func TestErrorsEchoLittle(t *testing.T) {
	_, err := ParseKind("\x1b[31m`rm`\u202e\"" + strings.Repeat("x", 5000))
	text := err.Error()
	if strings.ContainsAny(text, "\x1b`\u202e") || strings.Count(text, "x") > maxEcho || !strings.Contains(text, "…") {
		t.Errorf("got %q", text)
	}
	if rule := error(&RuleError{Rule: "self_link", Msg: "PRD-001 cannot link to itself"}); !errors.Is(rule, ErrRule) || errors.Is(rule, ErrInput) {
		t.Errorf("a rule error is %v, %v", errors.Is(rule, ErrRule), errors.Is(rule, ErrInput))
	}
}
