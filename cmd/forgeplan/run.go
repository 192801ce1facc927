package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"

	"forgeplan/internal/workspace"
	"forgeplan/tools"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// program is one run of the command: everything it gets from outside.
type program struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string

	env  *workspace.Env
	reg  *tools.Registry
	json bool
	dir  string // --workspace
	code int    // exit code of a command that ran
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
	p.env = &workspace.Env{Program: version, Command: "forgeplan " + strings.Join(firstWords(p.args), " "), Now: testClock, Entropy: testEntropy}
	reg, err := tools.New(p.env, tools.All())
	if err != nil {
		fmt.Fprintln(p.stderr, "error:", err)
		return 1
	}
	p.reg = reg
	root := p.root()
	root.SetArgs(p.args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		var failure *tools.Failure
		if !errors.As(err, &failure) {
			failure = tools.Fail(tools.ClassInvalidInput, strings.ReplaceAll(err.Error(), "\n", " "), tools.Say("See what there is: forgeplan --help"))
		}
		p.json = p.json || asksJSON(p.args) // the flags may not have been read
		return p.fail(failure)
	}
	return p.code
}

// signals ends the context at the first signal with the cause that makes a
// waiting call say busy, and the process at the second, or when it takes too
// long.
func (p *program) signals() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		select {
		case <-ch:
		case <-done:
			return
		}
		cancel(tools.ErrShutdown)
		select {
		case <-ch:
		case <-time.After(grace):
		case <-done:
			return
		}
		os.Exit(1)
	}()
	return ctx, func() { signal.Stop(ch); close(done); cancel(nil) }
}

func firstWords(args []string) []string {
	for i, a := range args {
		if strings.HasPrefix(a, "-") {
			return args[:i]
		}
		if i == 1 {
			return args[:2]
		}
	}
	return args
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
	"forgeplan_init": groupMaintain, "forgeplan_activity": groupInvestigate,
	"forgeplan_undo_last": groupRecover, "forgeplan_restore": groupRecover, "forgeplan_redo": groupRecover, "forgeplan_receipts": groupRecover,
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "forgeplan",
		Short:         "Engineering decisions, and a journal of everything done to them",
		Long:          "forgeplan keeps engineering decisions as Markdown files beside the code, and a\njournal of every change and every call, by people and by agents.",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,

		SuggestionsMinimumDistance: 2,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			p.env.Start = p.dir
			if p.dir == "" {
				p.env.Start = p.getenv("FORGEPLAN_WORKSPACE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return p.unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	root.SetVersionTemplate(versionText() + "\n")
	root.PersistentFlags().StringVar(&p.dir, "workspace", "", "project folder (default: the nearest .forgeplan upwards)")
	root.PersistentFlags().BoolVar(&p.json, "json", false, "one JSON document on stdout, for failures too")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return tools.Fail(tools.ClassInvalidInput, err.Error(), tools.Say("See its flags with --help."))
	})
	root.AddGroup(&cobra.Group{ID: groupWork, Title: "Work:"}, &cobra.Group{ID: groupRecover, Title: "Recover:"},
		&cobra.Group{ID: groupInvestigate, Title: "Investigate:"}, &cobra.Group{ID: groupMaintain, Title: "Maintain:"})
	for _, t := range p.reg.Tools("all") {
		root.AddCommand(p.toolCommand(t))
	}
	root.AddCommand(p.serveCommand(), p.replayCommand(), p.verifyCommand(), p.versionCommand(), p.docsCommand())
	root.SetHelpCommandGroupID(groupMaintain)
	root.SetCompletionCommandGroupID(groupMaintain)
	return root
}

func (p *program) unknownCommand(cmd *cobra.Command, name string) error {
	msg := "unknown command " + strconv.Quote(safeText(name, 80))
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		msg += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return tools.Fail(tools.ClassInvalidInput, msg, tools.Say("See all commands: forgeplan --help"))
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
	next := tools.Hint(f.Hint).Shell(p.reg.Lookup)
	if p.json {
		fmt.Fprintf(p.stdout, "%s\n", f.JSON(next))
	} else {
		p.complain(f, next)
	}
	return tools.ExitCode(f)
}

func (p *program) complain(f *tools.Failure, next string) {
	fmt.Fprintf(p.stderr, "error: %s\n", f.Msg)
	if next != "" {
		fmt.Fprintf(p.stderr, "hint: %s\n", next)
	}
}
