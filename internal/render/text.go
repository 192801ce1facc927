package render

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe makes one line of text that can go anywhere a person or an agent reads:
// line breaks become blanks, other controls and marks that turn or hide text
// go, and what is longer than limit characters is cut to limit, the last of them
// … (0: no limit). Joiners inside words and emoji stay.
func Safe(s string, limit int) string {
	if isSafe(s) && (limit <= 0 || utf8.RuneCountInString(s) <= limit) {
		return s // nearly always
	}
	var b strings.Builder
	n, last := 0, 0 // characters written; where the last of them begins
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029':
			r = ' '
		case unsafe(r):
			continue
		}
		if limit > 0 && n == limit {
			return b.String()[:last] + "…"
		}
		last = b.Len()
		b.WriteRune(r)
		n++
	}
	return b.String()
}

func isSafe(s string) bool {
	return isPlain(s) || utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r == '\u2028' || r == '\u2029' || unsafe(r) })
}

// isPlain: printable ASCII, which needs no care.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
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
	const bare = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./=,:@%+"
	if s != "" && s[0] != '=' && strings.Trim(s, bare) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
