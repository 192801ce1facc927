package tools

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Lookup finds a tool by its name; (*Registry).Lookup is one.
type Lookup func(name string) (*Tool, bool)

// Hint is the next step, as parts that each face prints in its own form. Nil is no hint. It is plain data, so that a kept result can be
// printed again later, on another face.
//
// Stored text never gets in: words are constants of this program, and a value that is no number, id, tool name or time is replaced by a
// placeholder when the part is made.
type Hint []Part

// Part is a piece of a hint: words, or a call.
type Part struct {
	Text string    `json:"text,omitempty"` // words, printed as they are
	Tool string    `json:"tool,omitempty"` // a call of this tool
	Args []HintArg `json:"args,omitempty"`
	MCP  string    `json:"mcp,omitempty"` // the call as MCP prints it, where the words are fixed
}

// HintArg is one argument of a call in a hint.
type HintArg struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// literal is text that stands in the source: outside this type's conversions only constants are one.
type literal string

// Say is words. Each %s in them takes the next value: integers, ids and tool names as they are; anything else becomes "it".
func Say(words literal, values ...any) Part {
	text := string(words)
	for _, v := range values {
		s, ok := safeValue(v)
		if !ok {
			s = "it"
		}
		text = strings.Replace(text, "%s", s, 1)
	}
	return Part{Text: text}
}

// Call is a call of a tool with arguments as name, value, name, value. A value that may be stored text becomes the placeholder <name>; words
// of this program go in by Fixed.
func Call(tool literal, args ...any) Part {
	p := Part{Tool: string(tool)}
	for i := 0; i+1 < len(args); i += 2 {
		name := fmt.Sprint(args[i])
		value, ok := safeValue(args[i+1])
		if !ok {
			value = "<" + name + ">"
		}
		p.Args = append(p.Args, HintArg{Name: name, Value: value})
	}
	return p
}

// Fixed is an argument's value in words of this program.
func Fixed(words literal) any { return words }

// As fixes how MCP prints the call, where a page of the product gives the very words. The command line prints its own form.
func (p Part) As(words literal) Part {
	p.MCP = string(words)
	return p
}

// safeValue is the text of a value that cannot carry stored text.
func safeValue(v any) (string, bool) {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	case float64:
		return digits(v), true
	case bool:
		return strconv.FormatBool(v), true
	case literal:
		return string(v), true
	case []string:
		return safeValue(strings.Join(v, ","))
	case string:
		for _, s := range strings.Split(v, ",") {
			if !safeID(s) && !safePoint(s) {
				return "", false
			}
		}
		return v, true
	}
	return "", false
}

// safeID: ^[A-Za-z][A-Za-z0-9_~-]{0,127}$, which every id, uid after its first digit aside, tool name and enum word fits.
func safeID(s string) bool {
	if s == "" || len(s) > 128 || !asciiLetter(s[0]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; !asciiLetter(c) && !asciiDigit(c) && c != '_' && c != '~' && c != '-' {
			return false
		}
	}
	return true
}

// safePoint is a ULID, date, time, duration or @-3: short, and a digit before any letter.
func safePoint(s string) bool {
	rest := strings.TrimLeft(s, "@-")
	if len(s) > 40 || rest == "" || !asciiDigit(rest[0]) {
		return false
	}
	return strings.IndexFunc(rest, func(r rune) bool {
		return r > 127 || !asciiLetter(byte(r)) && !asciiDigit(byte(r)) && !strings.ContainsRune("-:.+", r)
	}) < 0
}

func asciiLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func asciiDigit(c byte) bool  { return c >= '0' && c <= '9' }

