// Package render makes bytes for people and reads them back: frontmatter, file
// names, tables, log entries. Values in, bytes out: no files, no clock.
package render

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
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
	lines []string // of the whole head, ends included
	keys  []key
}

// key is one top-level key: lines[from:to] hold it and its value.
type key struct {
	name     string
	value    *yaml.Node
	from, to int
}

// Parse reads a head as Split gives it. A *ParseError names the line of the
// file.
func Parse(head []byte) (Front, error) {
	f := Front{lines: splitLines(string(head))}
	if !utf8.Valid(head) {
		for i, l := range f.lines {
			if !utf8.ValidString(l) {
				return f, &ParseError{Line: i + 1, Msg: "not valid UTF-8"}
			}
		}
	}
	closing := f.closing()
	if len(f.lines) == 0 || closing < 1 {
		return f, &ParseError{Line: 1, Msg: "the frontmatter is not closed by a line ---"}
	}
	// The fences are left out, so that a line of the file is one more than a
	// line of the block.
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(strings.Join(f.lines[1:closing], "")), &doc); err != nil {
		return f, f.yamlError(err)
	}
	if len(doc.Content) == 0 {
		return f, nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return f, &ParseError{Line: top.Line + 1, Msg: "the frontmatter holds no keys"}
	}
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
		f.keys = append(f.keys, key{name: k.Value, value: top.Content[i+1], from: k.Line})
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

// trimEnd leaves blank lines and comments at the margin to the key below.
func (f Front) trimEnd(k key, to int) int {
	if k.value.Kind == yaml.ScalarNode && k.value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return to
	}
	for to > k.from+1 {
		l := strings.TrimRight(f.lines[to-1], "\r\n")
		if strings.TrimSpace(l) != "" && !strings.HasPrefix(l, "#") {
			break
		}
		to--
	}
	return to
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\n\s*)?line (\d+): (.*)`)

var yamlAnchor = regexp.MustCompile(`unknown anchor '(.*)' referenced`)

// yamlError turns the library's text into a line of the file and a sentence.
func (f Front) yamlError(err error) error {
	if m := yamlAnchor.FindStringSubmatch(err.Error()); m != nil { // the library names no line
		for i, l := range f.lines {
			if strings.Contains(l, "*"+m[1]) {
				return &ParseError{Line: i + 1, Msg: "not valid YAML: a value that begins with * needs quotes"}
			}
		}
	}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return &ParseError{Line: n + 1, Msg: "not valid YAML: " + m[2]}
		}
	}
	return &ParseError{Line: 2, Msg: "not valid YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
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
	if !ok || k.value.Kind != yaml.ScalarNode || k.value.Style == 0 && k.value.Value == "" {
		return "", false
	}
	return k.value.Value, true
}

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
	_, value, _ := strings.Cut(strings.Join(f.lines[k.from:k.to], ""), ":")
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
	switch k.value.Kind {
	case yaml.SequenceNode:
		for _, item := range k.value.Content {
			if item.Kind == yaml.ScalarNode && item.Value != "" {
				out = append(out, item.Value)
			}
		}
	case yaml.ScalarNode:
		for _, s := range strings.Split(k.value.Value, ",") {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// Links reads the key `links`; entries without target or relation are left out.
func (f Front) Links() []Link {
	k, ok := f.find("links")
	if !ok || k.value.Kind != yaml.SequenceNode {
		return nil
	}
	var out []Link
	for _, item := range k.value.Content {
		if l, ok := linkOf(item); ok {
			out = append(out, l)
		}
	}
	return out
}

func linkOf(n *yaml.Node) (l Link, ok bool) {
	if n.Kind != yaml.MappingNode {
		return l, false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch v := strings.TrimSpace(n.Content[i+1].Value); n.Content[i].Value {
		case "target":
			l.Target = v
		case "relation":
			l.Relation = v
		}
	}
	return l, l.Target != "" && l.Relation != ""
}

// Fields are the keys of a new artifact. Empty ones are left out.
type Fields struct {
	ID, UID, Kind, Status, Title, Depth, Author, ParentEpic, ValidUntil string
	Tags                                                                []string
	Created                                                             string
	Links                                                               []Link
}

// Compose writes the head of a new artifact.
func Compose(f Fields) []byte {
	var b strings.Builder
	b.WriteString("---\n")
	put := func(key, value string) {
		if value != "" {
			b.WriteString(key + ": " + value + "\n")
		}
	}
	put("id", plainOrQuoted(f.ID))
	put("uid", f.UID)
	put("kind", f.Kind)
	put("status", f.Status)
	put("title", Quote(f.Title))
	put("depth", f.Depth)
	if f.Author != "" {
		put("author", Quote(f.Author))
	}
	put("parent_epic", plainOrQuoted(f.ParentEpic))
	put("valid_until", f.ValidUntil)
	if len(f.Tags) > 0 {
		b.WriteString("tags:\n")
		for _, t := range f.Tags {
			b.WriteString(tagItem("  ", "\n", t))
		}
	}
	put("created", f.Created)
	if len(f.Links) > 0 {
		b.WriteString("links:\n")
		for _, l := range f.Links {
			b.WriteString(linkItem("  ", "\n", l))
		}
	}
	b.WriteString("---\n\n")
	return []byte(b.String())
}

// Quote is a string as JSON in literal UTF-8, which is YAML too. What YAML
// does not allow in a file is escaped.
func Quote(s string) string {
	raw, err := compact(s)
	if err != nil {
		return `""`
	}
	var b strings.Builder
	for _, r := range string(raw) {
		if r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(?:[-=./][A-Za-z0-9_]+)*$`)

// plainOrQuoted leaves words alone that no YAML reader takes for anything else.
func plainOrQuoted(s string) string {
	switch strings.ToLower(s) {
	case "":
		return ""
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		return Quote(s)
	}
	if plainWord.MatchString(s) {
		return s
	}
	return Quote(s)
}

func tagItem(indent, eol, tag string) string { return indent + "- " + plainOrQuoted(tag) + eol }

func linkItem(indent, eol string, l Link) string {
	return indent + "- target: " + plainOrQuoted(l.Target) + eol + indent + "  relation: " + plainOrQuoted(l.Relation) + eol
}
