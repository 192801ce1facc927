package tools

import (
	"errors"
	"fmt"
	"io"

	"forgeplan/internal/render"

	"github.com/oklog/ulid/v2"
)

// dressed is an answer on its way to a face.
type dressed struct {
	value      any
	mutation   bool
	changed    bool
	dryRun     bool
	replayed   bool
	unrecorded bool
	call       ulid.ULID
	warnings   []string
	hint       Hint
	encoded    []byte // the body, of a mutation: its size is part of the record
}

// body is the JSON object: the tool's keys in their order, then what the
// registry knows, and the hint last.
func (d *dressed) body(in *invocation) ([]byte, error) {
	own := false
	if w, ok := d.value.(interface{ setWarnings([]string) }); ok {
		w.setWarnings(d.lines())
		own = true
	}
	out, err := render.JSON(d.value)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	if len(out) < 2 || out[0] != '{' {
		return nil, errors.New("encode answer: not an object")
	}
	out = out[:len(out)-1]
	add := func(key string, v any) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, compact(key)...), ':')
		out = append(out, compact(v)...)
	}
	if d.mutation {
		add("changed", d.changed)
		add("call", d.call.String())
		if d.dryRun {
			add("dry_run", true)
		}
		if d.replayed {
			add("replayed", true)
		}
	}
	if d.unrecorded {
		add("recorded", false)
	}
	if !own {
		add("warnings", d.lines())
	}
	add("_next_action", in.next(d.hint))
	return append(out, '}'), nil
}

// findings asks a checking tool's result what it found.
func (d *dressed) findings() int {
	if f, ok := d.value.(interface{ findings() int }); ok {
		return f.findings()
	}
	return 0
}

func (d *dressed) lines() []string {
	if d.warnings == nil {
		return []string{}
	}
	return d.warnings
}

// Texter is a result that people can read.
type Texter interface {
	WriteText(w io.Writer, width int)
}

func (d *dressed) text() func(io.Writer, int) {
	t, ok := d.value.(Texter)
	if !ok {
		return nil
	}
	note := ""
	switch {
	case d.dryRun:
		note = "Dry run: nothing was changed. A real call would answer:\n"
	case d.replayed:
		note = "Answered from an earlier call with the same key.\n"
	}
	return func(w io.Writer, width int) {
		io.WriteString(w, note)
		t.WriteText(w, width)
	}
}

func quoteName(s string) string { return "`" + safeName(s) + "`" }
