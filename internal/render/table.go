package render

import (
	"bufio"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	gutter  = "  " // between columns
	minFlex = 10   // columns that the flexible one keeps on a narrow terminal
)

// Table prints rows under a head, aligned also where characters are wide.
// Column flex, from 0, is cut with … so that a line fits width columns of the
// terminal (0: no limit; flex -1: no column is cut). Cells are made safe; those
// beyond the head are left out.
func Table(w io.Writer, width int, head []string, rows [][]string, flex int) {
	widest := make([]int, len(head))
	for j, h := range head {
		widest[j] = columns(h)
	}
	safe := make([]string, len(rows)*len(head))
	for i, row := range rows {
		for j, c := range row[:min(len(row), len(head))] {
			c = Safe(c, 0)
			safe[i*len(head)+j] = c
			widest[j] = max(widest[j], columns(c))
		}
	}
	if width > 0 && flex >= 0 && flex < len(head) {
		room := width - len(gutter)*(len(head)-1)
		for j, n := range widest {
			if j != flex {
				room -= n
			}
		}
		if room = max(room, minFlex, columns(head[flex])); widest[flex] > room {
			widest[flex] = room
			for i := flex; i < len(safe); i += len(head) {
				safe[i] = cut(safe[i], room)
			}
		}
	}
	out := bufio.NewWriter(w)
	defer out.Flush()
	line(out, widest, head)
	for i := range rows {
		line(out, widest, safe[i*len(head):(i+1)*len(head)])
	}
}

// line pads cells to their columns; no blanks at its end.
func line(w *bufio.Writer, widest []int, cells []string) {
	pending := 0
	for j, c := range cells {
		if c != "" {
			for range pending {
				w.WriteByte(' ')
			}
			pending = 0
			w.WriteString(c)
		}
		pending += widest[j] - columns(c) + len(gutter)
	}
	w.WriteByte('\n')
}

// columns is the width of safe text on a terminal. Only where characters may
// join into one sign is the slow way taken.
func columns(s string) int {
	n := 0
	for _, r := range s {
		if r >= 0x900 && (r < 0x2010 || r > 0x2027) && (r < 0x3000 || r > 0x9fff) && (r < 0xac00 || r > 0xd7a3) {
			return text.StringWidth(s)
		}
		n += text.RuneWidth(r)
	}
	return n
}

// cut shortens text to n columns, … included.
func cut(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		if used += text.RuneWidth(r); used > n-1 {
			return strings.TrimRight(s[:i], " \u200d") + "…"
		}
	}
	return s
}
