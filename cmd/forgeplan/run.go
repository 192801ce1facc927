package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"os/user"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"forgeplan/internal/render"
	"forgeplan/internal/workspace"
	"forgeplan/tools"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// program is one run of the command: everything it gets from outside.
type program struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string

	env     *workspace.Env
	reg     *tools.Registry
	call    func(context.Context, tools.Caller, string, json.RawMessage) tools.Reply // the registry's
	json    bool
	dir     string // --workspace
	version bool   // --version
	code    int    // exit code of a command that ran

	answered atomic.Bool // an answer is being printed: a signal adds no other
}

// Tests fix the clock and chance; the shipped program has no switch for it.
var (
	testClock   func() time.Time
	testEntropy io.Reader
)

func system(args []string) *program {
	return &program{args: args, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
}

// grace is how long a command may take to end after a signal.
const grace = 2 * time.Second

// run runs one command and returns its exit code: 0 done, 1 failed, 2 wrong
// usage, 3 drift or findings.
func run(p *program) int {
	ctx, stop := p.signals()
	defer stop()
	p.env = &workspace.Env{Program: version, Command: "forgeplan", Now: testClock, Entropy: testEntropy}
	reg, err := tools.New(p.env, tools.All())
	if err != nil {
		fmt.Fprintln(p.stderr, "error:", err)
		return 1
	}
	p.reg, p.call = reg, reg.Call
	root := p.root()
	root.SetArgs(p.args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		var failure *tools.Failure
		if !errors.As(err, &failure) { // the library's own words about usage
			failure = tools.Fail(tools.ClassInvalidInput, render.Safe(err.Error(), 200), tools.Say("See what there is: `forgeplan --help`"))
		}
		p.json = p.json || asksJSON(p.args) // the flags may not have been read
		return p.fail(failure)
	}
	return p.code
}

// signals ends the context at the first signal, and the process at the second
// or when the end takes too long. A signal that the parent had ignored, as
// nohup does, stays ignored.
func (p *program) signals() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ch := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(ch, s)
		}
	}
	signal.Ignore(syscall.SIGPIPE) // a reader that is gone is an error of the write
	done := make(chan struct{})
	go func() {
		select {
		case <-ch:
		case <-done:
			return
		}
		cancel()
		select {
		case <-ch:
		case <-time.After(grace):
		case <-done:
			return
		}
		p.giveUp()
		os.Exit(1)
	}()
	return ctx, func() { signal.Stop(ch); close(done); cancel() }
}

// giveUp says that the command was left behind, unless it answered meanwhile.
func (p *program) giveUp() {
	if !p.answered.CompareAndSwap(false, true) {
		return
	}
	f := tools.Fail(tools.ClassCanceled, "ended by a signal before there was an answer: the outcome is unknown")
	next := "Look before you retry: `forgeplan activity --since-hours 1`"
	if asksJSON(p.args) {
		fmt.Fprintf(p.stdout, "%s\n", f.JSON(next))
	} else {
		p.complain(f, next)
	}
}

func asksJSON(args []string) bool {
	for _, a := range args {
		if a == "--" {
			return false
		}
		if a == "--json" || a == "--json=true" {
			return true
		}
	}
	return false
}

// Groups of help.
const (
	groupWork        = "work"
	groupRecover     = "recover"
	groupInvestigate = "investigate"
	groupMaintain    = "maintain"
)

// groupOf names the group of a tool's command; what is not listed is work.
var groupOf = map[string]string{
	"forgeplan_init": groupMaintain, "forgeplan_sync": groupMaintain, "forgeplan_renumber": groupMaintain, "forgeplan_activity": groupInvestigate,
	"forgeplan_undo_last": groupRecover, "forgeplan_restore": groupRecover, "forgeplan_redo": groupRecover, "forgeplan_receipts": groupRecover,
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "forgeplan",
		Short:         "Engineering decisions, and a journal of everything done to them",
		Long:          "forgeplan keeps engineering decisions as Markdown files beside the code, and a\njournal of every change and every call, by people and by agents.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return p.prepare(cmd) },
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return p.unknownCommand(cmd, args[0])
			case p.version:
				return p.printVersion()
			case p.json:
				return tools.Fail(tools.ClassInvalidInput, "no command given", tools.Say("See all commands: `forgeplan --help`"))
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVarP(&p.version, "version", "v", false, "version, commit and journal format")
	root.PersistentFlags().StringVar(&p.dir, "workspace", "", "project in `DIR` (default: the nearest .forgeplan upwards)")
	root.PersistentFlags().BoolVar(&p.json, "json", false, "one JSON document on stdout, for failures too")
	root.SetFlagErrorFunc(p.wrongFlag)
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName { // --since_hours, as over MCP
		return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
	})
	root.AddGroup(&cobra.Group{ID: groupWork, Title: "Work:"}, &cobra.Group{ID: groupRecover, Title: "Recover:"},
		&cobra.Group{ID: groupInvestigate, Title: "Investigate:"}, &cobra.Group{ID: groupMaintain, Title: "Maintain:"})
	for _, t := range p.reg.Tools("all") {
		root.AddCommand(p.toolCommand(t))
	}
	root.AddCommand(p.serveCommand(), p.replayCommand(), p.verifyCommand(), p.versionCommand(), p.docsCommand())
	root.SetHelpCommand(p.helpCommand())
	root.SetCompletionCommandGroupID(groupMaintain)
	return root
}

