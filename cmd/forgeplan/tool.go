package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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
	flags := cmd.Flags()
	flags.SortFlags = false
	var file string
	if t.Param("body") != nil {
		flags.StringVarP(&file, "file", "F", "", "read body from FILE, byte for byte; - is stdin")
	}
	for i := range t.Params {
		param := &t.Params[i]
		if param.Positional > 0 && param.Required {
			continue // an optional one may stand in its place or be a flag
		}
		for _, name := range append([]string{param.Flag()}, param.Aliases...) {
			short := param.Short
			if len(name) == 1 || name != param.Flag() {
				short = ""
			}
			if len(name) == 1 { // an alias of one letter is a short flag of a hidden long one
				short, name = name, param.Flag()+"-"+name
			}
			switch param.Type {
			case tools.Bool:
				flags.BoolP(name, short, false, help(param))
			case tools.Strings:
				flags.StringArrayP(name, short, nil, help(param)+" (repeatable)")
			default:
				flags.StringP(name, short, "", help(param))
			}
			if name != param.Flag() {
				_ = flags.MarkHidden(name)
			}
		}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		sent, err := p.arguments(t, cmd, args)
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("file") {
			body, err := p.readBody(file)
			if err != nil {
				return err
			}
			if _, both := sent["body"]; both {
				return tools.Fail(tools.ClassInvalidInput, "give --body or --file, not both", tools.Say("Nothing was changed."))
			}
			sent["body"] = body
		}
		raw, err := json.Marshal(sent)
		if err != nil {
			return err
		}
		p.answer(p.reg.Call(cmd.Context(), p.caller(), t.Name, raw))
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

func placed(t *tools.Tool, place int) *tools.Param {
	for i := range t.Params {
		if t.Params[i].Positional == place {
			return &t.Params[i]
		}
	}
	return nil
}

func help(param *tools.Param) string {
	text := param.Doc
	if len(param.Enum) > 0 {
		text += " One of " + strings.Join(param.Enum, ", ") + "."
	}
	if param.Default != nil && param.Type != tools.Bool {
		text += fmt.Sprintf(" Default %v.", param.Default)
	}
	return strings.ReplaceAll(text, "`", "'")
}

// arguments are what was typed, and only that.
func (p *program) arguments(t *tools.Tool, cmd *cobra.Command, args []string) (map[string]any, error) {
	sent := map[string]any{}
	for place := 1; len(args) > 0; place++ {
		param := placed(t, place)
		if param == nil {
			return nil, tools.Fail(tools.ClassInvalidInput, fmt.Sprintf("one argument too many for `%s`", t.Command),
				tools.Say("Put text with blanks in quotes; see its arguments with --help."))
		}
		if param.Type == tools.Strings {
			sent[param.Name], args = args, nil
			continue
		}
		sent[param.Name], args = args[0], args[1:]
	}
	flags := cmd.Flags()
	for i := range t.Params {
		param := &t.Params[i]
		for _, name := range append([]string{param.Flag()}, param.Aliases...) {
			if len(name) == 1 {
				name = param.Flag() + "-" + name
			}
			if !flags.Changed(name) {
				continue
			}
			switch param.Type {
			case tools.Bool:
				sent[param.Name], _ = flags.GetBool(name)
			case tools.Strings:
				list, _ := flags.GetStringArray(name)
				if len(list) == 1 && strings.Contains(list[0], ",") {
					list = strings.Split(list[0], ",")
				}
				sent[param.Name] = list
			default:
				sent[param.Name], _ = flags.GetString(name)
			}
		}
	}
	return sent, nil
}

// maxBody bounds what is read of a body; the registry says how much is allowed.
const maxBody = 16 << 20

// readBody reads a body from a file or stdin. An empty one is a mistake, never
// an order to erase.
func (p *program) readBody(name string) (string, error) {
	in := p.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			var pe *os.PathError
			if errors.As(err, &pe) {
				err = pe.Err
			}
			return "", tools.Fail(tools.ClassInvalidInput, fmt.Sprintf("cannot read %q: %v", safeText(name, 80), err), tools.Say("Nothing was changed."))
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxBody))
	if err != nil {
		return "", tools.Fail(tools.ClassIO, "cannot read the body: "+err.Error(), tools.Say("Nothing was changed."))
	}
	if len(data) == 0 {
		return "", tools.Fail(tools.ClassInvalidInput, "the body is empty; nothing was changed", tools.Say("Leave --file out to keep the text as it is."))
	}
	if !validText(data) {
		return "", tools.Fail(tools.ClassInvalidInput, "the body is not valid UTF-8; nothing was changed", tools.Say("Convert the file to UTF-8."))
	}
	return string(data), nil
}

// answer prints what a call came to. Text goes to stdout, notes to stderr.
func (p *program) answer(r tools.Reply) {
	p.code = tools.ExitCode(r.Failure)
	switch {
	case p.json:
		fmt.Fprintf(p.stdout, "%s\n", r.Body)
		return
	case r.Failure != nil:
		p.complain(r.Failure, next(r.Body))
		return
	}
	if r.Text != nil {
		r.Text(p.stdout, p.width())
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(p.stderr, "warning: %s\n", render.Safe(w, 0))
	}
	// The next step is for a person who sits there, not for a pipe.
	if n := next(r.Body); n != "" && isTerminal(p.stdout) {
		fmt.Fprintf(p.stdout, "\nNext: %s\n", n)
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
