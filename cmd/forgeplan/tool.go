package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"forgeplan/internal/render"
	"forgeplan/tools"

	"github.com/spf13/cobra"
)

// toolCommand makes the command of a tool out of its definition: the same
// arguments, bounds, defaults and errors as over MCP, since what is typed goes
// to the registry as it is typed.
func (p *program) toolCommand(t *tools.Tool) *cobra.Command {
	group := groupOf[t.Name]
	if group == "" {
		group = groupWork
	}
	cmd := &cobra.Command{
		Use: usage(t), Aliases: t.Aliases, Short: t.Summary, Long: strings.TrimSpace(t.Summary + "\n" + t.Doc), GroupID: group,
		Args: cobra.ArbitraryArgs,
	}
	cmd.Flags().SortFlags = false
	var file *string
	if t.Param("body") != nil { // first in help: quoting is what goes wrong with text
		file = cmd.Flags().StringP("file", "F", "", "read the body from `FILE`, byte for byte; - is stdin")
	}
	typed := addFlags(cmd.Flags(), t)
	cmd.RunE = func(cmd *cobra.Command, places []string) error {
		args, err := arguments(t, places, typed)
		if err != nil {
			return err
		}
		if file != nil && cmd.Flags().Changed("file") {
			if _, both := args["body"]; both {
				return tools.Fail(tools.ClassInvalidInput, "give --body or --file, not both", tools.Say("Nothing was changed."))
			}
			if args["body"], err = p.readBody(*file); err != nil {
				return err
			}
		}
		if name := notText(args); name != "" {
			return tools.Fail(tools.ClassInvalidInput, fmt.Sprintf("`%s` is not valid UTF-8; nothing was changed", name), tools.Say("Convert it to UTF-8 and call again."))
		}
		raw, err := encode(args)
		if err != nil {
			return err
		}
		p.answer(p.call(cmd.Context(), p.caller(), t.Name, raw))
		return nil
	}
	return cmd
}

// usage is the command with its places: `get ID`, `tag ID TAGS...`.
func usage(t *tools.Tool) string {
	words := []string{t.Command}
	for place := 1; ; place++ {
		param := placed(t, place)
		if param == nil {
			return strings.Join(words, " ")
		}
		word := strings.ToUpper(param.Name)
		if param.Type == tools.Strings {
			word += "..."
		}
		if !param.Required {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
}

// placed is the parameter at that place of the command line, from 1; nil when
// there is none.
func placed(t *tools.Tool, place int) *tools.Param {
	for i := range t.Params {
		if t.Params[i].Positional == place {
			return &t.Params[i]
		}
	}
	return nil
}

// answer prints what a call came to. Text goes to stdout, notes to stderr.
func (p *program) answer(r tools.Reply) {
	p.answered.Store(true)
	if p.code = tools.ExitCode(r.Failure); p.code == 0 && r.Findings > 0 {
		p.code = 3
	}
	switch {
	case p.json:
		p.deliver(func(w io.Writer) { fmt.Fprintf(w, "%s\n", r.Body) })
		return
	case r.Failure != nil:
		p.complain(r.Failure, next(r.Body))
		return
	}
	if r.Text != nil {
		p.deliver(func(w io.Writer) { r.Text(w, p.width()) })
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(p.stderr, "warning: %s\n", render.Safe(w, 0))
	}
	// The next step is for a person who sits there, not for a pipe.
	if n := next(r.Body); n != "" && isTerminal(p.stdout) {
		fmt.Fprintf(p.stdout, "\nNext: %s\n", n)
	}
}

// deliver prints an answer in one go. One that cannot be printed is a failure:
// a script must not go on as if it had read it.
func (p *program) deliver(write func(io.Writer)) {
	var b bytes.Buffer
	write(&b)
	// A reader that has seen enough, such as head, is no failure.
	if _, err := p.stdout.Write(b.Bytes()); err != nil && p.code == 0 && !errors.Is(err, syscall.EPIPE) {
		p.code = 1
		fmt.Fprintf(p.stderr, "error: the answer could not be printed; what was asked was done\n")
	}
}

func next(body []byte) string {
	var o struct {
		Next string `json:"_next_action"`
	}
	if json.Unmarshal(body, &o) != nil {
		return ""
	}
	return o.Next
}

// notText names an argument that JSON could not carry as it was typed; "" if
// there is none.
func notText(args map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		words, _ := args[name].([]string)
		if one, ok := args[name].(string); ok {
			words = []string{one}
		}
		if slices.ContainsFunc(words, func(s string) bool { return !utf8.ValidString(s) }) {
			return name
		}
	}
	return ""
}
