package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"

	"forgeplan/internal/artifact"
	"forgeplan/internal/atomicfile"
	"forgeplan/internal/event"
	"forgeplan/internal/render"
	"forgeplan/journal"
	"forgeplan/projection"

	"github.com/oklog/ulid/v2"
)

// Progress is told how far a long piece of work has come. It may be nil.
type Progress func(stage string, done, total uint64)

func (p Progress) at(stage string, done, total uint64) {
	if p != nil {
		p(stage, done, total)
	}
}

// Report is the outcome of Replay and Verify.
type Report struct {
	Changes   uint64    // events of lane changes
	Calls     uint64    // events of lane calls
	Artifacts int       // live artifacts
	Relations int       // links between them
	Written   int       // Markdown files written by Replay
	Pending   []string  // files changed by hand, not taken in yet
	Missing   []string  // files that are gone
	Findings  []Finding // what stands in files and could not be taken in
	Behind    []string  // files that the next call brings up to the journal
	Failed    []string  // files that Replay could not write, and why
	LogLines  int       // log lines written by Replay
	StateHash [32]byte
	Found     Intake // hand edits that Replay took in first
	Newer     int    // events that this program cannot read
	Drift     *projection.Drift
	Tables    string // "ready", "rebuilt", "stale" or "newer"
}

// Replay takes hand edits in, folds all tables anew from the journal and writes every Markdown
// file and log line that is missing or behind. It holds the lock throughout.
// Running it again changes no byte. A file that cannot be taken in is left
// alone and listed.
func (w *Workspace) Replay(ctx context.Context, progress Progress) (Report, error) {
	var rep Report
	pre := w.scan()
	err := w.hold(ctx, false, func(j *journal.Journal) error {
		if err := j.View(func(tx *journal.Tx) error {
			if err := tx.Verify(ctx, func(done, total uint64) { progress.at("check chains", done, total) }); err != nil {
				return err
			}
			return verifyContents(ctx, tx, progress)
		}); err != nil {
			return err
		}
		found, err := w.syncFirst(ctx, j, Request{Look: Look{All: true}}, pre)
		if err != nil {
			return err
		}
		rep.Found = found
		err = j.Update(func(tx *journal.Tx) error {
			state, err := tablesReady(tx)
			if err != nil {
				return err
			}
			if state == ahead {
				return fmt.Errorf("%w: the tables are of a newer version", ErrNewer)
			}
			folded, err := w.fold(ctx, tx, &rep, progress)
			if err != nil {
				return err
			}
			if state == ready && folded.Compare(func(name string) projection.Table { return tx.Table(name) }) == nil {
				rep.Tables = "ready"
				return nil
			}
			rep.Tables = "rebuilt"
			return storeTables(tx, folded)
		})
		if err != nil {
			return err
		}
		return j.View(func(tx *journal.Tx) error {
			base, _, err := tables(tx)
			if err != nil {
				return err
			}
			if err := w.replayFiles(ctx, tx, base, &rep, progress); err != nil {
				return err
			}
			n, err := w.replayLogs(ctx, tx, progress)
			rep.LogLines = n
			return err
		})
	})
	return rep, err
}

