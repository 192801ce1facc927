package render

import (
	"os/exec"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSafe(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"plain", 0, "plain"},
		{"plain", 5, "plain"},
		{"plain", 4, "pla…"},
		{"plain", 1, "…"},
		{"Заголовок", 4, "Заг…"},
		{"Заг\u200b\u200b\u200b\u200b", 3, "Заг"},
		{"a\nb\r\nc\td", 0, "a b  c d"},
		{"\x1b[31mred\x1b[0m\x07", 0, "[31mred[0m"},
		{"a\u202eb\u2066c\u200bd\ufeffe\u00adf\u009bg", 0, "abcdefg"},
		{"👩\u200d👧 می\u200cخواهم", 0, "👩\u200d👧 می\u200cخواهم"},
		{"\xff", 0, "\ufffd"},
	} {
		if got := Safe(c.in, c.limit); got != c.want {
			t.Errorf("%q, %d: %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestSafeAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, limit := rapid.String().Draw(t, "s"), rapid.IntRange(1, 20).Draw(t, "limit")
		got := Safe(s, limit)
		if n := utf8.RuneCountInString(got); n > limit {
			t.Fatalf("%q has %d characters, limit %d", got, n, limit)
		}
		if strings.ContainsFunc(got, unicode.IsControl) || Safe(got, limit) != got {
			t.Fatalf("%q is not safe", got)
		}
	})
}

func TestPrintable(t *testing.T) {
	if got, want := Printable("a\n\tb\x1b[0m\r\n\u202ec"), "a\n\tb[0m\nc"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{"PRD-001": "PRD-001", "": "''", "it's": `'it'\''s'`, "a b": "'a b'", "--x=1,2": "--x=1,2", "~/x": "'~/x'", "=x": "'=x'", "$(x)": "'$(x)'", "Ж": "'Ж'"} {
		if got := ShellQuote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// A shell gives back each word as it was.
func TestShellQuoteInShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh here")
	}
	words := []string{"a b", "it's", `\`, `"`, "$HOME", "`x`", "*", "{a,b}", "a\nb", "!", "-n", "#x", "~", "a=~", "", "'"}
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, ShellQuote(w))
	}
	out, err := exec.Command(sh, "-c", `printf '%s\0' `+strings.Join(quoted, " ")).Output()
	if got, want := string(out), strings.Join(words, "\x00")+"\x00"; err != nil || got != want {
		t.Errorf("%q %v, want %q", got, err, want)
	}
}
