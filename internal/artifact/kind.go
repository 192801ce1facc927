package artifact

import "strings"

// Kind is a kind of artifact, as stored.
type Kind string

// KindInfo is what the rules say of a kind.
type KindInfo struct {
	Kind         Kind
	Prefix       string   // of display ids; empty: none, and it cannot be created
	Folder       string   // of its files
	Aliases      []string // other names a caller may use
	DefaultDepth Depth
	headings     []string // of a new body
}

// Kinds are all kinds there are, in the order they are shown. A memory is taken
// in from files, never created.
var Kinds = []KindInfo{
	{Kind: "prd", Prefix: "PRD", Folder: "prds", DefaultDepth: "standard",
		headings: []string{"Problem", "Goals", "Non-Goals", "Target Users", "Functional Requirements", "Related Artifacts"}},
	{Kind: "epic", Prefix: "EPIC", Folder: "epics", DefaultDepth: "standard",
		headings: []string{"Vision", "Outcomes", "Children", "Phases", "Progress"}},
	{Kind: "spec", Prefix: "SPEC", Folder: "specs", DefaultDepth: "standard",
		headings: []string{"Summary", "Contracts", "Related Artifacts"}},
	{Kind: "rfc", Prefix: "RFC", Folder: "rfcs", DefaultDepth: "standard",
		headings: []string{"Summary", "Motivation", "Options Considered", "Proposed Direction", "Implementation Phases", "Risks"}},
	{Kind: "adr", Prefix: "ADR", Folder: "adrs", DefaultDepth: "standard",
		headings: []string{"Context", "Decision", "Consequences", "Invariants", "Rollback", "Affected Files"}},
	{Kind: "problem", Prefix: "PROB", Folder: "problems", Aliases: []string{"problemcard"}, DefaultDepth: "tactical",
		headings: []string{"Problem", "Impact", "Constraints", "Related Artifacts"}},
	{Kind: "solution", Prefix: "SOL", Folder: "solutions", Aliases: []string{"solutionportfolio"}, DefaultDepth: "tactical",
		headings: []string{"Problem", "Options", "Recommendation", "Related Artifacts"}},
	{Kind: "evidence", Prefix: "EVID", Folder: "evidence", Aliases: []string{"evidencepack"}, DefaultDepth: "tactical",
		headings: []string{"Claim", "Method", "Result", "Structured Fields"}},
	{Kind: "note", Prefix: "NOTE", Folder: "notes", DefaultDepth: "tactical",
		headings: []string{"Note"}},
	{Kind: "refresh", Prefix: "REF", Folder: "refresh", Aliases: []string{"refreshreport"}, DefaultDepth: "tactical",
		headings: []string{"Reason", "Findings", "Decision"}},
	{Kind: "memory", Folder: "memory", DefaultDepth: "tactical"},
}

// Info is what the rules say of the kind; the zero KindInfo if there is no such
// kind.
func (k Kind) Info() KindInfo {
	for _, info := range Kinds {
		if info.Kind == k {
			return info
		}
	}
	return KindInfo{}
}

// ParseKind reads the name of a kind or one of its aliases, in any case. The
// error is an *InputError that lists the kinds.
func ParseKind(s string) (Kind, error) {
	word := normal(s)
	var names []string
	for _, info := range Kinds {
		if word == string(info.Kind) {
			return info.Kind, nil
		}
		for _, alias := range info.Aliases {
			if word == alias {
				return info.Kind, nil
			}
		}
		names = append(names, string(info.Kind))
	}
	return "", &InputError{Field: "kind", Msg: "invalid kind " + quote(s) + "; use one of " + strings.Join(names, ", ")}
}

// Skeleton is the body of a new artifact that came without one: its title and
// empty headings. There is no prose in it that could pass for content.
func Skeleton(k Kind, title string) string {
	var b strings.Builder
	b.WriteString("# " + title + "\n")
	for _, h := range k.Info().headings {
		b.WriteString("\n## " + h + "\n")
	}
	return b.String()
}
