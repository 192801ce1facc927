package workspace

import (
	"context"
	"errors"
	"os"
	"time"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"
	"forgeplan/internal/fault"
	"forgeplan/journal"

	"github.com/oklog/ulid/v2"
)

// Request is what a call tells the workspace of itself.
type Request struct {
	Started time.Time // start of the call, for its duration
	Attempt ulid.ULID // names this try of the call
	Look    Look      // files to be seen before it decides
	Dry     bool      // a dry run: hand edits are folded into its overlay and dropped with it
}

// SyncTool is the name that the intake of hand edits is recorded under.
const SyncTool = "forgeplan_sync"

// TakeIn examines the files that look names, emits what people did to them,
// and returns what it found. It is called inside a transaction.
func (w *Workspace) TakeIn(world *World, look Look) (Intake, error) {
	var pre scanned
	if look.All {
		pre = w.scan()
	}
	return w.takeIn(world, look, pre)
}

func (w *Workspace) takeIn(world *World, look Look, pre scanned) (Intake, error) {
	in := w.intake(world)
	if err := in.take(in.candidates(look, pre)); err != nil {
		return in.out, err
	}
	if look.All {
		if err := in.missing(pre.there); err != nil {
			return in.out, err
		}
	}
	world.taken = len(world.drafts)
	// What was taken in has its file decided already: what this call changes
	// goes on top of it.
	for _, uid := range world.touched() {
		if a, live := world.Live(uid); live {
			world.settled[uid] = a
		}
	}
	return in.out, nil
}

// Absent lists the artifacts whose file is gone. Absence by itself deletes
// nothing.
func (w *Workspace) Absent(world *World) (out []artifact.Artifact, err error) {
	for a, err := range world.Artifacts().Scan() {
		if err != nil {
			return nil, err
		}
		if _, err := w.root.Lstat(a.Path); errors.Is(err, os.ErrNotExist) {
			out = append(out, a)
		}
	}
	return out, nil
}

var errNothingNew = errors.New("nothing to take in")

// syncFirst takes hand edits in as a call of their own, before the call that
// made us look and whatever becomes of it, in the same hold.
func (w *Workspace) syncFirst(ctx context.Context, j *journal.Journal, req Request, pre scanned) (found Intake, err error) {
	if req.Look.none() || req.Dry {
		return Intake{}, nil
	}
	look := false
	if err := j.View(func(tx *journal.Tx) error {
		base, _, err := tables(tx)
		if err != nil {
			return err
		}
		w.finishFiles(tx, base)
		world := newWorld(tx, w.env.now(), base, w.conf)
		in := w.intake(world)
		look = len(in.candidates(req.Look, pre)) > 0
		if !look && req.Look.All {
			if err := in.missing(pre.there); err != nil {
				return err
			}
			found = in.out
		}
		return nil
	}); err != nil || !look {
		return found, err
	}
	started := w.env.now()
	branch, commit := gitHead(w.base)
	pending := w.env.take()
	var touched []ulid.ULID
	err = j.Update(func(tx *journal.Tx) error {
		world, late, state, err := w.begin(tx, &pending)
		if err != nil {
			return err
		}
		if found, err = w.takeIn(world, req.Look, pre); err != nil {
			return err
		}
		if !world.Changed() {
			return errNothingNew
		}
		touched = world.touched()
		c := event.Call{Tool: SyncTool, Face: "file", Actor: "file", ActorKind: "file", Program: w.env.Program, Attempt: w.env.Attempt(started),
			Cause: req.Attempt, Start: started.UnixNano(), Status: event.StatusOK, Effect: event.EffectChanged, Branch: branch, Head: commit}
		c.Targets = touched[:min(len(touched), event.MaxRead)]
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := w.append(tx, world, Verdict{Call: c, Keep: true}, started, state); err != nil {
			return err
		}
		return putDirty(tx, append(late, touched...))
	})
	if err != nil {
		w.env.giveBack(pending)
		if errors.Is(err, errNothingNew) {
			return found, nil
		}
		return found, err
	}
	fault.Point("workspace.taken-in")
	return found, j.View(func(tx *journal.Tx) error {
		_, warnings := w.writeFiles(tx, touched, false)
		found.Warnings = append(found.Warnings, warnings...)
		return nil
	})
}
