package artifact

import (
	"errors"
	"strings"
	"testing"
)

func TestParseID(t *testing.T) {
	for in, want := range map[string]ID{
		"PRD-001": {"prd", 1, "PRD-001"}, "prd-1": {"prd", 1, "PRD-001"}, "PRD-1": {"prd", 1, "PRD-001"}, " PRD-001 ": {"prd", 1, "PRD-001"},
		"Prd-0001": {"prd", 1, "PRD-001"}, "PRD-11": {"prd", 11, "PRD-011"}, "prd-1000": {"prd", 1000, "PRD-1000"},
		"evid-74": {"evidence", 74, "EVID-074"}, "PROB-2": {"problem", 2, "PROB-002"}, "sol-2": {"solution", 2, "SOL-002"}, "REF-3": {"refresh", 3, "REF-003"},
		"prd-" + strings.Repeat("0", 60) + "7": {"prd", 7, "PRD-007"},
	} {
		if got, err := ParseID(in); err != nil || got != want {
			t.Errorf("%q: got %+v, %v; want %+v", in, got, err, want)
		}
	}
	for _, in := range []string{
		"PRD-1a", "PRD-001x", "PRD-", "PRD-1.1", "PRD--1", "PRD-0x1", "PRD-١", "РRD-001", "", " ", "-", "-1", "1", "PRD", "PRD001", "PRD-+1", "PRD- 1",
		"PRD -1", "PRD-1 2", "PRD-1_0", "PRD-1-2", "PRD-74?", "PRD-999999999999999999999", "ſpec-1", "PROBLEM-001", "EVIDENCE-1", "MEM-1", "XYZ-1",
		"PRD-" + strings.Repeat("0", 5000) + "1",
	} {
		if got, err := ParseID(in); !errors.Is(err, ErrInput) || !strings.HasPrefix(err.Error(), "invalid id ") || got != (ID{}) {
			t.Errorf("%q: got %+v, %v", in, got, err)
		}
	}
}

func TestFormatID(t *testing.T) {
	for want, id := range map[string]ID{"PRD-074": {Kind: "prd", Number: 74}, "ADR-012": {Kind: "adr", Number: 12}, "EVID-113": {Kind: "evidence", Number: 113}, "NOTE-1000": {Kind: "note", Number: 1000}} {
		if got := FormatID(id.Kind, id.Number); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestValidStoredID(t *testing.T) {
	for _, in := range []string{"PRD-001", "mem-auth-system", "a", "Old_Id-7", strings.Repeat("a", 128)} {
		if !ValidStoredID(in) {
			t.Errorf("%q refused", in)
		}
	}
	for _, in := range []string{"", "1a", "-a", "_a", "a b", "a/b", "..", "a.b", "идея", "a\n", "a~1", strings.Repeat("a", 129)} {
		if ValidStoredID(in) {
			t.Errorf("%q taken", in)
		}
	}
}

// What parses has one spelling, which parses to the same, whatever the case and
// space around it, and nothing of the input was left over.
func FuzzParseID(f *testing.F) {
	for _, s := range []string{"PRD-001", "prd-1", " Prd-0001 ", "PRD-1a", "PRD--1", "PRD-999999999999999999999", "РRD-001", "ſpec-1", "PRD-١", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseID(s)
		if err != nil {
			if !errors.Is(err, ErrInput) || len(err.Error()) > 1000 {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if !ValidStoredID(id.Text) || id.Number < 0 || id.Text != FormatID(id.Kind, id.Number) {
			t.Fatalf("%q: %+v", s, id)
		}
		for _, spelling := range []string{id.Text, strings.ToLower(id.Text), "\t" + id.Text + " "} {
			if again, err := ParseID(spelling); err != nil || again != id {
				t.Fatalf("%q: %+v, and %q: %+v, %v", s, id, spelling, again, err)
			}
		}
		prefix, digits, _ := strings.Cut(strings.TrimSpace(s), "-")
		if !strings.EqualFold(prefix, id.Kind.Info().Prefix) || strings.TrimLeft(digits, "0") != strings.TrimLeft(id.Text[len(prefix)+1:], "0") {
			t.Fatalf("%q is not all of %s", s, id.Text)
		}
	})
}
