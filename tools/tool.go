package tools

import "strings"

// Effect says what a call of a tool may do to the workspace. It becomes the protocol's hints, the common parameters and the question whether
// the call needs the lock for writing.
type Effect int

const (
	Reads    Effect = iota // answers, changes nothing
	Adds                   // makes something new, touches nothing that was there
	Edits                  // changes what is there; what was there stays in the journal
	Destroys               // takes something away and opens a receipt
	Starts                 // makes the workspace itself
)

// String is the word used in documentation and tests.
func (e Effect) String() string {
	switch e {
	case Reads:
		return "reads"
	case Adds:
		return "adds"
	case Edits:
		return "edits"
	case Destroys:
		return "destroys"
	case Starts:
		return "starts"
	}
	return "unknown"
}

// Tool is one use case as data: it can be listed, documented, given a schema and a command without running. A Tool is not changed once it is
// in a registry and may be shared by goroutines.
type Tool struct {
	Name    string   // forgeplan_get: the name over MCP, ^[a-z0-9_]{1,48}$
	Command string   // get: the words after `forgeplan` on the command line
	Aliases []string // other commands that mean the same
	Title   string   // a few words for people
	Summary string   // one sentence: what it does and when
	Doc     string   // the rest: when not, defaults, bounds
	Effect  Effect
	Set     string  // core or audit
	Params  []Param // in the order of help and schema
	Example string  // arguments as JSON

	looks looks // which files its calls see
	run   runner
	out   func() any // an empty result, to read a kept one into
}

// looks says which files of a workspace a call has to see before it decides.
type looks int

const (
	looksNamed   looks = iota // of the artifacts it names
	looksAll                  // of all
	looksNowhere              // none: it asks of calls, not of artifacts
)

// runner is what the registry makes of a tool's function.
type runner any

// Mutates reports whether a call may change the workspace.
func (t *Tool) Mutates() bool { return t.Effect != Reads }

// Param is the parameter of that name, nil when the tool has none.
func (t *Tool) Param(name string) *Param {
	for i := range t.Params {
		if t.Params[i].Name == name {
			return &t.Params[i]
		}
	}
	return nil
}

// command is what follows the program's name on the command line.
func (t *Tool) command() string {
	if t.Command != "" {
		return t.Command
	}
	return strings.ReplaceAll(strings.TrimPrefix(t.Name, "forgeplan_"), "_", "-")
}

// place is the parameter at that place of the command line, from 1; nil when there is none.
func (t *Tool) place(n int) *Param {
	for i := range t.Params {
		if t.Params[i].Positional == n {
			return &t.Params[i]
		}
	}
	return nil
}
