package render

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"time"

	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

// TimeLayout is how times are printed: UTC, fixed milliseconds, so that the
// strings sort as the times do.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Time prints wall nanoseconds in TimeLayout.
func Time(ns int64) string { return time.Unix(0, ns).UTC().Format(TimeLayout) }

// Entry is one call as the activity log shows it: the four keys everybody
// knows, then what it did and, where it failed, why.
type Entry struct {
	TS         string  `json:"ts"` // start of the call
	Tool       string  `json:"tool"`
	Status     string  `json:"status"` // ok, tool_err, rpc_err
	DurationMS int64   `json:"duration_ms"`
	Effect     string  `json:"effect"`      // changed, none, dry_run, replayed
	ArgsDigest string  `json:"args_digest"` // first 12 hex digits
	ErrorClass string  `json:"error_class,omitempty"`
	Detail     *Detail `json:"-"`
}

// Detail is the rest of the call's event, but for the list of what it read.
type Detail struct {
	Call       string    `json:"call"`
	Recorded   string    `json:"recorded_at"`
	Face       string    `json:"face"`
	Actor      string    `json:"actor"`
	ActorKind  string    `json:"actor_kind"`
	Session    string    `json:"session,omitempty"`
	Client     string    `json:"client,omitempty"`
	Program    string    `json:"program"`
	Attempt    string    `json:"attempt"`
	Cause      string    `json:"cause,omitempty"`
	KeyHash    string    `json:"key_hash,omitempty"`
	Branch     string    `json:"branch,omitempty"`
	Head       string    `json:"head,omitempty"`
	Digest     string    `json:"args_sha256"`
	Args       []ArgSize `json:"args"`
	Targets    []string  `json:"targets"`
	BytesIn    int64     `json:"bytes_in"`
	BytesOut   int64     `json:"bytes_out"`
	TokensIn   int64     `json:"estimated_tokens_in"`
	TokensOut  int64     `json:"estimated_tokens_out"`
	Seen       string    `json:"seen,omitempty"`
	ReadCount  int       `json:"read_count"`
	EventCount int       `json:"events"`
}

// ArgSize names an argument and the bytes of its value; never the value.
type ArgSize struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
}

// NewEntry shows a recorded call. wall is the time of its commit.
func NewEntry(id ulid.ULID, wall int64, c event.Call, detail bool) Entry {
	e := Entry{TS: Time(c.Start), Tool: c.Tool, Status: c.Status, DurationMS: c.Duration / int64(time.Millisecond),
		Effect: c.Effect, ArgsDigest: hex.EncodeToString(c.ArgsDigest[:6]), ErrorClass: c.ErrorClass}
	if !detail {
		return e
	}
	d := &Detail{Call: id.String(), Recorded: Time(wall), Face: c.Face, Actor: c.Actor, ActorKind: c.ActorKind, Session: c.Session,
		Client: c.Client, Program: c.Program, Attempt: c.Attempt.String(), Branch: c.Branch, Head: c.Head,
		Cause: ref(c.Cause), Seen: ref(c.Seen),
		Digest: hex.EncodeToString(c.ArgsDigest[:]), BytesIn: int64(c.BytesIn), BytesOut: int64(c.BytesOut),
		TokensIn: int64(c.TokensIn), TokensOut: int64(c.TokensOut), ReadCount: c.ReadCount, EventCount: c.Events,
		Args: []ArgSize{}, Targets: []string{}}
	if c.KeyHash != ([32]byte{}) {
		d.KeyHash = hex.EncodeToString(c.KeyHash[:])
	}
	for _, a := range c.Args {
		d.Args = append(d.Args, ArgSize{Name: a.Name, Bytes: a.Size})
	}
	for _, t := range c.Targets {
		d.Targets = append(d.Targets, ulid.ULID(t).String())
	}
	e.Detail = d
	return e
}

func ref(u ulid.ULID) string {
	if u == (ulid.ULID{}) {
		return ""
	}
	return u.String()
}

// MarshalJSON puts the detail's keys behind the entry's own.
func (e Entry) MarshalJSON() ([]byte, error) {
	type flat Entry
	out, err := JSON(flat(e))
	if err != nil || e.Detail == nil {
		return out, err
	}
	more, err := JSON(e.Detail)
	if err != nil {
		return nil, err
	}
	return append(append(out[:len(out)-1], ','), more[1:]...), nil
}

// JSON is compact JSON in literal UTF-8: without HTML escapes and without a
// final newline.
func JSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}
