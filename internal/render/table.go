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
	names := make([]cell, len(head))
	for j, h := range head {
		names[j] = cell{h, columns(h)}
		widest[j] = names[j].width
	}
	cells := make([]cell, len(rows)*len(head))
	for i, row := range rows {
		for j, c := range row[:min(len(row), len(head))] {
			c = Safe(c, 0)
			cells[i*len(head)+j] = cell{c, columns(c)}
			widest[j] = max(widest[j], cells[i*len(head)+j].width)
		}
	}
	if width > 0 && flex >= 0 && flex < len(head) {
		room := width - len(gutter)*(len(head)-1)
		for j, n := range widest {
			if j != flex {
				room -= n
			}
		}
		if room = max(room, minFlex, names[flex].width); widest[flex] > room {
			widest[flex] = room
			for i := flex; i < len(cells); i += len(head) {
				cells[i] = cells[i].cut(room)
			}
		}
	}
	out := bufio.NewWriter(w)
	defer out.Flush()
	line(out, widest, names)
	for i := range rows {
		line(out, widest, cells[i*len(head):(i+1)*len(head)])
	}
}

// cell is safe text and the columns it takes.
type cell struct {
	text  string
	width int
}

// cut shortens a cell to n columns, … included.
func (c cell) cut(n int) cell {
	if c.width <= n {
		return c
	}
	used := 0
	for i, r := range c.text {
		if used += text.RuneWidth(r); used > n-1 {
			s := strings.TrimRight(c.text[:i], " \u200d") + "…"
			return cell{s, columns(s)}
		}
	}
	return c
}

// line pads cells to their columns; no blanks at its end.
func line(w *bufio.Writer, widest []int, cells []cell) {
	pending := 0
	for j, c := range cells {
		if c.text != "" {
			for range pending {
				w.WriteByte(' ')
			}
			pending = 0
			w.WriteString(c.text)
		}
		pending += widest[j] - c.width + len(gutter)
	}
	w.WriteByte('\n')
}

// columns is the width of safe text on a terminal. Only where characters may
// join into one sign is the slow way taken. A flag counts as one column, though
// most terminals take two: the library goes by the first of its two letters.
func columns(s string) int {
	if isPlain(s) {
		return len(s)
	}
	n := 0
	for _, r := range s {
		if r >= 0x900 && (r < 0x2010 || r > 0x2027) && (r < 0x3000 || r > 0x9fff) && (r < 0xac00 || r > 0xd7a3) {
			return text.StringWidth(s)
		}
		n += text.RuneWidth(r)
	}
	return n
}
