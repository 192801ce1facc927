package render

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

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
	put("uid", unquoted(f.UID))
	put("kind", unquoted(f.Kind))
	put("status", unquoted(f.Status))
	put("title", Quote(f.Title))
	put("depth", unquoted(f.Depth))
	if f.Author != "" {
		put("author", Quote(f.Author))
	}
	put("parent_epic", plainOrQuoted(f.ParentEpic))
	put("valid_until", unquoted(f.ValidUntil))
	if len(f.Tags) > 0 {
		b.WriteString("tags:\n")
		for _, t := range f.Tags {
			b.WriteString(tagItem("  ", "\n", t))
		}
	}
	put("created", unquoted(f.Created))
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
	raw, err := JSON(s)
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

var (
	plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(?:[-=./][A-Za-z0-9_]+)*$`)
	plainText = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9_+.:/=-]*[A-Za-z0-9_])?$`)
)

// plainOrQuoted leaves words alone that no YAML reader takes for anything else.
func plainOrQuoted(s string) string {
	if s == "" || plainWord.MatchString(s) && !isReserved(s) {
		return s
	}
	return Quote(s)
}

// unquoted leaves ids, dates and times alone too: keys whose readers expect them
// so. It must not stand inside […].
func unquoted(s string) string {
	if s == "" || plainText.MatchString(s) && !isReserved(s) {
		return s
	}
	return Quote(s)
}

// isReserved: what some YAML reader takes for a boolean or nothing.
func isReserved(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		return true
	}
	return false
}

func tagItem(indent, eol, tag string) string { return indent + "- " + plainOrQuoted(tag) + eol }

func linkItem(indent, eol string, l Link) string {
	return indent + "- target: " + plainOrQuoted(l.Target) + eol + indent + "  relation: " + plainOrQuoted(l.Relation) + eol
}

// Closed is head with a line end behind its closing line, so that a body can
// follow it. A file may end in the closing line itself.
func Closed(head []byte) []byte {
	if bytes.HasSuffix(head, []byte("\n")) {
		return head
	}
	first, _ := cutLine(head)
	return append(head[:len(head):len(head)], eol(string(first))...)
}
