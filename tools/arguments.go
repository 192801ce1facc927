package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"forgeplan/internal/artifact"
)

// Arguments are a call's arguments after repair.
type Arguments struct {
	Values   map[string]any // by parameter: string, int64, float64, bool or []string; absent ones are missing unless they have a default
	Warnings []string       // what was changed in a way the caller should know
	Digest   [32]byte       // of the repaired arguments, or of the bytes as sent where repair failed
	Names    []ArgName      // what was sent, sorted by name, the first maxNames
}

// ArgName is what the journal keeps of one argument: never its value.
type ArgName struct {
	Name string // at most maxName safe characters
	Size int    // bytes of its JSON, as sent
}

const (
	maxNames = 32 // names of arguments kept of one call
	maxName  = 80 // characters of a name that are kept or echoed
	maxEcho  = 20 // characters of a number or an enum word that are echoed
)

// Repair reads the arguments of a call as clients really send them: numbers in quotes, null for absent, lists as text, the whole object as a
// string. What cannot be understood is a failure of class invalid_input that tells the first mistake: unknown arguments first, by name, then
// the parameters in their order. Defaults are filled in. The Arguments hold digest and names also when it fails. Parameters that only the
// command line has are unknown here: see RepairCLI.
func (t *Tool) Repair(raw json.RawMessage) (Arguments, *Failure) { return t.repair(raw, false) }

// RepairCLI is Repair for arguments that come from the command line.
func (t *Tool) RepairCLI(raw json.RawMessage) (Arguments, *Failure) { return t.repair(raw, true) }

func (t *Tool) repair(raw json.RawMessage, cli bool) (Arguments, *Failure) {
	args := Arguments{Values: map[string]any{}}
	sent, mistake := object(raw)
	if mistake == "" {
		args.Names = argNames(sent)
		mistake = t.unknown(sent, cli)
	}
	if mistake == "" {
		mistake = t.fill(&args, sent)
	}
	if mistake != "" {
		args.Values, args.Warnings, args.Digest = nil, nil, digestRaw(raw)
		return args, Fail(ClassInvalidInput, mistake, Say("Nothing was executed. Correct the arguments and call again."))
	}
	args.Digest = t.digest(args.Values)
	for _, p := range t.Params {
		if _, given := args.Values[p.Name]; given || p.Default == nil {
			continue
		}
		args.Values[p.Name] = p.Default
		if list, ok := p.Default.([]string); ok {
			args.Values[p.Name] = slices.Clone(list) // a tool may keep and change it
		}
	}
	return args, nil
}

// fill repairs what was sent, parameter by parameter, and returns the first mistake.
func (t *Tool) fill(args *Arguments, sent map[string]json.RawMessage) (mistake string) {
	for i := range t.Params {
		p := &t.Params[i]
		var v any
		if raw, ok := sent[p.Name]; ok {
			v = decode(raw)
		}
		repaired, given, warning, mistake := p.repair(v)
		switch {
		case mistake != "":
			return mistake
		case given:
			args.Values[p.Name] = repaired
		case p.Required:
			return fmt.Sprintf("`%s` is required: %s", p.Name, p.form())
		}
		if warning != "" {
			args.Warnings = append(args.Warnings, warning)
		}
	}
	return ""
}

// object reads the whole arguments: absent is empty, an object in a string is that object.
func object(raw []byte) (sent map[string]json.RawMessage, mistake string) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err == nil {
			raw = bytes.TrimSpace([]byte(text))
		}
	}
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return map[string]json.RawMessage{}, ""
	case !json.Valid(raw):
		return nil, "arguments must be an object, got text that is not JSON"
	case raw[0] != '{':
		return nil, "arguments must be an object, got " + form(decode(raw))
	}
	if err := json.Unmarshal(raw, &sent); err != nil {
		return nil, "arguments must be an object, got text that is not JSON"
	}
	return sent, ""
}

// decode reads valid JSON and keeps the digits of numbers.
func decode(raw []byte) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil && err != io.EOF {
		return nil // unreachable: the whole was valid
	}
	return v
}

