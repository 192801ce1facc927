package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"
)

// synonyms are names that callers use for ours, folded by foldName. A tool is asked for the first of them that it has.
var synonyms = map[string][]string{
	"type":             {"kind", "relation"},
	"artifacttype":     {"kind"},
	"relationtype":     {"relation"},
	"artifact":         {"id"},
	"artifactid":       {"id"},
	"ids":              {"id"},
	"uid":              {"id"},
	"name":             {"title"},
	"text":             {"body", "query"},
	"content":          {"body"},
	"description":      {"body"},
	"markdown":         {"body"},
	"hours":            {"since_hours", "within_hours"},
	"lasthours":        {"since_hours", "within_hours"},
	"since":            {"since_hours", "within_hours"},
	"sincehours":       {"within_hours"},
	"withinhours":      {"since_hours"},
	"within":           {"within_hours", "since_hours"},
	"window":           {"within_hours", "since_hours"},
	"expectedversion":  {"if_version"},
	"version":          {"if_version"},
	"ifmatch":          {"if_version"},
	"offset":           {"cursor", "limit"},
	"page":             {"cursor", "limit"},
	"cursor":           {"offset", "limit"},
	"pagetoken":        {"cursor"},
	"nextcursor":       {"cursor"},
	"max":              {"limit"},
	"count":            {"limit"},
	"maxresults":       {"limit"},
	"pagesize":         {"limit"},
	"toolname":         {"tool"},
	"tools":            {"tool"},
	"state":            {"status"},
	"tag":              {"tags"},
	"labels":           {"tags"},
	"from":             {"source"},
	"to":               {"target"},
	"supersededby":     {"by"},
	"replacement":      {"by"},
	"requestid":        {"idempotency_key"},
	"idempotent":       {"idempotency_key"},
	"preview":          {"dry_run"},
	"verbose":          {"detail"},
	"q":                {"query"},
	"search":           {"query"},
	"expires":          {"valid_until", "until"},
	"expiry":           {"valid_until", "until"},
	"validuntil":       {"until"},
	"idempotencytoken": {"idempotency_key"},
}

// unknown is the sentence about the first argument, by name, that the tool does not have.
func (t *Tool) unknown(sent map[string]json.RawMessage, cli bool) (mistake string) {
	for _, name := range sortedKeys(sent) {
		if p := t.Param(name); p != nil && (cli || !p.CLIOnly) {
			continue
		}
		valid := t.names(cli)
		mistake = fmt.Sprintf("unknown argument `%s`; ", safeName(name))
		if len(valid) == 0 {
			return mistake + "this tool takes none"
		}
		mistake += "valid: " + strings.Join(valid, ", ")
		if near := t.nearest(name, valid); near != "" {
			mistake += fmt.Sprintf("; did you mean `%s`?", near)
		}
		return mistake
	}
	return ""
}

func (t *Tool) names(cli bool) []string {
	var names []string
	for _, p := range t.Params {
		if cli || !p.CLIOnly {
			names = append(names, p.Name)
		}
	}
	return names
}

// nearest is the parameter that was probably meant, or "": a known synonym, the same letters in another style, or at most a third of the
// letters wrong.
func (t *Tool) nearest(name string, valid []string) string {
	if len(name) > 4*maxName {
		return ""
	}
	folded := foldName(name)
	for _, want := range synonyms[folded] {
		for _, v := range valid {
			if v == want {
				return v
			}
		}
	}
	for _, v := range valid {
		if foldName(v) == folded {
			return v
		}
		for _, alias := range t.Param(v).Aliases {
			if foldName(alias) == folded {
				return v
			}
		}
	}
	best, at := "", 0
	for _, v := range valid {
		other := foldName(v)
		d := levenshtein.ComputeDistance(folded, other)
		if 3*d <= max(len([]rune(folded)), len(other)) && (best == "" || d < at) {
			best, at = v, d
		}
	}
	return best
}

// foldName takes away case and the marks between words: sinceHours, Since_Hours and since-hours are one.
func foldName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// safeName is a name sent by a caller as it may be printed and recorded: at most maxName characters, and ? for any that is no letter, digit
// or one of _ - . so that it cannot end a quotation, a line or a markup.
func safeName(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n == maxName {
			break
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.' {
			r = '?'
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
