package render

import (
	"strings"
	"unicode"
)

// Safe makes one line of text that can go anywhere a person or an agent reads:
// line breaks become blanks, other controls and marks that turn or hide text
// go, and what is longer than limit characters is cut with … (0: no limit).
// Joiners inside words and emoji stay.
func Safe(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029':
			r = ' '
		case unsafe(r):
			continue
		}
		if limit > 0 && n == limit {
			b.WriteRune('…')
			break
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// Printable is text of several lines for a terminal: without controls but line
// breaks and tabs, and without marks that turn text.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unsafe(r) {
			return -1
		}
		return r
	}, s)
}

// unsafe: controls, and format characters other than the two joiners.
func unsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d'
}

// ShellQuote is a word as a POSIX shell reads it back: in single quotes where
// it needs them.
func ShellQuote(s string) string {
	if s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./=,:@%+~") == "" && s[0] != '~' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