func argNames(sent map[string]json.RawMessage) []ArgName {
	names := make([]ArgName, 0, min(len(sent), maxNames))
	for _, name := range sortedKeys(sent) {
		if len(names) == maxNames {
			break
		}
		names = append(names, ArgName{Name: safeName(name), Size: len(sent[name])})
	}
	return names
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// repair turns one JSON value, decoded with json.Number, into a value of the parameter's type. given is false for what counts as absent. The
// result repaired again is the same.
func (p *Param) repair(v any) (repaired any, given bool, warning, mistake string) {
	if v == nil {
		return nil, false, "", ""
	}
	if s, ok := v.(string); ok && strings.TrimSpace(s) == "" && !p.Keep {
		return nil, false, "", ""
	}
	switch p.Type {
	case Int, Number:
		return p.repairNumber(v)
	case Bool:
		return p.repairBool(v)
	case Strings:
		return p.repairList(v)
	}
	if p.Commas {
		return p.repairCommas(v)
	}
	return p.repairString(v)
}

func (p *Param) repairString(v any) (any, bool, string, string) {
	s, ok := scalarText(v)
	if !ok {
		return p.wrong(v)
	}
	if p.Enum != nil {
		word, known := p.word(s)
		if !known {
			return p.wrong(v)
		}
		return word, true, "", ""
	}
	if n := utf8.RuneCountInString(s); p.MaxLen > 0 && n > p.MaxLen {
		return p.wrong(v)
	}
	return s, true, "", ""
}

// repairCommas makes one string of words out of a list or of text in any of the usual spellings, "a, b" or `["a","b"]`.
func (p *Param) repairCommas(v any) (any, bool, string, string) {
	var texts []string
	if list, ok := v.([]any); ok {
		for _, e := range list {
			s, ok := scalarText(e)
			if !ok && e != nil {
				return p.wrong(v)
			}
			texts = append(texts, s)
		}
	} else if s, ok := scalarText(v); ok {
		texts = []string{s}
	} else {
		return p.wrong(v)
	}
	var words []string
	for _, w := range strings.Split(strings.Join(texts, ","), ",") {
		w = strings.TrimFunc(w, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`[]"'`, r) })
		if w == "" {
			continue
		}
		if p.Enum != nil {
			known := false
			if w, known = p.word(w); !known {
				return p.wrong(v)
			}
		}
		words = append(words, w)
	}
	s := strings.Join(words, ",")
	if p.MaxLen > 0 && utf8.RuneCountInString(s) > p.MaxLen {
		return p.wrong(v)
	}
	return s, s != "", "", ""
}

// repairList takes a list, a list written as JSON text, or text divided by commas. An empty list is a value: it can clear a field.
func (p *Param) repairList(v any) (any, bool, string, string) {
	var items []any
	if list, ok := v.([]any); ok {
		items = list
	} else if s, ok := scalarText(v); !ok {
		return p.wrong(v)
	} else if list, ok := decode([]byte(s)).([]any); ok && json.Valid([]byte(s)) {
		items = list
	} else {
		for part := range strings.SplitSeq(s, ",") {
			items = append(items, part)
		}
	}
	list := []string{}
	for _, e := range items {
		if e == nil {
			continue
		}
		s, ok := scalarText(e)
		if !ok {
			return nil, false, "", fmt.Sprintf("`%s` must be %s, got a list that holds %s", p.Name, p.form(), form(e))
		}
		s = strings.TrimSpace(s)
		if s == "" {
			continue
		}
		if p.Enum != nil {
			word, known := p.word(s)
			if !known {
				return p.wrong(e)
			}
			s = word
		}
		list = append(list, s)
	}
	return list, true, "", ""
}

func (p *Param) repairBool(v any) (any, bool, string, string) {
	switch v := v.(type) {
	case bool:
		return v, true, "", ""
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true":
			return true, true, "", ""
		case "false":
			return false, true, "", ""
		}
	}
	return p.wrong(v)
}