// MCP prints the hint for an agent: calls as `tool name=value`.
func (h Hint) MCP() string {
	var b strings.Builder
	for _, p := range h {
		switch {
		case p.Tool == "":
			b.WriteString(p.Text)
		case p.MCP != "":
			b.WriteString("`" + p.MCP + "`")
		default:
			b.WriteString("`" + p.Tool)
			for _, a := range p.Args {
				b.WriteString(" " + a.Name + "=" + mcpValue(a.Value))
			}
			b.WriteString("`")
		}
	}
	return b.String()
}

func mcpValue(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`=", r) }) < 0 {
		return s
	}
	return string(compact(s))
}

// Shell prints the hint for a person at a shell: calls as `forgeplan command PLACE --flag value`, which can be pasted as they are.
func (h Hint) Shell(lookup Lookup) string {
	var b strings.Builder
	for _, p := range h {
		if p.Tool == "" {
			b.WriteString(p.Text)
			continue
		}
		b.WriteString("`forgeplan " + p.shell(lookup) + "`")
	}
	return b.String()
}

func (p Part) shell(lookup Lookup) string {
	tool, ok := lookup(p.Tool)
	if !ok {
		tool = &Tool{Name: p.Tool}
	}
	words := []string{tool.command()}
	args := slices.Clone(p.Args)
	for place := 1; ; place++ { // what stands by its place comes first, without a gap
		param := tool.place(place)
		if param == nil {
			break
		}
		i := slices.IndexFunc(args, func(a HintArg) bool { return a.Name == param.Name })
		if i < 0 && !param.Required {
			break
		}
		if i < 0 {
			words = append(words, strings.ToUpper(param.Name))
			continue
		}
		values := []string{args[i].Value}
		if param.Type == Strings {
			values = strings.Split(args[i].Value, ",")
		}
		for _, v := range values {
			words = append(words, shellValue(v))
		}
		args = slices.Delete(args, i, i+1)
	}
	for _, a := range args {
		param := tool.Param(a.Name)
		if param == nil {
			param = &Param{Name: a.Name}
		}
		switch flag := "--" + param.Flag(); {
		case param.Type != Bool:
			words = append(words, flag, shellValue(a.Value))
		case a.Value == "true":
			words = append(words, flag)
		default:
			words = append(words, flag+"="+shellValue(a.Value))
		}
	}
	return strings.Join(words, " ")
}

// shellValue is one word for a shell. A placeholder is printed in capitals: <id> would be a redirection.
func shellValue(s string) string {
	if name, ok := strings.CutPrefix(s, "<"); ok {
		if name, ok = strings.CutSuffix(name, ">"); ok && safeID(name) {
			return strings.ToUpper(name)
		}
	}
	return shellQuote(s)
}

// shellQuote makes one word of s for a POSIX shell.
func shellQuote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return r > 127 || !asciiLetter(byte(r)) && !asciiDigit(byte(r)) && !strings.ContainsRune("_-.,:/@+%", r)
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// For prints the hint for a caller's face: "cli", or else MCP.
func (h Hint) For(face string, lookup Lookup) string {
	if face == "cli" {
		return h.Shell(lookup)
	}
	return h.MCP()
}

// Check reports a call in the hint that would not work or must not be proposed: a tool or argument that is not there, a tool that opens a
// receipt, an argument that forces. It is for tests over all hints.
func (h Hint) Check(lookup Lookup) error {
	for _, p := range h {
		if p.Tool == "" {
			continue
		}
		tool, ok := lookup(p.Tool)
		if !ok {
			return fmt.Errorf("hint calls %s, which is no tool", p.Tool)
		}
		if tool.Effect == Destroys {
			return fmt.Errorf("hint calls %s, which takes something away", p.Tool)
		}
		for _, a := range p.Args {
			if tool.Param(a.Name) == nil {
				return fmt.Errorf("hint gives %s the argument %s, which it does not have", p.Tool, a.Name)
			}
			if a.Name == "force" || a.Name == "yes" || a.Name == "accept_deletions" {
				return fmt.Errorf("hint calls %s with %s", p.Tool, a.Name)
			}
		}
	}
	return nil
}
