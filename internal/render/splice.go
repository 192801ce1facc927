package render

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// EditKind says what becomes of a key.
type EditKind int

const (
	Scalar   EditKind = iota // Text
	List                     // List
	LinkList                 // Links
	Remove                   // the key goes, with its lines
)

// Edit changes one key of a frontmatter block.
type Edit struct {
	Key   string
	Kind  EditKind
	Text  string
	Quote bool // Text is free text: always in quotes; else only where it needs them
	List  []string
	Links []Link
}

// Splice changes keys in a head and nothing else: only the lines of the edited
// keys differ afterwards. Order, comments, spelling, line ends and BOM of all
// the rest stay, and so does the comment behind a one-line value. A new key
// goes in before the closing line.
//
// A value that reads as asked for already keeps its spelling. In a block list
// the lines of items that stay are kept, and so are comments between items and
// entries that are no tag or link; a list in brackets or parted by commas is
// written anew on its line.
//
// What comes out has been read back: each edited key holds its value and no
// other key another one than before. Where that cannot be (an anchor that other
// keys use, a block written as {…}) the error is a *ParseError.
func Splice(head []byte, edits []Edit) ([]byte, error) {
	f, err := Parse(head)
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		e = e.clean()
		if f.holds(e) {
			continue
		}
		lines, err := f.splice(e)
		if err != nil {
			return nil, fmt.Errorf("set %s: %w", e.Key, err)
		}
		next, err := Parse([]byte(strings.Join(lines, "")))
		if err != nil || !next.holds(e) || !sameButFor(e.Key, f, next) {
			return nil, fmt.Errorf("set %s: %w", e.Key, &ParseError{Line: max(1, f.Line(e.Key)), Msg: "cannot be changed without touching other lines"})
		}
		f = next
	}
	return []byte(strings.Join(f.lines, "")), nil
}

// clean leaves out what no reader would find again, and what is named twice.
func (e Edit) clean() Edit {
	e.List = once(slices.DeleteFunc(slices.Clone(e.List), func(s string) bool { return s == "" }))
	var links []Link
	for _, l := range e.Links {
		l = Link{strings.TrimSpace(l.Target), strings.TrimSpace(l.Relation)}
		twice := slices.ContainsFunc(links, func(k Link) bool { return k.name() == l.name() })
		if l.Target != "" && l.Relation != "" && !twice {
			links = append(links, l)
		}
	}
	e.Links = links
	return e
}

// holds reports whether a block reads as an edit wants it. What a list names
// twice counts once.
func (f Front) holds(e Edit) bool {
	k, ok := f.find(e.Key)
	if e.Kind == Remove || !ok {
		return ok == (e.Kind != Remove)
	}
	switch e.Kind {
	case Scalar:
		text, ok := f.Text(e.Key)
		return ok && text == e.Text
	case List:
		return slices.Equal(once(f.List(e.Key)), e.List)
	}
	var have []string
	if v := follow(k.value); v.Kind == yaml.SequenceNode {
		for _, item := range v.Content {
			if l, ok := linkOf(item); ok {
				have = append(have, l.name())
			}
		}
	}
	return slices.Equal(once(have), e.names())
}

func once(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// sameButFor compares all keys but one.
func sameButFor(name string, a, b Front) bool {
	other := func(k key) bool { return k.name == name }
	x := slices.DeleteFunc(slices.Clone(a.keys), other)
	y := slices.DeleteFunc(slices.Clone(b.keys), other)
	return slices.EqualFunc(x, y, func(k, l key) bool { return k.name == l.name && sameNode(k.value, l.value) })
}

func sameNode(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && a.ShortTag() == b.ShortTag() && slices.EqualFunc(a.Content, b.Content, sameNode)
}

func (f Front) splice(e Edit) ([]string, error) {
	k, ok := f.find(e.Key)
	if !ok {
		if f.flow {
			return nil, &ParseError{Line: 2, Msg: "a block written as {…} takes no new key"}
		}
		at := f.closing()
		return slices.Concat(f.lines[:at], e.anew(strings.Repeat(" ", f.margin)+plainOrQuoted(e.Key)+":", eol(f.lines[at-1])), f.lines[at:]), nil
	}
	at := f.afterColon(k)
	if at < 0 {
		return nil, &ParseError{Line: k.from + 1, Msg: "the key does not begin its line"}
	}
	var with []string
	switch e.Kind {
	case Remove:
	case Scalar:
		with = f.line(k, at, e.value())
	default:
		with = f.list(k, at, e)
	}
	return slices.Concat(f.lines[:k.from], with, f.lines[k.to:]), nil
}

// afterColon is where the colon of a key ends in its line, in bytes; -1 if the
// key is not the first thing in its line.
func (f Front) afterColon(k key) int {
	line := f.lines[k.from]
	if f.flow || k.column != f.margin || strings.TrimLeft(line[:k.column], " ") != "" {
		return -1
	}
	rest := line[k.column:]
	n := len(k.name)
	if rest[0] == '"' || rest[0] == '\'' {
		n = quotedLen(rest)
	} else if !strings.HasPrefix(rest, k.name) {
		return -1
	}
	for n < len(rest) && (rest[n] == ' ' || rest[n] == '\t') {
		n++
	}
	if n >= len(rest) || rest[n] != ':' {
		return -1
	}
	return k.column + n + 1
}

// quotedLen is the length of the quoted string that s begins with.
func quotedLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[0] == '"' && s[i] == '\\', s[0] == '\'' && strings.HasPrefix(s[i:], "''"):
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return len(s)
}

