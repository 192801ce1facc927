package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"
	"forgeplan/internal/fault"
	"forgeplan/journal"
	"forgeplan/projection"

	"github.com/oklog/ulid/v2"
)

// Verdict is what a call has decided: its own record, whether the events of
// its World are to be kept, and the result kept under its idempotency key.
type Verdict struct {
	Call   event.Call
	Keep   bool   // append the World's events; false for a failure, a dry run, or nothing to change
	Bind   bool   // first success under an idempotency key: recorded in `changes` whatever it changed
	Result []byte // kept result, only with Bind

	Confirm []ulid.ULID // artifacts whose file the answer speaks of although the call changes none
}

// Done says what became of a committed call.
type Done struct {
	Call     ulid.ULID
	Found    Intake             // hand edits that were taken in before it
	Warnings []string           // about files that could not be written
	Written  map[ulid.ULID]bool // artifacts of this call whose file now stands as it should
}

const metaDirty = "dirty" // uids (16 bytes each) whose file may lag behind the journal

// Update runs one call as one transaction: in one hold of the lock it takes
// hand edits in, takes the snapshot, lets decide work on it, commits the call's run together with
// the table rows it touches, and then writes the files.
//
// It returns nil only when the run is committed and synced. When decide fails,
// ctx ends before the commit, or the lock is not had in time, nothing was
// written; after journal.ErrSync the outcome is unknown.
func (w *Workspace) Update(ctx context.Context, req Request, decide func(*World) (Verdict, error)) (Done, error) {
	branch, commit := gitHead(w.base)
	var done Done
	var pre scanned
	if req.Look.All {
		pre = w.scan() // before the lock; what is suspect is looked at again under it
	}
	err := w.hold(ctx, false, func(j *journal.Journal) error {
		var touched, confirm []ulid.ULID
		found, err := w.syncFirst(ctx, j, req, pre)
		if err != nil {
			return err
		}
		done.Found = found
		pending := w.env.take()
		err = j.Update(func(tx *journal.Tx) error {
			world, late, state, err := w.begin(tx, &pending)
			if err != nil {
				return err
			}
			if req.Dry {
				if done.Found, err = w.takeIn(world, req.Look, pre); err != nil {
					return err
				}
				world.own = len(world.drafts)
			}
			v, err := decide(world)
			if err != nil {
				return err
			}
			if err := context.Cause(ctx); err != nil {
				return err // the caller went away before the commit
			}
			v.Call.Branch, v.Call.Head = branch, commit
			done.Call = world.call
			if v.Keep {
				touched = world.touched()
			}
			confirm = v.Confirm
			if err := w.append(tx, world, v, req.Started, state); err != nil {
				return err
			}
			return putDirty(tx, append(late, touched...))
		})
		if err != nil {
			w.env.giveBack(pending)
			return err
		}
		fault.Point("workspace.committed")
		return j.View(func(tx *journal.Tx) error {
			done.Written, done.Warnings = w.writeFiles(tx, touched, true)
			again, _ := w.writeFiles(tx, confirm, false)
			for uid, ok := range again {
				done.Written[uid] = ok
			}
			fault.Point("workspace.files-written")
			w.writeLogs(tx)
			return nil
		})
	})
	return done, err
}

// Record appends the event of a call that changed nothing: the second hold of
// a reading tool, or the record of a failure. note gets the ULID of the call
// and the head of `changes` as it stands now.
func (w *Workspace) Record(ctx context.Context, started time.Time, note func(*World) event.Call) (Done, error) {
	return w.Update(ctx, Request{Started: started}, func(world *World) (Verdict, error) {
		return Verdict{Call: note(world)}, nil
	})
}

// begin makes ready what a commit needs: the tables, the calls that wait to be
// recorded, and a World whose events will follow them.
func (w *Workspace) begin(tx *journal.Tx, pending *[]event.Call) (world *World, late []ulid.ULID, state readiness, err error) {
	state, err = tablesReady(tx)
	if err != nil {
		return nil, nil, 0, err
	}
	if state == stale {
		if err := rebuildStored(tx); err != nil {
			return nil, nil, 0, err
		}
		state = ready
	}
	base, _, err := tables(tx)
	if err != nil {
		return nil, nil, 0, err
	}
	late, _ = w.finishFiles(tx, base)
	if err := w.moveLogCursor(tx); err != nil {
		return nil, nil, 0, err
	}

	now := w.env.now()
	id, err := tx.Next(now, w.env.entropy())
	if err != nil {
		return nil, nil, 0, err
	}
	for _, c := range *pending {
		if err := appendCall(tx, journal.Calls, id, now, c); err != nil {
			return nil, nil, 0, err
		}
		id = journal.Successor(id)
	}
	world = newWorld(tx, now, base, w.conf)
	world.call, world.next = id, journal.Successor(id)
	return world, late, state, nil
}

