package event

import "github.com/oklog/ulid/v2"

// Values of Call.Status.
const (
	StatusOK      = "ok"
	StatusToolErr = "tool_err" // the tool refused or failed
	StatusRPCErr  = "rpc_err"  // it never reached a tool
)

// Values of Call.Effect.
const (
	EffectChanged  = "changed"
	EffectNone     = "none"
	EffectDryRun   = "dry_run"
	EffectReplayed = "replayed" // the kept result of an earlier call
)

// MaxRead is how many uids Call.Read holds; ReadCount goes on counting.
const MaxRead = 200

// Call is one call of a tool: who asked for what, and what came of it. It holds
// names and sizes of arguments, never their values.
type Call struct {
	Tool      string    `msgpack:"tool,omitempty"`
	Face      string    `msgpack:"face,omitempty"` // mcp, cli
	Actor     string    `msgpack:"actor,omitempty"`
	ActorKind string    `msgpack:"actor_kind,omitempty"` // human, agent, file
	Session   string    `msgpack:"session,omitempty"`
	Client    string    `msgpack:"client,omitempty"`  // name/version
	Program   string    `msgpack:"program,omitempty"` // version of forgeplan
	Attempt   ulid.ULID `msgpack:"attempt,omitempty"` // made once, before the lock
	Start     int64     `msgpack:"start,omitempty"`   // wall ns
	// Cause is the call that this one answers to: the one that undo or redo
	// reverses; for a sync, the attempt of the call that made it look.
	Cause      ulid.ULID   `msgpack:"cause,omitempty"`
	KeyHash    Hash        `msgpack:"key_hash,omitempty"`   // of tool and idempotency key
	ResultLen  int         `msgpack:"result_len,omitempty"` // bytes of the kept result
	ResultSHA  Hash        `msgpack:"result_sha,omitempty"`
	Branch     string      `msgpack:"branch,omitempty"`
	Head       string      `msgpack:"head,omitempty"`       // commit of the repository
	OtherHead  Hash        `msgpack:"other_head,omitempty"` // head of the other lane at the append
	ArgsDigest Hash        `msgpack:"args_digest,omitempty"`
	Args       []ArgSize   `msgpack:"args,omitempty"`
	Targets    []ulid.ULID `msgpack:"targets,omitempty"` // uids of artifacts that were found
	Status     string      `msgpack:"status,omitempty"`
	ErrorClass string      `msgpack:"error_class,omitempty"`
	Effect     string      `msgpack:"effect,omitempty"`
	Duration   int64       `msgpack:"duration,omitempty"` // ns, until the commit begins
	BytesIn    int         `msgpack:"bytes_in,omitempty"`
	BytesOut   int         `msgpack:"bytes_out,omitempty"`
	TokensIn   int         `msgpack:"tokens_in,omitempty"` // estimated
	TokensOut  int         `msgpack:"tokens_out,omitempty"`
	Seen       ulid.ULID   `msgpack:"seen,omitempty"`       // head of changes it was answered at
	Read       []ulid.ULID `msgpack:"read,omitempty"`       // uids returned, at most MaxRead
	ReadCount  int         `msgpack:"read_count,omitempty"` // uids returned
	Events     int         `msgpack:"events,omitempty"`     // that it caused
}

// ArgSize is the name of an argument and the bytes of its value.
type ArgSize struct {
	Name string `msgpack:"name,omitempty"`
	Size int    `msgpack:"size,omitempty"`
}

func (Call) EventName() string { return "call.recorded" }
func (Call) EventVersion() int { return 1 }
