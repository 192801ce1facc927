package tools

import "forgeplan/internal/render"

// Classes of error, the words of `error_class`. Each is the answer to one question: what can the caller do about it?
const (
	ClassInvalidInput = "invalid_input" // the arguments break the tool's own contract
	ClassNotFound     = "not_found"     // no such artifact, receipt, relation
	ClassRule         = "rule"          // a domain rule forbids it now
	ClassConflict     = "conflict"      // somebody else changed what this call rests on
	ClassNothingToDo  = "nothing_to_do" // there is nothing it could act on
	ClassBusy         = "busy"          // the lock was not had in time; nothing written, safe to retry
	ClassCanceled     = "canceled"      // the caller went away before the commit
	ClassCorrupt      = "corrupt"       // the journal is damaged or lost
	ClassNewer        = "newer"         // a later version wrote it
	ClassIO           = "io"            // the machine; the outcome may be unknown
	ClassInternal     = "internal"      // our bug
	ClassProtocol     = "protocol"      // unknown tool or malformed request: the call never reached a tool
	ClassDrift        = "drift"         // of the checking commands alone: what is stored and what the journal says differ
)

// Failure is a call that did not do what was asked, told to the caller. It is an error; keep it a *Failure up to the face, since a nil
// *Failure in an error is not nil.
type Failure struct {
	Class      string
	Msg        string // one sentence, lower case, no final stop; never an argument's free text
	Hint       Hint   // the next step the caller can take
	Unrecorded bool   // the call's event could not be committed: the answer says recorded: false
}

// Fail makes a failure; the parts are its hint.
func Fail(class, msg string, hint ...Part) *Failure {
	return &Failure{Class: class, Msg: msg, Hint: hint}
}

func (f *Failure) Error() string { return f.Msg }

// Status is the word of the activity log: ok for nil, rpc_err when no tool was reached, else tool_err.
func (f *Failure) Status() string {
	switch {
	case f == nil:
		return "ok"
	case f.Class == ClassProtocol:
		return "rpc_err"
	}
	return "tool_err"
}

// JSON is the answer as one compact object with keys in the documented order; next is the hint in the form of the caller's face.
func (f *Failure) JSON(next string) []byte {
	reply := struct {
		OK       bool   `json:"ok"`
		Error    string `json:"error"`
		Class    string `json:"error_class"`
		Recorded *bool  `json:"recorded,omitempty"`
		Next     string `json:"_next_action"`
	}{Error: f.Msg, Class: f.Class, Next: next}
	if f.Unrecorded {
		reply.Recorded = new(bool)
	}
	return compact(reply)
}

// ExitCode is what the command line ends with: 0 done, 2 wrong usage, 3 drift or findings, 1 any other failure.
func ExitCode(f *Failure) int {
	switch {
	case f == nil:
		return 0
	case f.Class == ClassInvalidInput:
		return 2
	case f.Class == ClassDrift:
		return 3
	}
	return 1
}

// compact encodes plain data (no channel, function or NaN inside).
func compact(v any) []byte {
	out, err := render.JSON(v)
	if err != nil {
		panic("tools: not JSON data: " + err.Error())
	}
	return out
}
