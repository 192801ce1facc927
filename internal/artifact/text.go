package artifact

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxTitle is how many characters a title may have.
const MaxTitle = 500

// CheckTitle returns a title as given, if it may be one: 1 to MaxTitle
// characters of any script, something to see among them, on one line, and
// nothing that turns the direction of what follows. The error is an
// *InputError.
func CheckTitle(s string) (string, error) {
	bad := func(msg string) (string, error) { return "", &InputError{Field: "title", Msg: msg} }
	if !utf8.ValidString(s) {
		return bad("title is not valid UTF-8")
	}
	seen, n := false, 0
	for _, r := range s {
		if breaksLine(r) {
			return bad("title has a line break or control character")
		}
		if turns(r) {
			return bad("title has a character that changes the direction of text")
		}
		seen = seen || visible(r)
		n++
	}
	switch {
	case !seen:
		return bad("title is blank")
	case n > MaxTitle:
		return bad(fmt.Sprintf("title has %d characters; at most %d are allowed", n, MaxTitle))
	}
	return s, nil
}

func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// turns reports the marks, embeddings, overrides and isolates of bidirectional
// text, and the annotation marks that hide text.
func turns(r rune) bool {
	return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u206f' || r == '\u061c' || r == '\u200e' || r == '\u200f' ||
		r >= '\ufff9' && r <= '\ufffb'
}

// CheckLine refuses text that is not one plain line. The error is an
// *InputError.
func CheckLine(field, s string) error {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return breaksLine(r) || turns(r) }) {
		return &InputError{Field: field, Msg: field + " has a line break, a control character or one that changes the direction of text"}
	}
	return nil
}

// visible reports whether a character shows on its own.
func visible(r rune) bool {
	return r != '\u2800' && // a braille cell without dots
		!unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// CleanTag brings a tag into its stored form: lower case, dashes for space, of
// the rest only letters and digits of any script, and - _ = . Empty if nothing
// remains.
func CleanTag(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r) && visible(r), strings.ContainsRune("-_=.", r):
			return r
		}
		return -1
	}, strings.ToLower(strings.TrimSpace(s)))
}