// prepare runs before every command that runs.
func (p *program) prepare(cmd *cobra.Command) error {
	p.env.Command = cmd.CommandPath() // without arguments: others see it while they wait
	from := "--workspace"
	if p.env.Start = p.dir; p.dir == "" {
		from, p.env.Start = "FORGEPLAN_WORKSPACE", p.getenv("FORGEPLAN_WORKSPACE")
	}
	if p.env.Start == "" || cmd.Name() == "serve" { // a server looks at each call and answers there
		return nil
	}
	// A folder that is not there would be looked for upwards, and another
	// project found.
	if fi, err := os.Stat(p.env.Start); err != nil || !fi.IsDir() {
		return tools.Fail(tools.ClassInvalidInput, from+" names no folder; nothing was changed", tools.Say("Name the folder of the project."))
	}
	return nil
}

// unknownCommand names the nearest commands, and the command of a tool that was
// called by its name over MCP.
func (p *program) unknownCommand(root *cobra.Command, name string) error {
	var near []string
	if t, ok := p.reg.Lookup(name); ok {
		near = []string{t.Command}
	}
	for d := 1; d <= 2 && len(near) == 0; d++ {
		root.SuggestionsMinimumDistance = d
		near = root.SuggestionsFor(name)
	}
	msg := "unknown command " + strconv.Quote(render.Safe(name, 80))
	if len(near) > 0 {
		msg += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return tools.Fail(tools.ClassInvalidInput, msg, tools.Say("See all commands: `forgeplan --help`"))
}

// wrongFlag answers an unknown flag in the registry's words, which name the
// valid ones and the nearest.
func (p *program) wrongFlag(cmd *cobra.Command, err error) error {
	msg := err.Error()
	var unknown *pflag.NotExistError
	if t, ok := p.reg.Lookup(cmd.Name()); ok && errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		name := strings.ReplaceAll(unknown.GetSpecifiedName(), "-", "_")
		if raw, err := encode(map[string]any{name: ""}); err == nil {
			if _, f := t.RepairCLI(raw); f != nil {
				msg = f.Msg
			}
		}
	}
	return &tools.Failure{Class: tools.ClassInvalidInput, Msg: render.Safe(msg, 400),
		Hint: tools.Hint{{Text: "See its flags: `" + cmd.CommandPath() + " --help`. Text that begins with - goes after --."}}}
}

// noPlaces is for commands that take flags alone.
func noPlaces(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &tools.Failure{Class: tools.ClassInvalidInput, Msg: fmt.Sprintf("one argument too many for `%s`", cmd.Name()),
		Hint: tools.Hint{{Text: "See its flags: `" + cmd.CommandPath() + " --help`."}}}
}

func (p *program) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Explains a command", GroupID: groupMaintain,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			found, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return p.unknownCommand(root, args[0])
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// caller is who runs this command.
func (p *program) caller() tools.Caller {
	c := tools.Caller{Face: "cli", Actor: p.getenv("FORGEPLAN_ACTOR"), ActorKind: "human", Session: p.getenv("FORGEPLAN_SESSION"), Client: "forgeplan-cli/" + version}
	if p.getenv("FORGEPLAN_AGENT") != "" {
		c.ActorKind = "agent"
	}
	if c.Actor == "" {
		if u, err := user.Current(); err == nil {
			c.Actor = u.Username
		} else if c.Actor = p.getenv("USER"); c.Actor == "" {
			c.Actor = p.getenv("USERNAME")
		}
	}
	return c
}

// width of the terminal that stdout is, 0 if it is none. COLUMNS stands above.
func (p *program) width() int {
	if n, err := strconv.Atoi(p.getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := p.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			return w
		}
	}
	return 0
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// fail prints a failure and returns its exit code.
func (p *program) fail(f *tools.Failure) int {
	p.answered.Store(true)
	next := tools.Hint(f.Hint).Shell(p.reg.Lookup)
	if p.json {
		fmt.Fprintf(p.stdout, "%s\n", f.JSON(next))
	} else {
		p.complain(f, next)
	}
	return tools.ExitCode(f)
}

func (p *program) complain(f *tools.Failure, next string) {
	fmt.Fprintf(p.stderr, "error: %s\n", render.Safe(f.Msg, 0))
	if next != "" {
		fmt.Fprintf(p.stderr, "hint: %s\n", next)
	}
}
