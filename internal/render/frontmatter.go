// Package render makes bytes for people and reads them back: frontmatter, file
// names, tables, log entries. Values in, bytes out: no files, no clock.
package render

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxHead bounds a frontmatter block, bytes.
const MaxHead = 64 << 10

// ErrNoFrontmatter: the first line of the file is not `---`.
var ErrNoFrontmatter = errors.New("no frontmatter: the first line is not ---")

// ParseError says what cannot be read, and in which line of the file.
type ParseError struct {
	Line int
	Msg  string
}

func (e *ParseError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// Document is a file in its two parts: file = Head + Body, byte for byte. Head
// goes through the closing line and the one empty line behind it, if there is
// one. Nothing in the body is ever read as frontmatter.
type Document struct{ Head, Body []byte }

var bom = []byte("\ufeff")

// Split cuts a file. ErrNoFrontmatter, or a *ParseError where the block is not
// closed or larger than 64 KiB. The parts alias file.
func Split(file []byte) (Document, error) {
	at := 0
	if bytes.HasPrefix(file, bom) {
		at = len(bom)
	}
	line, rest := cutLine(file[at:])
	if !isFence(line) {
		return Document{}, ErrNoFrontmatter
	}
	at = len(file) - len(rest)
	for n := 2; len(rest) > 0; n++ {
		line, rest = cutLine(rest)
		at += len(line)
		if at > MaxHead {
			return Document{}, &ParseError{Line: n, Msg: "the frontmatter is larger than 64 KiB"}
		}
		if isFence(line) {
			if blank, _ := cutLine(rest); len(blank) > 0 && len(bytes.TrimRight(blank, "\r\n")) == 0 {
				at += len(blank)
			}
			return Document{Head: file[:at:at], Body: file[at:]}, nil
		}
	}
	return Document{}, &ParseError{Line: 1, Msg: "the frontmatter is not closed by a line ---"}
}

// cutLine cuts the first line, its end included.
func cutLine(b []byte) (line, rest []byte) {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[:i+1], b[i+1:]
	}
	return b, nil
}

func isFence(line []byte) bool {
	return string(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))) == "---"
}

// Link is one entry of the key `links`.
type Link struct{ Target, Relation string }

// Front is a parsed block: keys in their order, values as they are spelled.
type Front struct {
	lines  []string // of the whole head, ends included
	margin int      // blanks before a key; nearly always 0
	flow   bool     // the block is one {…}
	keys   []key
}

// key is one top-level key: lines[from:to] hold it and its value.
type key struct {
	name     string
	column   int // of the key, from 0
	value    *yaml.Node
	from, to int
}

// Parse reads a head as Split gives it. A *ParseError names the line of the
// file: for a key that is there twice that of the second, for bad YAML that of
// the key where it goes wrong.
func Parse(head []byte) (Front, error) {
	f := Front{lines: splitLines(string(head))}
	closing := f.closing()
	if closing < 1 || !isFence(bytes.TrimPrefix([]byte(f.lines[0]), bom)) {
		return f, &ParseError{Line: 1, Msg: "the frontmatter is not closed by a line ---"}
	}
	for i, l := range f.lines[:closing] {
		if msg := unfit(l); msg != "" {
			return f, &ParseError{Line: i + 1, Msg: msg}
		}
	}
	// The fence is left out, so that line n of the block is lines[n].
	var doc yaml.Node
	if err := f.unmarshal(closing, &doc); err != nil {
		return f, f.yamlError(err, closing)
	}
	if len(doc.Content) == 0 {
		return f, nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return f, &ParseError{Line: top.Line + 1, Msg: "the frontmatter holds no keys"}
	}
	f.flow = top.Style&yaml.FlowStyle != 0
	seen := map[string]bool{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		k := top.Content[i]
		if k.Kind != yaml.ScalarNode {
			return f, &ParseError{Line: k.Line + 1, Msg: "a key is no plain word"}
		}
		if seen[k.Value] {
			return f, &ParseError{Line: k.Line + 1, Msg: "the key " + strconv.Quote(Safe(k.Value, 80)) + " is there twice"}
		}
		seen[k.Value] = true
		if i == 0 {
			f.margin = k.Column - 1
		}
		f.keys = append(f.keys, key{name: k.Value, column: k.Column - 1, value: top.Content[i+1], from: k.Line})
	}
	for i := range f.keys {
		to := closing
		if i+1 < len(f.keys) {
			to = f.keys[i+1].from
		}
		f.keys[i].to = f.trimEnd(f.keys[i], to)
	}
	return f, nil
}

// unmarshal reads the block up to the line of index end.
func (f Front) unmarshal(end int, doc *yaml.Node) error {
	return yaml.Unmarshal([]byte(strings.Join(f.lines[1:end], "")), doc)
}

// unfit says why a line cannot stand in a block, "" if it can. Line breaks that
// YAML knows and we do not would make its line numbers differ from ours; a
// second document would be read by nobody.
func unfit(line string) string {
	text := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	switch {
	case !utf8.ValidString(text):
		return "not valid UTF-8"
	case strings.ContainsAny(text, "\r\u0085\u2028\u2029"):
		return "a line break other than LF or CRLF; write it as an escape in double quotes"
	case strings.HasPrefix(text, "\t") && strings.TrimSpace(text) != "":
		return "indented with a tab; use blanks"
	case text == "..." || strings.HasPrefix(text, "... ") || strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "---\t"):
		return "a second document in the frontmatter"
	}
	return ""
}