func (p *Param) repairNumber(v any) (any, bool, string, string) {
	text, ok := numberText(v)
	if !ok {
		return p.wrong(v)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil { // 1e400: no bound makes sense of it
		return p.wrong(v)
	}
	if p.Type == Int && f != math.Trunc(f) || p.Min != nil && f < *p.Min || p.Above != nil && f <= *p.Above {
		return p.wrong(v)
	}
	warning := ""
	if p.Max != nil && f > *p.Max {
		warning = fmt.Sprintf("`%s` can be at most %s: %s was used instead of %s", p.Name, digits(*p.Max), digits(*p.Max), form(json.Number(text)))
		f, text = *p.Max, digits(*p.Max)
	}
	if p.Type == Number {
		return f + 0, true, warning, "" // -0 becomes 0
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil { // keeps what a float64 would round
		return n, true, warning, ""
	}
	if math.Abs(f) >= 1<<63 {
		return p.wrong(v)
	}
	return int64(f), true, warning, ""
}

// wrong is the answer to a value that the parameter cannot take.
func (p *Param) wrong(v any) (any, bool, string, string) {
	return nil, false, "", fmt.Sprintf("`%s` must be %s, got %s", p.Name, p.form(), p.echo(v))
}

// form says in words what the parameter takes.
func (p *Param) form() string {
	words := strings.Join(p.Enum, ", ")
	switch {
	case p.Type == Bool:
		return "true or false"
	case p.Type == Strings && p.Enum != nil:
		return "a list of strings out of " + words
	case p.Type == Strings:
		return "a list of strings"
	case p.Commas && p.Enum != nil:
		return "comma-separated words out of " + words
	case p.Enum != nil:
		return "one of " + words
	case p.Type == String && p.MaxLen > 0:
		return fmt.Sprintf("a string of at most %d characters", p.MaxLen)
	case p.Commas:
		return "a string of comma-separated words"
	case p.Type == String:
		return "a string"
	}
	s := "a number"
	if p.Type == Int {
		s = "a whole number"
	}
	switch {
	case p.Above != nil && p.Max != nil:
		return fmt.Sprintf("%s above %s, at most %s", s, digits(*p.Above), digits(*p.Max))
	case p.Min != nil && p.Max != nil:
		return fmt.Sprintf("%s from %s to %s", s, digits(*p.Min), digits(*p.Max))
	case p.Above != nil:
		return s + " above " + digits(*p.Above)
	case p.Min != nil:
		return s + " of at least " + digits(*p.Min)
	case p.Max != nil:
		return s + " of at most " + digits(*p.Max)
	}
	return s
}

// echo says what came, without giving away what may be a secret: only what looks like a word of the enum is shown as it is.
func (p *Param) echo(v any) string {
	if s, ok := v.(string); ok {
		s = strings.TrimSpace(s)
		if p.Enum != nil && plainWord(s) {
			return "`" + s + "`"
		}
		if n, ok := numberText(v); ok && (p.Type == Int || p.Type == Number) {
			return form(json.Number(n))
		}
	}
	return form(v)
}

// form says what kind of value v is. Only the digits of a short number are shown.
func form(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		if len(v) <= maxEcho {
			return string(v)
		}
		return fmt.Sprintf("a number of %d characters", len(v))
	case string:
		switch n := utf8.RuneCountInString(v); n {
		case 0:
			return "an empty string"
		case 1:
			return "a string of 1 character"
		default:
			return fmt.Sprintf("a string of %d characters", n)
		}
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	}
	return "an object"
}

// plainWord: [a-z_-]{1,20}.
func plainWord(s string) bool {
	return s != "" && len(s) <= maxEcho && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_-") == ""
}

// scalarText is the text of a string, or the digits of a number.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return string(v), true
	}
	return "", false
}

// numberText is the text of a number, in quotes or not, when it is written as JSON writes numbers.
func numberText(v any) (string, bool) {
	s, ok := scalarText(v)
	s = strings.TrimSpace(s)
	if !ok || s == "" || strings.Trim(s, "+-.0123456789eE") != "" {
		return "", false
	}
	if _, err := strconv.ParseFloat(s, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
		return "", false
	}
	return s, true
}

func digits(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// word finds the canonical word of an enum for any spelling of it.
func (p *Param) word(s string) (string, bool) {
	w, ok := p.spellings[artifact.Normal(s)]
	return w, ok
}

// Bind puts repaired values into the fields of the input struct that in points to; fields without a value stay as they are.
func Bind(values map[string]any, in any) error {
	target := reflect.ValueOf(in)
	if target.Kind() != reflect.Pointer || target.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("bind arguments: need a pointer to a struct, got %T", in)
	}
	target = target.Elem()
	for _, f := range fields(target.Type()) {
		v, given := values[jsonName(f)]
		if !given {
			continue
		}
		field := target.FieldByIndex(f.Index)
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		value := reflect.ValueOf(v)
		if value.Kind() != field.Kind() && !(value.CanInt() && field.CanInt()) {
			return fmt.Errorf("bind arguments: `%s` is a %T, its field a %s", jsonName(f), v, f.Type)
		}
		field.Set(value.Convert(field.Type()))
	}
	return nil
}
