package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"forgeplan/tools"

	"github.com/spf13/pflag"
)

// typed is a flag of a tool: the words as they were typed. The registry reads
// them, so that a wrong number gets the same sentence as over MCP. All names of
// a parameter share one.
type typed struct {
	param *tools.Param
	words []string
}

// Set takes anything.
func (v *typed) Set(s string) error { v.words = append(v.words, s); return nil }

// String is empty: defaults are the registry's and stand in the help text.
func (v *typed) String() string { return "" }

// Type is what help prints in the place of the value.
func (v *typed) Type() string {
	switch v.param.Type {
	case tools.Int, tools.Number:
		return "N"
	case tools.Bool:
		return "bool" // pflag prints nothing for it
	case tools.Strings:
		return "TEXT..."
	}
	return "TEXT"
}

// addFlags gives a command the flags of its tool. A required argument with a
// place has no flag; an optional one has both.
func addFlags(flags *pflag.FlagSet, t *tools.Tool) []*typed {
	var all []*typed
	for i := range t.Params {
		param := &t.Params[i]
		if param.Positional > 0 && param.Required {
			continue
		}
		v := &typed{param: param}
		all = append(all, v)
		add := func(name, short string, hidden bool) {
			f := flags.VarPF(v, name, short, help(param))
			f.Hidden = hidden
			if param.Type == tools.Bool {
				f.NoOptDefVal = "true"
			}
		}
		add(param.Flag(), param.Short, false)
		for _, alias := range param.Aliases {
			if len(alias) == 1 { // a second letter needs a long name of its own
				add(param.Flag()+"-"+alias, alias, true)
			} else {
				add(alias, "", true)
			}
		}
	}
	return all
}

func help(param *tools.Param) string {
	text := param.Doc
	if len(param.Enum) > 0 {
		text += " One of " + strings.Join(param.Enum, ", ") + "."
	}
	if param.Default != nil && param.Type != tools.Bool {
		text += fmt.Sprintf(" Default %v.", param.Default)
	}
	if param.Type == tools.Strings {
		text += " Divided by commas, or the flag again."
	}
	return strings.ReplaceAll(text, "`", "'")
}

// arguments are what was typed, and only that. Of a flag given twice the last
// counts, unless it is a list.
func arguments(t *tools.Tool, places []string, flags []*typed) (map[string]any, error) {
	args := map[string]any{}
	for place := 1; len(places) > 0; place++ {
		param := placed(t, place)
		if param == nil {
			return nil, tools.Fail(tools.ClassInvalidInput, fmt.Sprintf("one argument too many for `%s`", t.Command),
				tools.Say("Put text with blanks in quotes; see its arguments with --help."))
		}
		if param.Type == tools.Strings {
			args[param.Name], places = list(places), nil
			continue
		}
		args[param.Name], places = places[0], places[1:]
	}
	for _, v := range flags {
		switch n := len(v.words); {
		case n == 0:
		case v.param.Type == tools.Strings:
			args[v.param.Name] = list(v.words)
		default:
			args[v.param.Name] = v.words[n-1]
		}
	}
	return args, nil
}

// list leaves a single word to the registry, which knows how lists are
// written: "a,b". An empty one is an empty list, which can clear a field.
func list(words []string) any {
	if len(words) == 1 && strings.TrimSpace(words[0]) != "" {
		return words[0]
	}
	return words
}

// encode makes the JSON that the registry gets. The command line can hold
// bytes that are no text; JSON would replace them without a word.
func encode(args map[string]any) (json.RawMessage, error) {
	for name, v := range args {
		words, isList := v.([]string)
		if !isList {
			words = []string{v.(string)}
		}
		for _, w := range words {
			if !utf8.ValidString(w) {
				return nil, tools.Fail(tools.ClassInvalidInput, fmt.Sprintf("`%s` is not valid UTF-8; nothing was changed", name),
					tools.Say("Convert the text to UTF-8."))
			}
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(args)
	return b.Bytes(), err
}