// trimEnd leaves blank lines and comments behind a value to the key below.
func (f Front) trimEnd(k key, to int) int {
	text := k.value.Kind == yaml.ScalarNode && k.value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	for to > k.from+1 && isFiller(f.lines[to-1]) {
		if l := f.lines[to-1]; text && strings.TrimSpace(l) != "" && len(l)-len(strings.TrimLeft(l, " ")) > f.margin {
			break // no comment: a line of the text
		}
		to--
	}
	return to
}

// isFiller: nothing, or nothing but a comment.
func isFiller(line string) bool {
	l := strings.TrimSpace(line)
	return l == "" || l[0] == '#'
}

var yamlLine = regexp.MustCompile(`^line (\d+): (.*)`)

// yamlError turns the library's text into a line of the file and a sentence.
// Its own line is missing for some errors and one too small for others; so the
// first key is looked for up to which the block cannot be read.
func (f Front) yamlError(err error, closing int) error {
	starts := []int{1}
	for i := 2; i < closing; i++ {
		if l := f.lines[i]; !isFiller(l) && !strings.ContainsRune(" \t]}", rune(l[0])) {
			starts = append(starts, i)
		}
	}
	end := func(i int) int { return append(starts, closing)[i+1] }
	i := sort.Search(len(starts)-1, func(i int) bool { return f.unmarshal(end(i), new(yaml.Node)) != nil })
	line, msg := starts[i], strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		msg = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil && n >= starts[i] && n < end(i) {
			line = n
		}
	}
	if strings.HasPrefix(msg, "unknown anchor") {
		msg = "a value that begins with * needs quotes"
	}
	return &ParseError{Line: line + 1, Msg: "not valid YAML: " + Safe(msg, 200)}
}

func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// closing is the index of the closing line, 0 if there is none.
func (f Front) closing() int {
	for i := 1; i < len(f.lines); i++ {
		if isFence([]byte(f.lines[i])) {
			return i
		}
	}
	return 0
}

func (f Front) find(name string) (key, bool) {
	for _, k := range f.keys {
		if k.name == name {
			return k, true
		}
	}
	return key{}, false
}

// Keys lists the keys in their order.
func (f Front) Keys() []string {
	out := make([]string, len(f.keys))
	for i, k := range f.keys {
		out[i] = k.name
	}
	return out
}

// Line is the line of the file that a key stands in; 0 if it is not there.
func (f Front) Line(name string) int {
	if k, ok := f.find(name); ok {
		return k.from + 1
	}
	return 0
}

// Text is a scalar as it is spelled: 007, 2026-04-26, no and null are text.
// False if the key is absent, without a value, or holds a list or mapping.
func (f Front) Text(name string) (string, bool) {
	k, ok := f.find(name)
	if !ok {
		return "", false
	}
	v := follow(k.value)
	if v.Kind != yaml.ScalarNode || isEmpty(v) {
		return "", false
	}
	return v.Value, true
}

// Null reports whether a key stands there with nothing behind it, or with an
// unquoted ~ or null: what a key that is no free text may take for absent.
func (f Front) Null(name string) bool {
	k, ok := f.find(name)
	return ok && isNull(k.value)
}

// follow is what an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == ""
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// Raw is the value of a key in the very words of the file: a scalar as it is
// spelled, anything else with its lines.
func (f Front) Raw(name string) (string, bool) {
	k, ok := f.find(name)
	if !ok {
		return "", false
	}
	if text, ok := f.Text(name); ok && k.to == k.from+1 {
		return text, true
	}
	lines := strings.Join(f.lines[k.from:k.to], "")
	if at := f.afterColon(k); at > 0 {
		return strings.TrimSpace(lines[at:]), true
	}
	_, value, _ := strings.Cut(lines, ":")
	return strings.TrimSpace(value), true
}

// List reads a list of words, or words parted by commas. Nil where there is
// none.
func (f Front) List(name string) []string {
	k, ok := f.find(name)
	if !ok {
		return nil
	}
	var out []string
	switch v := follow(k.value); {
	case v.Kind == yaml.SequenceNode:
		for _, item := range v.Content {
			if s, ok := wordOf(item); ok {
				out = append(out, s)
			}
		}
	case v.Kind == yaml.ScalarNode && !isNull(v):
		for _, s := range strings.Split(v.Value, ",") {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

func wordOf(n *yaml.Node) (string, bool) {
	n = follow(n)
	return n.Value, n.Kind == yaml.ScalarNode && n.Value != ""
}

// Links reads the key `links`; entries without target or relation are left out.
func (f Front) Links() []Link {
	k, ok := f.find("links")
	if !ok {
		return nil
	}
	v := follow(k.value)
	if v.Kind != yaml.SequenceNode {
		return nil
	}
	var out []Link
	for _, item := range v.Content {
		if l, ok := linkOf(item); ok {
			out = append(out, l)
		}
	}
	return out
}

func linkOf(n *yaml.Node) (l Link, ok bool) {
	if n = follow(n); n.Kind != yaml.MappingNode {
		return l, false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		v, _ := wordOf(n.Content[i+1])
		switch v = strings.TrimSpace(v); n.Content[i].Value {
		case "target":
			l.Target = v
		case "relation":
			l.Relation = v
		}
	}
	return l, l.Target != "" && l.Relation != ""
}
