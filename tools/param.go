package tools

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"forgeplan/internal/artifact"
)

// ParamType is the type of a parameter's value, in the schema and after repair.
type ParamType int

const (
	String  ParamType = iota // string
	Int                      // int64
	Number                   // float64
	Bool                     // bool
	Strings                  // []string
)

// Param is one argument of a tool, the same through either face.
type Param struct {
	Name     string // since_hours
	Type     ParamType
	Doc      string
	Required bool
	Default  any      // of the type after repair; nil = none
	Min      *float64 // smallest value allowed; below it is a mistake
	Above    *float64 // values at or below it are a mistake
	Max      *float64 // values over it are clamped, with a warning
	MaxLen   int      // longest string, in characters; 0 = no limit here
	Enum     []string // canonical words; nil = any text
	Keep     bool     // free text: "" is handed to the tool instead of counting as absent
	Commas   bool     // a string that holds comma-separated words
	CLIOnly  bool     // only the command line knows it

	Positional int      // place on the command line, from 1; 0 = a flag
	Short      string   // one-letter flag
	Aliases    []string // other names of the flag

	spellings map[string]string // other spellings of enum words, folded, to the canonical word
}

// Flag is the long flag on the command line, without the dashes.
func (p *Param) Flag() string { return strings.ReplaceAll(p.Name, "_", "-") }

// ParamsOf reads the input struct of a tool, once, when the tool is defined. A field is a parameter when it has a json tag. Tags:
//
//	json:"since_hours"      name
//	doc:"…"                 one sentence
//	default:"24"            filled in when absent (lists: comma-separated)
//	min:"1" above:"0"       bounds below: inclusive, exclusive
//	max:"720"               numbers: clamped to it; strings: most characters allowed
//	enum:"prd,problem|problemcard"   words allowed, each with other spellings after |
//	required:"true"
//	text:"keep"             free text: "" is a value
//	list:"commas"           a string of comma-separated words; a list is joined
//	pos:"1" short:"k" flag:"type,t"  command line: place, one-letter flag, other names of the flag
//	face:"cli"              the command line alone has it
//
// Fields are string, int, int64, float64, bool, []string, or pointers to them, which stay nil when the argument was not given. Fields of
// embedded structs are taken in. A wrong tag is a mistake of the program: it panics.
func ParamsOf(in any) []Param {
	t := reflect.TypeOf(in)
	if t == nil {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var params []Param
	for _, f := range fields(t) {
		params = append(params, paramOf(f))
	}
	return params
}

// fields are the struct's fields with a json name, those of embedded structs included, in order of declaration.
func fields(t reflect.Type) []reflect.StructField {
	var out []reflect.StructField
	for _, f := range reflect.VisibleFields(t) {
		if name := jsonName(f); !f.Anonymous && f.IsExported() && name != "" && name != "-" {
			out = append(out, f)
		}
	}
	return out
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func paramOf(f reflect.StructField) Param {
	tag := f.Tag.Get
	p := Param{
		Name:     jsonName(f),
		Type:     typeOf(f),
		Doc:      tag("doc"),
		Required: tag("required") == "true",
		Keep:     tag("text") == "keep",
		Commas:   tag("list") == "commas",
		CLIOnly:  tag("face") == "cli",
		Short:    tag("short"),
		Min:      bound(f, "min"),
		Above:    bound(f, "above"),
		Max:      bound(f, "max"),
	}
	if s := tag("pos"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			wrongTag(f, "pos")
		}
		p.Positional = n
	}
	if s := tag("flag"); s != "" {
		p.Aliases = strings.Split(s, ",")
	}
	if s := tag("enum"); s != "" {
		p.setEnum(strings.Split(s, ","))
	}
	if p.Max != nil && p.Type == String {
		p.MaxLen, p.Max = int(*p.Max), nil
	}
	if p.Type != Int && p.Type != Number && (p.Min != nil || p.Above != nil || p.Max != nil) {
		panic(fmt.Sprintf("tools: field %s: bounds are for numbers", f.Name))
	}
	if p.Commas && p.Type != String {
		wrongTag(f, "list")
	}
	if s, given := f.Tag.Lookup("default"); given {
		v, given, warning, fault := p.repair(s)
		if fault != "" || warning != "" || !given {
			wrongTag(f, "default")
		}
		p.Default = v
	}
	return p
}

// setEnum takes the allowed words; a word may be followed by other spellings of it, divided by |.
func (p *Param) setEnum(words []string) {
	p.spellings = make(map[string]string)
	for _, w := range words {
		all := strings.Split(w, "|")
		p.Enum = append(p.Enum, all[0])
		for _, s := range all {
			p.spellings[artifact.Normal(s)] = all[0]
		}
	}
}

func typeOf(f reflect.StructField) ParamType {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return String
	case reflect.Int, reflect.Int64:
		return Int
	case reflect.Float64:
		return Number
	case reflect.Bool:
		return Bool
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return Strings
		}
	}
	panic(fmt.Sprintf("tools: field %s: no parameter can be a %s", f.Name, f.Type))
}

func bound(f reflect.StructField, tag string) *float64 {
	s, given := f.Tag.Lookup(tag)
	if !given {
		return nil
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) {
		wrongTag(f, tag)
	}
	return &n
}

func wrongTag(f reflect.StructField, tag string) {
	panic(fmt.Sprintf("tools: field %s: wrong tag %s:%q", f.Name, tag, f.Tag.Get(tag)))
}

// common are the parameters that the registry serves for every tool that changes something, so that no tool can forget them.
type common struct {
	DryRun         bool   `json:"dry_run" doc:"Show what would happen and change nothing."`
	IdempotencyKey string `json:"idempotency_key" max:"200" doc:"A retry with the same key and arguments gets the first answer instead of a second effect."`
	IfVersion      int64  `json:"if_version" min:"1" doc:"Refuse when a later version than this changed what this call changes."`
}

// commonParams are the parameters a tool of that effect has besides its own; namesArtifact: it changes one that exists.
func commonParams(effect Effect, namesArtifact bool) []Param {
	if effect == Reads {
		return nil
	}
	params := ParamsOf(common{})
	if !namesArtifact {
		params = slices.DeleteFunc(params, func(p Param) bool { return p.Name == "if_version" })
	}
	return params
}
