package artifact

import (
	"strings"
	"unicode"
)

// Similarity compares two titles, from 0 to 1: words that both have over words
// that any has. Words are runs of letters and digits, of 3 bytes or more, in
// any case. 0 if either has none.
func Similarity(a, b string) float64 {
	x, y := words(a), words(b)
	both := 0
	for w := range x {
		if y[w] {
			both++
		}
	}
	if both == 0 {
		return 0
	}
	return float64(both) / float64(len(x)+len(y)-both)
}

func words(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		if len(w) >= 3 {
			set[w] = true
		}
	}
	return set
}
