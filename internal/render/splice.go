package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// EditKind says what becomes of a key.
type EditKind int

const (
	Scalar   EditKind = iota // Text, quoted if Quote
	List                     // List
	LinkList                 // Links
	Remove                   // the key goes, with its lines
)

// Edit changes one key of a frontmatter block.
type Edit struct {
	Key   string
	Kind  EditKind
	Text  string
	Quote bool // write Text as a quoted string; else as it is, which must be plain YAML
	List  []string
	Links []Link
}

// Splice changes keys in a head and nothing else: only the lines of the edited
// keys differ afterwards. Order, comments, spelling, line ends and BOM of all
// the rest stay, and so does the comment behind a one-line value. A new key
// goes in before the closing line.
func Splice(head []byte, edits []Edit) ([]byte, error) {
	for _, e := range edits {
		f, err := Parse(head)
		if err != nil {
			return nil, err
		}
		lines, err := f.splice(e)
		if err != nil {
			return nil, fmt.Errorf("set %s: %w", e.Key, err)
		}
		head = []byte(strings.Join(lines, ""))
	}
	return head, nil
}

func (f Front) splice(e Edit) ([]string, error) {
	k, ok := f.find(e.Key)
	if !ok {
		if e.Kind == Remove {
			return f.lines, nil
		}
		at := f.closing()
		return slices.Concat(f.lines[:at], e.lines(eol(f.lines[0])), f.lines[at:]), nil
	}
	if !strings.HasPrefix(f.lines[k.from], e.Key) && !strings.HasPrefix(f.lines[k.from], `"`) && !strings.HasPrefix(f.lines[k.from], `'`) {
		return nil, &ParseError{Line: k.from + 1, Msg: "the key does not begin its line"}
	}
	var with []string
	switch e.Kind {
	case Remove:
	case Scalar:
		with = f.scalar(k, e)
	default:
		with = f.list(k, e)
	}
	return slices.Concat(f.lines[:k.from], with, f.lines[k.to:]), nil
}

// lines writes a key anew.
func (e Edit) lines(end string) []string {
	switch e.Kind {
	case List, LinkList:
		return append([]string{e.Key + ":" + end}, e.items("  ", end)...)
	}
	return []string{e.Key + ": " + e.value() + end}
}

func (e Edit) value() string {
	if e.Quote {
		return Quote(e.Text)
	}
	return e.Text
}

// items are the lines of a list, one string an item.
func (e Edit) items(indent, end string) []string {
	var out []string
	for _, t := range e.List {
		out = append(out, tagItem(indent, end, t))
	}
	for _, l := range e.Links {
		out = append(out, linkItem(indent, end, l))
	}
	return out
}

func eol(line string) string {
	if strings.HasSuffix(line, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

var (
	// a key, its colon, and the blanks behind it
	keyPart = regexp.MustCompile(`^(?:[^\s:'"#]+|"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')[ \t]*:[ \t]*`)
	quoted  = regexp.MustCompile(`^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')`)
	comment = regexp.MustCompile(`[ \t]+#.*$`)
)

// scalar replaces a value. On one line, what stands around it stays.
func (f Front) scalar(k key, e Edit) []string {
	line := f.lines[k.from]
	end := eol(line)
	text := strings.TrimRight(line, "\r\n")
	prefix := keyPart.FindString(text)
	if k.to != k.from+1 || prefix == "" || k.value.Kind != yaml.ScalarNode {
		return []string{e.Key + ": " + e.value() + end}
	}
	old, tail := text[len(prefix):], ""
	switch m := quoted.FindString(old); {
	case m != "":
		tail = old[len(m):]
	case strings.HasPrefix(old, "#"):
		tail = " " + old // no value, only a comment
	default:
		tail = comment.FindString(old)
	}
	if prefix == strings.TrimRight(prefix, " \t") {
		prefix += " "
	}
	return []string{strings.TrimRight(prefix, " \t") + blanks(prefix) + e.value() + tail + end}
}

// blanks are the blanks that a string ends with.
func blanks(s string) string { return s[len(strings.TrimRight(s, " \t")):] }

// list changes a list. In a block list the lines of items that stay are left
// alone; any other form is written anew, as one line where it was one line.
func (f Front) list(k key, e Edit) []string {
	line := f.lines[k.from]
	end := eol(line)
	block := k.value.Kind == yaml.SequenceNode && k.value.Style&yaml.FlowStyle == 0 && len(k.value.Content) > 0 && k.value.Content[0].Line > k.from
	if block {
		if out, ok := f.blockList(k, e, end); ok {
			return out
		}
		return append([]string{line}, e.items(f.indent(k), end)...)
	}
	if e.Kind == List && k.to == k.from+1 && k.value.Kind != yaml.MappingNode {
		text := strings.TrimRight(line, "\r\n")
		if prefix := keyPart.FindString(text); prefix != "" {
			tail := comment.FindString(text[len(prefix):])
			items := make([]string, len(e.List))
			for i, t := range e.List {
				items[i] = plainOrQuoted(t)
			}
			if prefix == strings.TrimRight(prefix, " \t") {
				prefix += " "
			}
			return []string{prefix + "[" + strings.Join(items, ", ") + "]" + tail + end}
		}
	}
	return e.lines(end)
}

// indent is what stands before the dashes of a block list.
func (f Front) indent(k key) string {
	for _, l := range f.lines[k.from+1 : k.to] {
		if i := strings.IndexByte(l, '-'); i >= 0 && strings.TrimSpace(l[:i]) == "" {
			return l[:i]
		}
	}
	return "  "
}

// blockList keeps the items that stay and adds new ones behind them; false
// where the new list is in another order.
func (f Front) blockList(k key, e Edit, end string) ([]string, bool) {
	nodes := k.value.Content
	out := append([]string(nil), f.lines[k.from:nodes[0].Line]...)
	want := e.names()
	n := 0
	for i, node := range nodes {
		from, to := node.Line, k.to
		if i+1 < len(nodes) {
			to = nodes[i+1].Line
		}
		if n < len(want) && want[n] == itemName(node) {
			out = append(out, f.lines[from:to]...)
			n++
		}
	}
	// What is left must be new: an item that stood elsewhere was moved.
	for _, w := range want[n:] {
		for _, node := range nodes {
			if itemName(node) == w {
				return nil, false
			}
		}
	}
	if last := len(out) - 1; !strings.HasSuffix(out[last], "\n") {
		out[last] += end
	}
	return append(out, e.items(f.indent(k), end)[n:]...), true
}

func (e Edit) names() []string {
	out := append([]string(nil), e.List...)
	for _, l := range e.Links {
		out = append(out, l.Target+"\x00"+l.Relation)
	}
	return out
}

func itemName(n *yaml.Node) string {
	if l, ok := linkOf(n); ok {
		return l.Target + "\x00" + l.Relation
	}
	return n.Value
}
