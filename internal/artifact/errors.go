package artifact

import (
	"errors"
	"strings"
	"unicode"
)

// ErrInput: errors.Is of every *InputError.
var ErrInput = errors.New("invalid input")

// ErrRule: errors.Is of every *RuleError.
var ErrRule = errors.New("against the rules")

// InputError: a value is not one of its kind. Field names what was to be set:
// title, id, kind …
type InputError struct{ Field, Msg string }

func (e *InputError) Error() string        { return e.Msg }
func (e *InputError) Is(target error) bool { return target == ErrInput }

// RuleError: the value is well formed, and a rule forbids it now. Rule is its
// short name.
type RuleError struct{ Rule, Msg string }

func (e *RuleError) Error() string        { return e.Msg }
func (e *RuleError) Is(target error) bool { return target == ErrRule }

// maxEcho is how many characters of a value an error repeats.
const maxEcho = 12

// quote repeats a value in an error: quoted, without characters that could
// change how the rest reads, and cut.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	n := 0
	for _, r := range s {
		if n == maxEcho {
			b.WriteRune('…')
			break
		}
		if r == '"' || r == '`' || !unicode.IsPrint(r) {
			r = '?'
		}
		b.WriteRune(r)
		n++
	}
	b.WriteByte('"')
	return b.String()
}