func newWorld(tx *journal.Tx, now time.Time, base func(string) projection.Table, conf Config) *World {
	return &World{
		tx: tx, now: now, base: base, limits: conf, seen: tx.Head(journal.Changes).ID,
		overlays: map[string]*projection.Overlay{}, bodies: map[ulid.ULID][]byte{}, settled: map[ulid.ULID]artifact.Artifact{},
	}
}

// append writes the run: the call's event first, then the events it caused.
func (w *Workspace) append(tx *journal.Tx, world *World, v Verdict, started time.Time, state readiness) error {
	drafts := world.drafts
	if !v.Keep {
		drafts = nil
	}
	lane := journal.Calls
	if len(drafts) > 0 || v.Bind {
		lane = journal.Changes
	}
	// The newest event's wall time lies ahead of the clock: said once, in the
	// run of the call that met it.
	if newest := newestWall(tx); world.now.UnixNano() < newest {
		next := world.next
		if len(drafts) == 0 {
			next = journal.Successor(world.call)
		}
		drafts = append(drafts, draft{event: event.Event{
			ID: next, Run: world.call, At: world.now.UnixNano(), Name: event.ClockStepped{}.EventName(),
			Version: event.ClockStepped{}.EventVersion(), Data: event.ClockStepped{Newest: newest, Now: world.now.UnixNano()},
		}})
	}

	c := v.Call
	c.Seen = orSeen(c.Seen, world.seen)
	c.Events = len(drafts)
	c.Duration = int64(w.env.now().Sub(started))
	if err := noteLogDay(tx, c); err != nil {
		return err
	}
	if err := appendCall(tx, lane, world.call, world.now, c); err != nil {
		return err
	}
	for _, d := range drafts {
		payload, err := catalog.Encode(d.event.Data)
		if err != nil {
			return fmt.Errorf("encode %s: %w", d.event.Name, err)
		}
		if err := tx.Append(lane, journal.Draft{ID: d.event.ID, Type: d.event.Name, Version: d.event.Version, Wall: d.event.At,
			Run: world.call, Subject: d.event.Subject, Payload: payload}); err != nil {
			return err
		}
		if d.body != nil {
			if err := tx.PutBody(d.event.ID, d.body); err != nil {
				return err
			}
		}
	}
	if v.Bind {
		if err := tx.PutResult(world.call, v.Result); err != nil {
			return err
		}
	}
	if lane == journal.Calls || state == ahead {
		return nil
	}
	if !v.Keep {
		world.overlays = map[string]*projection.Overlay{}
	}
	callEvent := event.Event{ID: world.call, Run: world.call, At: world.now.UnixNano(), Name: c.EventName(), Version: c.EventVersion(), Data: c}
	for _, p := range projectors {
		name, _ := p.Ident()
		if err := p.Apply(world.table(name), callEvent); err != nil {
			return err
		}
		if err := world.overlays[name].Flush(tx.Table(name)); err != nil {
			return err
		}
	}
	return putTableState(tx)
}

func orSeen(given, seen ulid.ULID) ulid.ULID {
	if given != (ulid.ULID{}) {
		return given
	}
	return seen
}

// appendCall writes one call event, with the other lane's head in it.
func appendCall(tx *journal.Tx, lane journal.Lane, id ulid.ULID, now time.Time, c event.Call) error {
	other := journal.Changes
	if lane == journal.Changes {
		other = journal.Calls
	}
	c.OtherHead = tx.Head(other).Hash
	payload, err := catalog.Encode(c)
	if err != nil {
		return fmt.Errorf("encode call: %w", err)
	}
	return tx.Append(lane, journal.Draft{ID: id, Type: c.EventName(), Version: c.EventVersion(), Wall: now.UnixNano(), Run: id, Payload: payload})
}

