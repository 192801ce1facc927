package artifact

import (
	"fmt"
	"strconv"
	"strings"
)

// ID is a display id: a kind and a number.
type ID struct {
	Kind   Kind
	Number int
	Text   string // in our spelling: PRD-001
}

// maxIDLen bounds an id as written, in bytes.
const maxIDLen = 128

// FormatID spells a display id: the prefix of the kind, a dash, the number with
// at least three digits.
func FormatID(k Kind, number int) string {
	return fmt.Sprintf("%s-%03d", k.Info().Prefix, number)
}

// ParseID reads a display id in any case and padding, with space around it: all
// of "PRD-001", "prd-1" and " PRD-0001 " are PRD-001. Nothing is guessed and no
// part is left over. The error is an *InputError.
func ParseID(s string) (ID, error) {
	prefix, digits, _ := strings.Cut(strings.TrimSpace(s), "-")
	bad := func(why string) (ID, error) {
		return ID{}, &InputError{Field: "id", Msg: "invalid id " + quote(s) + ": " + why}
	}
	if digits == "" || len(digits) > maxIDLen || strings.Trim(digits, "0123456789") != "" {
		return bad("an id is a prefix, a dash and a number, such as PRD-001")
	}
	var prefixes []string
	for _, info := range Kinds {
		if info.Prefix == "" {
			continue
		}
		if !equalASCII(info.Prefix, prefix) {
			prefixes = append(prefixes, info.Prefix)
			continue
		}
		number, err := strconv.ParseInt(digits, 10, 32)
		if err != nil {
			return bad("its number is too large")
		}
		return ID{Kind: info.Kind, Number: int(number), Text: FormatID(info.Kind, int(number))}, nil
	}
	return bad("its prefix is none of " + strings.Join(prefixes, ", "))
}

// equalASCII compares without case. Unlike strings.EqualFold it takes no letter
// of another script for one of ours (ſ for s).
func equalASCII(upper, s string) bool {
	if len(upper) != len(s) {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		if c != upper[i] {
			return false
		}
	}
	return true
}

// ValidStoredID reports whether an artifact may be adopted under an id as it is
// written in a file: a letter, then letters, digits, - and _, at most 128 in
// all.
func ValidStoredID(s string) bool {
	if s == "" || len(s) > maxIDLen {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '_') {
			return false
		}
	}
	return true
}
