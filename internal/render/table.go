package render

import (
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Table prints rows under a head, aligned also where characters are wide.
// Column flex is cut with … so that a line fits width columns (0: no limit).
func Table(w io.Writer, width int, head []string, rows [][]string, flex int) {
	widest := make([]int, len(head))
	cells := make([]table.Row, len(rows))
	for i, row := range rows {
		cells[i] = make(table.Row, len(row))
		for j, c := range row {
			c = Safe(c, 0)
			cells[i][j] = c
			widest[j] = max(widest[j], text.StringWidthWithoutEscSequences(c))
		}
	}
	names := make(table.Row, len(head))
	rest := 0
	for j, h := range head {
		names[j] = h
		if j != flex {
			rest += max(widest[j], len(h)) + 2
		}
	}
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	t.AppendHeader(names)
	t.AppendRows(cells)
	if room := max(width-rest, 10); width > 0 && widest[flex] > room {
		t.SetColumnConfigs([]table.ColumnConfig{{Number: flex + 1, WidthMax: room,
			WidthMaxEnforcer: func(s string, n int) string { return text.Snip(s, n, "…") }}})
	}
	t.SuppressTrailingSpaces()
	io.WriteString(w, t.Render()+"\n")
}