// fold replays `changes` into memory and fills in the report's counts.
func (w *Workspace) fold(ctx context.Context, tx *journal.Tx, rep *Report, progress Progress) (*projection.State, error) {
	rep.Changes, rep.Calls = tx.Head(journal.Changes).Count, tx.Head(journal.Calls).Count
	done := uint64(0)
	seq := func(yield func(event.Event, error) bool) {
		for e, err := range events(tx, journal.Changes, ulid.ULID{}, ulid.ULID{}) {
			if done++; done%1024 == 0 {
				progress.at("replay", done, rep.Changes)
				if err == nil {
					err = context.Cause(ctx)
				}
			}
			if err == nil && e.Data == nil {
				rep.Newer++
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
	folded, err := projectors.Fold(seq)
	if err != nil {
		return nil, err
	}
	progress.at("replay", rep.Changes, rep.Changes)
	return folded, rep.count(folded.Table)
}

func (rep *Report) count(get func(string) projection.Table) error {
	for _, err := range (projection.Artifacts{Table: get("artifacts")}).Scan() {
		if err != nil {
			return err
		}
		rep.Artifacts++
	}
	for _, err := range (projection.Relations{Table: get("relations")}).All() {
		if err != nil {
			return err
		}
		rep.Relations++
	}
	rep.StateHash = projection.StateHash(get)
	return nil
}

// replayFiles writes what is absent or an older version of ours. A replay may
// write absent files: the person who asks for it asks for just that.
func (w *Workspace) replayFiles(ctx context.Context, tx *journal.Tx, base func(string) projection.Table, rep *Report, progress Progress) error {
	wr := w.writer(tx, base)
	n := uint64(0)
	for a, err := range (projection.Artifacts{Table: base("artifacts")}).Scan() {
		if err != nil {
			return err
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		n++
		progress.at("files", n, uint64(rep.Artifacts))
		before, existed, _ := readFile(w.root, a.Path)
		out, warning := wr.settle(a.UID, true)
		switch {
		case out == asWanted && (!existed || sha256.Sum256(before) != a.Want):
			rep.Written++
		case out == leftAlone:
			rep.Pending = append(rep.Pending, a.Path)
		case out == owed:
			rep.Failed = append(rep.Failed, warning)
		}
	}
	return wr.cache.markWhole(tx.Workspace())
}

// replayLogs makes every day's file hold the line of every call. A file that
// holds nothing but our lines is written anew where it differs; in one with
// lines of others only the missing ones are appended.
func (w *Workspace) replayLogs(ctx context.Context, tx *journal.Tx, progress Progress) (written int, err error) {
	days := map[string]*logFile{}
	total, done := tx.Head(journal.Changes).Count+tx.Head(journal.Calls).Count, uint64(0)
	for r, err := range tx.All(ulid.ULID{}, ulid.ULID{}) {
		if err != nil {
			return written, err
		}
		if done++; done%1024 == 0 {
			progress.at("logs", done, total)
			if err := context.Cause(ctx); err != nil {
				return written, err
			}
		}
		if r.Type != (event.Call{}).EventName() {
			continue
		}
		e, err := decode(r)
		if err != nil {
			return written, err
		}
		c, ok := e.Data.(event.Call)
		if !ok {
			continue
		}
		line, err := logLine(r.ID, r.Wall, c)
		if err != nil {
			return written, err
		}
		day := logDay(c.Start)
		if days[day] == nil {
			days[day] = &logFile{}
		}
		days[day].ids = append(days[day].ids, r.ID)
		days[day].lines = append(days[day].lines, line)
	}
	names := make([]string, 0, len(days))
	for day := range days {
		names = append(names, day)
	}
	sort.Strings(names)
	for _, day := range names {
		n, err := w.replayLog(logName(day), days[day])
		written += n
		if err != nil {
			return written, err
		}
	}
	progress.at("logs", total, total)
	return written, nil
}

type logFile struct {
	ids   []ulid.ULID
	lines [][]byte
}

func (w *Workspace) replayLog(name string, want *logFile) (int, error) {
	full := bytes.Join(want.lines, nil)
	have, err := w.root.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, fmt.Errorf("read %s: %w", name, plain(err))
	}
	if bytes.Equal(have, full) {
		return 0, nil
	}
	there, foreign := map[ulid.ULID]bool{}, false
	for _, line := range strings.SplitAfter(string(have), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if id, ok := loggedCall([]byte(line)); ok {
			there[id] = true
		} else if strings.HasSuffix(line, "\n") || !torn(line, want.lines) {
			foreign = true
		}
	}
	if !foreign {
		if err := w.root.MkdirAll(logsName, 0o700); err != nil {
			return 0, fmt.Errorf("make %s: %w", logsName, plain(err))
		}
		if err := atomicfile.WriteNoSync(w.root, name, full, 0o600); err != nil {
			return 0, fmt.Errorf("write %s: %w", name, plain(err))
		}
		n := 0
		for _, id := range want.ids {
			if !there[id] {
				n++
			}
		}
		return n, nil
	}
	n := 0
	var missing []byte
	for i, id := range want.ids {
		if !there[id] {
			missing = append(missing, want.lines[i]...)
			n++
		}
	}
	if n == 0 {
		return 0, nil
	}
	f, err := w.openLog(name)
	if err != nil {
		return 0, fmt.Errorf("open %s: %w", name, plain(err))
	}
	defer f.Close()
	if _, err := f.Write(missing); err != nil {
		return 0, fmt.Errorf("append to %s: %w", name, plain(err))
	}
	return n, nil
}

// torn reports whether line is the beginning of one of ours.
func torn(line string, lines [][]byte) bool {
	for _, l := range lines {
		if bytes.HasPrefix(l, []byte(line)) {
			return true
		}
	}
	return false
}

// Verify recomputes everything and writes nothing: chains, bodies, kept
// results, and the stored rows against rows folded from nothing. Drift is in
// the report; damage is a *journal.DamageError.
func (w *Workspace) Verify(ctx context.Context, progress Progress) (Report, error) {
	var rep Report
	err := w.hold(ctx, true, func(j *journal.Journal) error {
		return j.View(func(tx *journal.Tx) error {
			if err := tx.Verify(ctx, func(done, total uint64) { progress.at("check chains", done, total) }); err != nil {
				return err
			}
			if err := verifyContents(ctx, tx, progress); err != nil {
				return err
			}
			folded, err := w.fold(ctx, tx, &rep, progress)
			if err != nil {
				return err
			}
			state, err := tablesReady(tx)
			if err != nil {
				return err
			}
			rep.Tables = map[readiness]string{ready: "ready", stale: "stale", ahead: "newer"}[state]
			if state == ready {
				rep.Drift = folded.Compare(func(name string) projection.Table { return tx.Table(name) })
			}
			return w.verifyFiles(folded.Table, &rep)
		})
	})
	return rep, err
}

// verifyContents checks bodies and kept results against the hashes in events.
func verifyContents(ctx context.Context, tx *journal.Tx, progress Progress) error {
	total, done := tx.Head(journal.Changes).Count, uint64(0)
	for r, err := range tx.Records(journal.Changes, ulid.ULID{}, ulid.ULID{}) {
		if err != nil {
			return err
		}
		if done++; done%1024 == 0 {
			progress.at("check bodies", done, total)
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
		e, err := decode(r)
		if err != nil {
			return err
		}
		damaged := func(what string) error {
			return &journal.DamageError{File: journalName, What: fmt.Sprintf("%s of event %s is not what was stored", what, r.ID)}
		}
		switch p := e.Data.(type) {
		case artifact.Created:
			if b, ok := tx.Body(r.ID); !ok || sha256.Sum256(b) != p.Body.SHA {
				return damaged("body")
			}
		case artifact.BodyChanged:
			if b, ok := tx.Body(r.ID); !ok || sha256.Sum256(b) != p.Body.SHA {
				return damaged("body")
			}
		case event.Call:
			if p.ResultSHA != ([32]byte{}) {
				if b, ok := tx.Result(r.ID); !ok || sha256.Sum256(b) != p.ResultSHA {
					return damaged("kept result")
				}
			}
		}
	}
	progress.at("check bodies", total, total)
	return nil
}

func (w *Workspace) verifyFiles(get func(string) projection.Table, rep *Report) error {
	for a, err := range (projection.Artifacts{Table: get("artifacts")}).Scan() {
		if err != nil {
			return err
		}
		src, _, err := (projection.Sources{Table: get("sources")}).Get(a.UID)
		if err != nil {
			return err
		}
		if front, err := render.Parse(src.Head); err == nil {
			rep.Findings = append(rep.Findings, oddities(a.Path, front, a)...)
		}
		data, exists, err := readFile(w.root, a.Path)
		switch {
		case err == nil && exists && sha256.Sum256(data) == a.Want:
		case err == nil && exists:
			old, werr := (projection.Wants{Table: get("wants")}).Has(a.UID, sha256.Sum256(data))
			if werr != nil {
				return werr
			}
			if old {
				rep.Behind = append(rep.Behind, a.Path)
			} else {
				rep.Pending = append(rep.Pending, a.Path)
			}
		case err != nil:
			rep.Pending = append(rep.Pending, a.Path)
		case !exists:
			rep.Missing = append(rep.Missing, a.Path)
		}
	}
	return nil
}