// newestWall is the wall time of the newest event of either lane.
func newestWall(tx *journal.Tx) int64 {
	a, b := tx.Head(journal.Changes), tx.Head(journal.Calls)
	if a.ID.Compare(b.ID) > 0 {
		return a.Wall
	}
	return b.Wall
}

// touched lists the artifacts of this call whose file has to be written.
func (w *World) touched() []ulid.ULID { return subjects(w.drafts) }

// subjects are the artifacts that events are about, each once.
func subjects(drafts []draft) []ulid.ULID {
	var out []ulid.ULID
	seen := map[ulid.ULID]bool{}
	for _, d := range drafts {
		if uid := d.event.Subject; uid != (ulid.ULID{}) && !seen[uid] {
			seen[uid] = true
			out = append(out, uid)
		}
	}
	return out
}

func putDirty(tx *journal.Tx, uids []ulid.ULID) error {
	var raw []byte
	seen := map[ulid.ULID]bool{}
	for _, u := range uids {
		if !seen[u] {
			seen[u] = true
			raw = append(raw, u[:]...)
		}
	}
	if string(raw) == string(tx.Meta(metaDirty)) {
		return nil
	}
	return tx.PutMeta(metaDirty, raw)
}

func dirty(tx *journal.Tx) []ulid.ULID {
	raw := tx.Meta(metaDirty)
	var out []ulid.ULID
	for ; len(raw) >= 16; raw = raw[16:] {
		out = append(out, ulid.ULID(raw[:16]))
	}
	return out
}

// View lets fn read a snapshot in one hold, after the hand edits that look
// names were taken in. Files and log lines that a killed process still owed
// are written first. fn must copy what it needs: the World ends with it.
func (w *Workspace) View(ctx context.Context, req Request, fn func(*World) error) (found Intake, err error) {
	var pre scanned
	if req.Look.All {
		pre = w.scan()
	}
	read := func(j *journal.Journal) error {
		if found, err = w.syncFirst(ctx, j, req, pre); err != nil {
			return err
		}
		return j.View(func(tx *journal.Tx) error {
			base, _, err := tables(tx)
			if err != nil {
				return err
			}
			_, warnings := w.finishFiles(tx, base)
			found.Warnings = append(found.Warnings, warnings...)
			w.writeLogs(tx)
			return fn(newWorld(tx, w.env.now(), base, w.conf))
		})
	}
	if !req.Look.none() {
		err = w.hold(ctx, false, read)
		if !errors.Is(err, os.ErrPermission) && !errors.Is(err, syscall.EROFS) {
			return found, err
		}
		req.Look = Look{} // a workspace that cannot be written to can be read
	}
	return found, w.hold(ctx, true, read)
}

// scanChunk bounds how many events one hold of a lane scan reads.
const scanChunk = 20000

// Calls scans the calls of both lanes in commit order, from the first whose
// record may be as new as since, up to the head that it met first. It takes
// the lock anew for every 20,000 events, so that nobody waits for it. wall is
// the time of the commit. fn returns false to end the scan.
func (w *Workspace) Calls(ctx context.Context, since time.Time, fn func(id ulid.ULID, wall time.Time, c event.Call) bool) error {
	var after, through ulid.ULID
	if ms := since.UnixMilli(); ms > 0 {
		// The id's time is never below the wall time, so seeking by it
		// cannot miss: start just before the first id of that millisecond.
		_ = after.SetTime(uint64(ms - 1))
		_ = after.SetEntropy([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255})
	}
	for more := true; more; {
		more = false
		err := w.hold(ctx, true, func(j *journal.Journal) error {
			return j.View(func(tx *journal.Tx) error {
				if through == (ulid.ULID{}) {
					through = tx.Head(journal.Changes).ID
					if calls := tx.Head(journal.Calls).ID; calls.Compare(through) > 0 {
						through = calls
					}
				}
				n := 0
				for r, err := range tx.All(after, through) {
					if err != nil {
						return err
					}
					if n++; n > scanChunk {
						more = true
						return nil
					}
					after = r.ID
					if r.Type != (event.Call{}).EventName() || r.Wall < since.UnixNano() {
						continue
					}
					e, err := decode(r)
					if err != nil {
						return err
					}
					if c, ok := e.Data.(event.Call); ok && !fn(r.ID, time.Unix(0, r.Wall).UTC(), c) {
						more = false
						return nil
					}
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
