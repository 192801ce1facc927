package render

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"pgregory.net/rapid"
)

func TestTable(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		flex  int
		rows  [][]string
		want  string
	}{
		{"no rows", 0, 1, nil, "ID  TITLE  S\n"},
		{"plain", 0, 1, [][]string{{"PRD-1", "one", "ok"}, {"A", "", "no"}}, "ID     TITLE  S\nPRD-1  one    ok\nA             no\n"},
		{"blank end", 0, 1, [][]string{{"A", "one", ""}, {"B"}, {"C", "x", "y", "beyond"}}, "ID  TITLE  S\nA   one\nB\nC   x      y\n"},
		{"wide", 0, 1, [][]string{{"A", "日本", "ok"}, {"B", "👩\u200d👩\u200d👧 x", "ok"}, {"C", "e\u0301", "ok"}}, "ID  TITLE  S\nA   日本   ok\nB   👩\u200d👩\u200d👧 x   ok\nC   e\u0301      ok\n"},
		{"cut", 22, 1, [][]string{{"A", "a title of many words", "ok"}, {"B", "日本語日本語日本語", "no"}, {"C", "exactly14chars", "ok"}},
			"ID  TITLE           S\nA   a title of ma…  ok\nB   日本語日本語…   no\nC   exactly14chars  ok\n"},
		{"too narrow", 5, 1, [][]string{{"A", "a title of many words", "ok"}}, "ID  TITLE       S\nA   a title o…  ok\n"},
		{"none to cut", 5, -1, [][]string{{"A", "a title of many words", "ok"}}, "ID  TITLE                  S\nA   a title of many words  ok\n"},
		{"controls", 0, 1, [][]string{{"A", "\x1b[31mred\n\u202e", "ok"}}, "ID  TITLE     S\nA   [31mred   ok\n"},
	} {
		var b strings.Builder
		Table(&b, c.width, []string{"ID", "TITLE", "S"}, c.rows, c.flex)
		if b.String() != c.want {
			t.Errorf("%s: got\n%q\nwant\n%q", c.name, b.String(), c.want)
		}
	}
}

// No line is wider than asked for, and the last column stands in one line.
func TestTableFits(t *testing.T) {
	cell := rapid.StringMatching(`[a-zа-я日本語🚀👩‍ é]{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		var rows [][]string
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			rows = append(rows, []string{"PRD-1", cell.Draw(t, "title"), "|"})
		}
		width := rapid.IntRange(22, 60).Draw(t, "width")
		var b strings.Builder
		Table(&b, width, []string{"ID", "TITLE", "S"}, rows, 1)
		at := -1
		for _, l := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")[1:] {
			before, _, ok := strings.Cut(l, "|")
			n := text.StringWidth(before)
			if !ok || n >= width || at >= 0 && n != at {
				t.Fatalf("width %d, last column at %d, not %d:\n%s", width, n, at, b.String())
			}
			at = n
		}
	})
}

func BenchmarkTable(b *testing.B) {
	for name, title := range map[string]string{"ascii": strings.Repeat("a title ", 10), "mixed": strings.Repeat("Заголовок title 日本 ", 4), "emoji": strings.Repeat("🚀 title ", 8)} {
		b.Run(name+"/10k", func(b *testing.B) {
			rows := make([][]string, 10_000)
			for i := range rows {
				rows[i] = []string{fmt.Sprintf("PRD-%03d", i), "prd", "draft", title}
			}
			b.ReportAllocs()
			for b.Loop() {
				Table(io.Discard, 100, []string{"ID", "KIND", "STATUS", "TITLE"}, rows, 3)
			}
		})
	}
}