// valueLen is the length of the value that s, the rest of a line, begins with:
// a comment and the blanks before it are left out.
func valueLen(s string) int {
	flow := s != "" && (s[0] == '[' || s[0] == '{')
	begins := true // of a value: only there do quotes count
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case (c == '"' || c == '\'') && begins:
			i += quotedLen(s[i:]) - 1
			begins = false
		case c == '#' && (i == 0 || s[i-1] == ' ' || s[i-1] == '\t'):
			return len(strings.TrimRight(s[:i], " \t"))
		case c == '!' && begins, c == '&' && begins: // a tag or anchor before it
			if n := strings.IndexAny(s[i:], " \t"); n > 0 {
				i += n
			}
		case c == ' ' || c == '\t':
		default:
			begins = flow && strings.IndexByte("[{,:", c) >= 0
		}
	}
	return len(strings.TrimRight(s, " \t"))
}

// line is the line of a key with another value. On one line, what stands around
// the value stays.
func (f Front) line(k key, at int, value string) []string {
	line := f.lines[k.from]
	text := strings.TrimRight(line, "\r\n")
	rest := strings.TrimLeft(text[at:], " \t")
	gap := text[at : len(text)-len(rest)]
	switch {
	case strings.HasPrefix(rest, "#"): // no value here, only a comment
		value = " " + value + gap + rest
	case k.to > k.from+1 || gap == "":
		value = " " + value
	default:
		value = gap + value + rest[valueLen(rest):]
	}
	return []string{text[:at] + value + eol(line)}
}

// anew writes a key that was not there, or whose lines all go.
func (e Edit) anew(key, end string) []string {
	switch {
	case e.Kind == Scalar:
		return []string{key + " " + e.value() + end}
	case len(e.names()) == 0:
		return []string{key + " []" + end}
	}
	return append([]string{key + end}, e.items("  ", end)...)
}

func (e Edit) value() string {
	if e.Quote || e.Text == "" {
		return Quote(e.Text)
	}
	return unquoted(e.Text)
}

// items are the entries of a block list.
func (e Edit) items(indent, end string) []string {
	var out []string
	if e.Kind == List {
		for _, t := range e.List {
			out = append(out, tagItem(indent, end, t))
		}
		return out
	}
	for _, l := range e.Links {
		out = append(out, linkItem(indent, end, l))
	}
	return out
}

