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
	Gated        bool // an activation needs text, evidence, and no stub
}

// Kinds are all kinds there are, in the order they are shown. A memory is taken
// in from files, never created.
var Kinds = []KindInfo{
	{Kind: "prd", Gated: true, Prefix: "PRD", Folder: "prds", DefaultDepth: "standard"},
	{Kind: "epic", Gated: true, Prefix: "EPIC", Folder: "epics", DefaultDepth: "standard"},
	{Kind: "spec", Gated: true, Prefix: "SPEC", Folder: "specs", DefaultDepth: "standard"},
	{Kind: "rfc", Gated: true, Prefix: "RFC", Folder: "rfcs", DefaultDepth: "standard"},
	{Kind: "adr", Gated: true, Prefix: "ADR", Folder: "adrs", DefaultDepth: "standard"},
	{Kind: "problem", Prefix: "PROB", Folder: "problems", Aliases: []string{"problemcard"}, DefaultDepth: "tactical"},
	{Kind: "solution", Prefix: "SOL", Folder: "solutions", Aliases: []string{"solutionportfolio"}, DefaultDepth: "tactical"},
	{Kind: "evidence", Prefix: "EVID", Folder: "evidence", Aliases: []string{"evidencepack"}, DefaultDepth: "tactical"},
	{Kind: "note", Prefix: "NOTE", Folder: "notes", DefaultDepth: "tactical"},
	{Kind: "refresh", Prefix: "REF", Folder: "refresh", Aliases: []string{"refreshreport"}, DefaultDepth: "tactical"},
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
	word := Normal(s)
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
