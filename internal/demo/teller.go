package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// teller prints the story, and beside it keeps a transcript in which everything
// that differs from run to run has been replaced by a placeholder.
type teller struct {
	out        io.Writer
	transcript strings.Builder
	hide       []string // old, new: further texts of this run, for strings.NewReplacer
}

var scrub = []struct {
	find *regexp.Regexp
	put  string
}{
	{regexp.MustCompile(`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`), "<ulid>"},
	{regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z`), "<time>"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "<sha256>"},
	{regexp.MustCompile(`"duration_ms":\d+`), `"duration_ms":<ms>`},
	// One call more is recorded when the killed one was committed.
	{regexp.MustCompile(`\b\d+( refused or reading)? calls\b`), "<n>$1 calls"},
	{regexp.MustCompile(`\b\d+ (log )?lines\b`), "<n> ${1}lines"},
}

// say prints one line.
func (t *teller) say(format string, args ...any) {
	line := strings.TrimRight(fmt.Sprintf(format, args...), "\n")
	fmt.Fprintln(t.out, line)
	line = strings.NewReplacer(t.hide...).Replace(line)
	for _, s := range scrub {
		line = s.find.ReplaceAllString(line, s.put)
	}
	fmt.Fprintln(&t.transcript, line)
}

// either prints what happened this time; the transcript says what may happen.
func (t *teller) either(now, always string) {
	fmt.Fprintln(t.out, now)
	fmt.Fprintln(&t.transcript, always)
}

// part begins a part of the story.
func (t *teller) part(title string) {
	t.say("")
	t.say("## %s", title)
	t.say("")
}
