package tools

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"forgeplan/internal/artifact"
	"forgeplan/internal/workspace"
	"forgeplan/journal"

	"github.com/oklog/ulid/v2"
)

// kept is what is stored under an idempotency key: the answer, undressed.
type kept struct {
	Value    json.RawMessage `json:"value"`
	Hint     Hint            `json:"hint"`
	Warnings []string        `json:"warnings"`
	Changed  bool            `json:"changed"`
	Call     ulid.ULID       `json:"call"`
}

// mutating runs a mutation as one transaction: the key is looked up, the tool
// decides, versions are compared, files are decided, and the run is committed.
func (in *invocation) mutating(run mutates) Reply {
	ws, err := in.r.env.Open()
	if err != nil {
		return in.refuse(Classify(err))
	}
	defer ws.Close()
	var (
		d       dressed
		failure *Failure
		c       *Run
	)
	done, err := ws.Update(in.ctx, in.request(), func(world *workspace.World) (workspace.Verdict, error) {
		c = in.call(ws)
		c.World, c.seen = world, world.Seen()
		d = dressed{mutation: true, call: world.Call(), dryRun: in.flag("dry_run")}
		v, err := in.decide(c, run, &d)
		if failure = nil; err == nil {
			return v, nil
		}
		if failure = Classify(err); failure.Class == ClassCorrupt || failure.Class == ClassCanceled {
			return workspace.Verdict{}, err
		}
		return workspace.Verdict{Call: in.record(c, failure, "none", len(in.failureBody(failure)))}, nil
	})
	switch {
	case err != nil:
		return in.fail(ws, c, Classify(err))
	case failure != nil:
		return Reply{Body: in.failureBody(failure), Failure: failure}
	}
	// What is known only after the commit goes in now; else the answer is the
	// one whose size was recorded.
	after := append(done.Found.Warn(), done.Warnings...)
	f, files := d.value.(interface{ filed(map[ulid.ULID]bool) })
	if files = files && !d.dryRun; files {
		f.filed(done.Written)
	}
	if files || len(after) > 0 {
		d.warnings = append(d.warnings, after...)
		if d.encoded, err = d.body(in); err != nil {
			return Reply{Body: in.failureBody(Classify(err)), Failure: Classify(err)}
		}
	}
	return Reply{Body: d.encoded, Text: d.text(), Findings: d.findings(), Warnings: d.warnings}
}

// decide is what happens inside the transaction of a mutation.
func (in *invocation) decide(c *Run, run mutates, d *dressed) (workspace.Verdict, error) {
	world := c.World
	key := in.text("idempotency_key")
	var keyHash [32]byte
	if key != "" {
		keyHash = sha256.Sum256([]byte(in.name + "\x00" + key))
		row, bound, err := world.Keys().Get(keyHash)
		if err != nil {
			return workspace.Verdict{}, err
		}
		switch {
		case bound && d.dryRun:
			c.Warn("this idempotency_key is bound to call %s: a real call would answer from it", row.Call)
		case bound && row.ArgsDigest != in.args.Digest:
			return workspace.Verdict{}, Fail(ClassConflict, fmt.Sprintf("this idempotency_key was used by call %s with other arguments", row.Call),
				Say("Use a new key for a new change."))
		case bound:
			return in.replayKept(c, d, row.Call)
		}
	}

	value, err := guarded(func() (any, error) { return run(c, in.args.Values) })
	if err != nil {
		return workspace.Verdict{}, err
	}
	if err := in.checkVersion(c); err != nil {
		return workspace.Verdict{}, err
	}
	if err := world.Seal(); err != nil {
		return workspace.Verdict{}, err
	}
	if s, ok := value.(interface{ Sealed(*workspace.World) error }); ok {
		if err := s.Sealed(world); err != nil {
			return workspace.Verdict{}, err
		}
	}
	d.value, d.hint, d.warnings, d.changed = value, c.hint, c.warnings, world.Changed()
	if d.dryRun { // what the tool would say next is true only of a real call
		d.hint = Hint{Say("Dry run: nothing was changed. To do it, send the same call without dry_run.")}
	}
	if d.encoded, err = d.body(in); err != nil {
		return workspace.Verdict{}, err
	}
	effect := "none"
	switch {
	case d.dryRun:
		effect = "dry_run"
	case d.changed:
		effect = "changed"
	}
	v := workspace.Verdict{Call: in.record(c, nil, effect, len(d.encoded)), Keep: d.changed && !d.dryRun}
	if key != "" && !d.dryRun {
		raw, err := json.Marshal(d.value)
		if err != nil {
			return v, err
		}
		v.Bind = true
		v.Result = compact(kept{Value: raw, Hint: d.hint, Warnings: d.warnings, Changed: d.changed, Call: d.call})
		v.Call.KeyHash, v.Call.ResultLen, v.Call.ResultSHA = keyHash, len(v.Result), sha256.Sum256(v.Result)
	}
	return v, nil
}

