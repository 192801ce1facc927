package tools

import "io"

// Caller says who asks and through which face.
type Caller struct {
	Face      string // "mcp" or "cli"
	Actor     string // name; empty where nobody gave one
	ActorKind string // "human", "agent" or "file"
	Session   string // empty where there is none
	Client    string // program at the other end, "name/version"; empty where unknown
}

// Reply is the answer to one call, already recorded when the caller gets it.
type Reply struct {
	// Body is one compact JSON object in the form of the caller's face, _next_action last.
	// It is there for failures too.
	Body []byte
	// Failure is nil when the call succeeded.
	Failure *Failure
	// Text prints the answer for people, in lines of at most width columns (0: no limit). Nil on failure.
	Text func(w io.Writer, width int)
	// Findings counts what a checking call found although it succeeded; the command line then ends with exit code 3.
	Findings int
	// Warnings are the lines that also stand in Body.
	Warnings []string
}