// flow is a list in brackets.
func (e Edit) flow() string {
	var out []string
	if e.Kind == List {
		for _, t := range e.List {
			out = append(out, plainOrQuoted(t))
		}
	} else {
		for _, l := range e.Links {
			out = append(out, "{target: "+plainOrQuoted(l.Target)+", relation: "+plainOrQuoted(l.Relation)+"}")
		}
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// commas are words parted by commas; false where one holds a comma itself or
// there is none.
func (e Edit) commas() (string, bool) {
	text, plain := strings.Join(e.List, ", "), true
	for _, t := range e.List {
		if strings.Contains(t, ",") || strings.TrimSpace(t) != t {
			return "", false
		}
		plain = plain && plainOrQuoted(t) == t
	}
	if !plain {
		text = Quote(text)
	}
	return text, len(e.List) > 0
}

// names tell the entries of a list apart.
func (e Edit) names() []string {
	if e.Kind == List {
		return e.List
	}
	var out []string
	for _, l := range e.Links {
		out = append(out, l.name())
	}
	return out
}

// name is the same for all spellings of a relation.
func (l Link) name() string {
	return l.Target + "\x00" + strings.ReplaceAll(strings.ToLower(l.Relation), "-", "_")
}

func eol(line string) string {
	if strings.HasSuffix(line, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// list changes a list, in the form it has.
func (f Front) list(k key, at int, e Edit) []string {
	line := f.lines[k.from]
	v := k.value
	switch {
	case v.Kind == yaml.SequenceNode && v.Style&yaml.FlowStyle == 0 && len(v.Content) > 0:
		if len(e.names()) > 0 {
			if out, ok := f.blockList(k, e); ok {
				return out
			}
		}
	case v.Kind == yaml.ScalarNode && e.Kind == List && !isNull(v):
		if text, ok := e.commas(); ok {
			return f.line(k, at, text)
		}
		return f.line(k, at, e.flow())
	case v.Kind == yaml.SequenceNode, v.Kind == yaml.AliasNode:
		return f.line(k, at, e.flow())
	}
	text := strings.TrimRight(line, "\r\n")
	rest := strings.TrimLeft(text[at:], " \t")
	tail := "" // a comment behind a key whose value stands below, or nowhere
	if strings.HasPrefix(rest, "#") {
		tail = text[at:]
	}
	out := e.anew(text[:at], eol(line))
	out[0] = strings.TrimRight(out[0], "\r\n") + tail + eol(line)
	return out
}

// entry is an item of a block list: its lines, and before them the comments and
// blank lines above, which never go.
type entry struct {
	name  string
	lead  []string
	lines []string
}

// blockList keeps the entries that stay, in the order asked for, with their
// lines as they are. False where the entries cannot be told apart by lines.
func (f Front) blockList(k key, e Edit) ([]string, bool) {
	header, old, tail, indent, ok := f.entries(k, e.Kind)
	if !ok {
		return nil, false
	}
	want := e.names()
	var kept []entry
	var order []string // of the entries that stay
	for i, o := range old {
		if slices.Contains(want, o.name) {
			kept = append(kept, o)
			continue
		}
		if i+1 < len(old) { // what goes leaves its lead to the one below
			old[i+1].lead = slices.Concat(o.lead, old[i+1].lead)
		} else {
			tail = slices.Concat(o.lead, tail)
		}
	}
	for _, o := range kept {
		order = append(order, o.name)
	}
	place := func(name string) int { return slices.Index(want, name) }
	if !slices.IsSortedFunc(once(order), func(a, b string) int { return place(a) - place(b) }) {
		slices.SortStableFunc(kept, func(a, b entry) int { return place(a.name) - place(b.name) })
	}
	out, fresh, next := header, e.items(indent, eol(f.lines[k.from])), 0
	add := func(before int) { // the new ones that stand before a place
		for ; next < before; next++ {
			if !slices.Contains(order, want[next]) {
				out = append(out, fresh[next])
			}
		}
	}
	for _, o := range kept {
		add(place(o.name))
		out = slices.Concat(out, o.lead, o.lines)
	}
	add(len(want))
	return append(out, tail...), true
}

// entries cuts the lines of a block list: the key's own, one entry an item, and
// what is behind the last. Items that are no tag or link count as lead.
func (f Front) entries(k key, kind EditKind) (header []string, out []entry, tail []string, indent string, ok bool) {
	var starts []int
	for i := k.from + 1; i < k.to; i++ {
		l := f.lines[i]
		body := strings.TrimLeft(l, " ")
		if len(starts) == 0 && strings.HasPrefix(body, "-") {
			indent = l[:len(l)-len(body)]
		} else if len(starts) == 0 || l[:len(l)-len(body)] != indent {
			continue
		}
		if after, dash := strings.CutPrefix(body, "-"); dash && strings.ContainsRune(" \t\r\n", rune(after[0])) {
			starts = append(starts, i)
		}
	}
	nodes := k.value.Content
	if len(starts) != len(nodes) {
		return nil, nil, nil, "", false
	}
	header = slices.Clone(f.lines[k.from:starts[0]])
	for i, n := range nodes {
		end := k.to
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		to := end
		for to > starts[i]+1 && isFiller(f.lines[to-1]) && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
			to--
		}
		name, named := wordOf(n)
		if kind == LinkList {
			var l Link
			l, named = linkOf(n)
			name = l.name()
		}
		if lines := f.lines[starts[i]:to]; named {
			out = append(out, entry{name: name, lead: tail, lines: lines})
			tail = slices.Clone(f.lines[to:end])
		} else {
			tail = slices.Concat(tail, lines, f.lines[to:end])
		}
	}
	return header, out, tail, indent, true
}