// replayKept answers from the kept result of the call that bound the key.
func (in *invocation) replayKept(c *Run, d *dressed, call ulid.ULID) (workspace.Verdict, error) {
	raw, ok := c.World.Result(call)
	if !ok {
		return workspace.Verdict{}, &journal.DamageError{File: "journal.db", What: "kept result of call " + call.String() + " is missing"}
	}
	var k kept
	if err := json.Unmarshal(raw, &k); err != nil {
		return workspace.Verdict{}, fmt.Errorf("read kept result of call %s: %w", call, err)
	}
	value := in.tool.out()
	if err := json.Unmarshal(k.Value, value); err != nil {
		return workspace.Verdict{}, fmt.Errorf("read kept result of call %s: %w", call, err)
	}
	d.value, d.hint, d.warnings, d.changed, d.call, d.replayed = value, k.Hint, k.Warnings, k.Changed, k.Call, true
	var err error
	if d.encoded, err = d.body(in); err != nil {
		return workspace.Verdict{}, err
	}
	v := workspace.Verdict{Call: in.record(c, nil, "replayed", len(d.encoded))}
	if t, ok := value.(interface{ files() []ulid.ULID }); ok {
		v.Confirm = t.files()
	}
	return v, nil
}

// checkVersion holds a call that read version N against what later events did:
// a field that both set is a conflict, anything else is a warning.
func (in *invocation) checkVersion(c *Run) error {
	n, given := in.args.Values["if_version"].(int64)
	if !given || len(c.targets) == 0 {
		return nil
	}
	uid := c.targets[0]
	before, ok := c.World.Before(uid)
	if !ok {
		return nil
	}
	if int(n) > before.Version {
		return Fail(ClassConflict, fmt.Sprintf("%s is at version %d: there is no version %d yet", before.ID, before.Version, n),
			Say("Read it again: "), Call("forgeplan_get", "id", before.ID))
	}
	if int(n) == before.Version {
		return nil
	}
	set := map[string]bool{}
	for _, e := range c.World.Emitted() {
		if e.Subject == uid {
			for _, f := range artifact.Changes(e.Data) {
				set[f] = true
			}
		}
	}
	var other []string
	for _, f := range before.Set {
		if f.Version <= int(n) {
			continue
		}
		if set[f.Field] {
			return Fail(ClassConflict, fmt.Sprintf("%s is at version %d: version %d set `%s` after the version %d that you read",
				before.ID, before.Version, f.Version, f.Field, n),
				Say("Nothing was changed. Read it again: "), Call("forgeplan_get", "id", before.ID))
		}
		other = append(other, f.Field)
	}
	if len(other) > 0 {
		c.Warn("%s changed since version %d (now version %d): %s", before.ID, n, before.Version, strings.Join(other, ", "))
	}
	return nil
}
