package render

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFileName(t *testing.T) {
	for title, want := range map[string]string{
		"Auth System":           "NOTE-001-auth-system.md",
		"Проверка гипотезы":     "NOTE-001-proverka-gipotezy.md",
		"日本語ドキュメント":             "NOTE-001-ri-ben-yu-dokiyumento.md",
		"인증 아키텍처":               "NOTE-001-injeung-akitegceo.md",
		"Ёлка й ы":              "NOTE-001-iolka-i-y.md",
		"mixed Смесь title":     "NOTE-001-mixed-smes-title.md",
		"🚀🚀":                    "NOTE-001.md",
		"!!!":                   "NOTE-001.md",
		"..":                    "NOTE-001.md",
		"":                      "NOTE-001.md",
		"../../etc/passwd":      "NOTE-001-etc-passwd.md",
		"aux":                   "NOTE-001-aux.md",
		"nul.txt":               "NOTE-001-nul-txt.md",
		"trailing dot.":         "NOTE-001-trailing-dot.md",
		"trailing space ":       "NOTE-001-trailing-space.md",
		"Why? *now* <soon>":     "NOTE-001-why-now-soon.md",
		"a/b\\c|d":              "NOTE-001-a-b-c-d.md",
		"__init__":              "NOTE-001-init.md",
		strings.Repeat("x", 99): "NOTE-001-" + strings.Repeat("x", 88) + ".md",
		// cut at a word, and not one word too many where the cut falls between two
		strings.Repeat("word ", 30):                             "NOTE-001" + strings.Repeat("-word", 17) + ".md",
		strings.Repeat("x", 80) + " " + strings.Repeat("y", 20): "NOTE-001-" + strings.Repeat("x", 80) + ".md",
		strings.Repeat("x", 80) + " yyyyyyy zz":                 "NOTE-001-" + strings.Repeat("x", 80) + "-yyyyyyy.md",
	} {
		if got := FileName("NOTE-001", title); got != want {
			t.Errorf("%q: %s, want %s", title, got, want)
		}
	}
	for id, want := range map[string]string{"CON": "CON_.md", "nul": "nul_.md", "COM1": "COM1_.md", "COMB": "COMB.md", strings.Repeat("A", 128): strings.Repeat("A", 128) + ".md"} {
		if got := FileName(id, "!"); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

func TestFileNameAny(t *testing.T) {
	legal := regexp.MustCompile(`^PRD-[0-9]+(-[a-z0-9_]+)*\.md$`)
	rapid.Check(t, func(t *rapid.T) {
		title := rapid.String().Draw(t, "title")
		if got := FileName("PRD-1234", title); !legal.MatchString(got) || len(got) > maxName {
			t.Fatalf("%q: %s", title, got)
		}
	})
}
