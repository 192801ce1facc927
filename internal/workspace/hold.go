package workspace

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"
	"forgeplan/internal/filelock"
	"forgeplan/journal"
	"forgeplan/projection"
	"forgeplan/receipts"

	"github.com/oklog/ulid/v2"
	"github.com/vmihailenco/msgpack/v5"
)

// catalog knows every event this program can read and write.
var catalog = mustCatalog()

func mustCatalog() *event.Catalog {
	c, err := event.NewCatalog(event.Events, artifact.Events, receipts.Events)
	if err != nil {
		panic(err) // a name listed twice: a programming mistake, seen at once
	}
	return c
}

// projectors are all folds whose tables stand beside the lanes.
var projectors = append(projection.All[:len(projection.All):len(projection.All)], receipts.Projector{})

// lock takes the kernel lock of the workspace. It blocks for at most the
// configured lock_wait, then fails with a *filelock.BusyError.
func (w *Workspace) lock(ctx context.Context) (release func(), err error) {
	return filelock.For(w.path(lockName)).Acquire(ctx, w.conf.LockWait, filelock.Holder{
		PID: os.Getpid(), Command: w.env.Command, Since: w.env.now().UTC(),
	})
}

// hold runs fn with the lock taken and the journal open. Everything that
// touches the journal or the files of the workspace happens in here.
func (w *Workspace) hold(ctx context.Context, readOnly bool, fn func(*journal.Journal) error) error {
	if err := w.journalState(); err != nil {
		return err
	}
	release, err := w.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	j, err := journal.Open(w.path(journalName), journal.Options{ReadOnly: readOnly})
	if err != nil {
		return err
	}
	if err := fn(j); err != nil {
		j.Close()
		return err
	}
	if err := j.Close(); err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}

// decode turns a stored record into an event. An event this program does not
// know comes back with nil Data: folds mark its subject and go on.
func decode(r journal.Record) (event.Event, error) {
	e := event.Event{ID: r.ID, Run: r.Run, Subject: r.Subject, At: r.Wall, Name: r.Type, Version: r.Version}
	p, err := catalog.Decode(r.Type, r.Version, r.Payload)
	switch {
	case errors.Is(err, event.ErrUnknown):
		return e, nil
	case err != nil:
		return e, &journal.DamageError{File: journalName, What: fmt.Sprintf("event %s (%s): %v", r.ID, r.Type, err)}
	}
	e.Data = p
	return e, nil
}

// events reads one lane as events.
func events(tx *journal.Tx, l journal.Lane, after, through ulid.ULID) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for r, err := range tx.Records(l, after, through) {
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			e, err := decode(r)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// tableState is what meta says of the stored tables: their versions, and the
// head of `changes` that their rows stand at.
type tableState struct {
	//lint:ignore U1000 the codec finds it by its name
	_msgpack struct{} `msgpack:",as_array"`
	Tables   []tableVersion
	Head     []byte
}

type tableVersion struct {
	//lint:ignore U1000 the codec finds it by its name
	_msgpack struct{} `msgpack:",as_array"`
	Name     string
	Version  int
}

const metaTables = "tables"

func currentTables(head ulid.ULID) tableState {
	s := tableState{Head: head.Bytes()}
	for _, p := range projectors {
		name, version := p.Ident()
		s.Tables = append(s.Tables, tableVersion{Name: name, Version: version})
	}
	return s
}

// readiness of the stored tables.
type readiness int

const (
	ready readiness = iota // as this program writes them, at the head
	stale                  // older, missing or behind: to be rebuilt
	ahead                  // written by a newer program: left alone
)

func tablesReady(tx *journal.Tx) (readiness, error) {
	raw := tx.Meta(metaTables)
	if raw == nil {
		return stale, nil
	}
	var s tableState
	if err := msgpack.Unmarshal(raw, &s); err != nil {
		return stale, nil // unreadable meta of a derived thing: rebuild it
	}
	stored := map[string]int{}
	for _, t := range s.Tables {
		stored[t.Name] = t.Version
	}
	state := ready
	if string(s.Head) != string(tx.Head(journal.Changes).ID.Bytes()) || len(stored) != len(projectors) {
		state = stale
	}
	for _, p := range projectors {
		name, version := p.Ident()
		switch v := stored[name]; {
		case v > version:
			return ahead, nil
		case v < version:
			state = stale
		}
	}
	return state, nil
}

func putTableState(tx *journal.Tx) error {
	raw, err := msgpack.Marshal(currentTables(tx.Head(journal.Changes).ID))
	if err != nil {
		return fmt.Errorf("encode table state: %w", err)
	}
	return tx.PutMeta(metaTables, raw)
}

// tables gives the tables a call works on: the stored ones, or, where these
// cannot be used as they are, ones folded in memory.
func tables(tx *journal.Tx) (get func(name string) projection.Table, state readiness, err error) {
	state, err = tablesReady(tx)
	if err != nil {
		return nil, 0, err
	}
	if state == ready {
		return func(name string) projection.Table { return tx.Table(name) }, state, nil
	}
	folded, err := projectors.Fold(events(tx, journal.Changes, ulid.ULID{}, ulid.ULID{}))
	if err != nil {
		return nil, 0, err
	}
	return folded.Table, state, nil
}

// rebuildStored folds the stored tables anew inside tx.
func rebuildStored(tx *journal.Tx) error {
	folded, err := projectors.Fold(events(tx, journal.Changes, ulid.ULID{}, ulid.ULID{}))
	if err != nil {
		return err
	}
	return storeTables(tx, folded)
}

// storeTables writes the rows that differ from the folded ones.
func storeTables(tx *journal.Tx, folded *projection.State) error {
	if err := folded.Store(func(name string) projection.Table { return tx.Table(name) }); err != nil {
		return err
	}
	return putTableState(tx)
}

// JournalFormat is the version of the journal's format that this program
// writes.
const JournalFormat = journal.Format
