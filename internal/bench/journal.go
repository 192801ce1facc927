package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"iter"
	"time"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"
	"forgeplan/journal"
	"forgeplan/projection"

	"github.com/oklog/ulid/v2"
)

// appendOne appends one event of the length of a usual one.
func appendOne(tx *journal.Tx) error {
	id, err := tx.Next(time.Now(), rand.Reader)
	if err != nil {
		return err
	}
	return tx.Append(journal.Changes, journal.Draft{
		ID: id, Type: "artifact.created", Version: 1, Wall: time.Now().UnixNano(), Run: id, Subject: id, Payload: payload,
	})
}

// payload is a map of one text, as msgpack: with its envelope as long as record.
var payload = append([]byte{0x81, 0xa1, 'p', 0xd9, 230}, bytes.Repeat([]byte("p"), 230)...)

func (l *lab) newJournal(name string) (path string, err error) {
	ws, err := ulid.New(ulid.Timestamp(time.Now()), rand.Reader)
	if err != nil {
		return "", err
	}
	path = l.path(name)
	return path, journal.Create(path, ws, nil)
}

// appends: one durable event in a journal that stays open.
func appends(l *lab) (metric, error) {
	path, err := l.newJournal("append.db")
	if err != nil {
		return metric{}, err
	}
	j, err := journal.Open(path, journal.Options{})
	if err != nil {
		return metric{}, err
	}
	l.closers = append(l.closers, j.Close)
	commit, err := l.rawCommit()
	if err != nil {
		return metric{}, err
	}
	write, err := l.rawAppend()
	if err != nil {
		return metric{}, err
	}
	return metric{"Append", func() error { return j.Update(appendOne) }, []bound{
		{"raw bbolt commit", commit, 1.25},
		{"raw write + sync", write, 0},
	}}, nil
}

// openAppendClose: one durable event in a journal that is opened for it, as every
// call does.
func openAppendClose(l *lab) (metric, error) {
	path, err := l.newJournal("open.db")
	if err != nil {
		return metric{}, err
	}
	write, err := l.rawAppend()
	if err != nil {
		return metric{}, err
	}
	ours := func() error {
		j, err := journal.Open(path, journal.Options{})
		if err != nil {
			return err
		}
		if err := j.Update(appendOne); err != nil {
			j.Close()
			return err
		}
		return j.Close()
	}
	return metric{"OpenAppendClose", ours, []bound{
		{"lock, raw bbolt open, commit, close", l.rawHold("raw-open"), 1.25},
		{"raw write + sync", write, 0},
	}}, nil
}

// history are n events of n/10 artifacts, each with its calls: created, then
// retitled, tagged, rewritten and linked.
func history(n int) iter.Seq2[ulid.ULID, event.Payload] {
	subject := func(i int) ulid.ULID { return ulid.ULID{0: 1, 13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)} }
	call := event.Call{
		Tool: "forgeplan_update", Face: "mcp", Actor: "somebody", ActorKind: "agent", Session: "01J00000000000000000000000", Client: "client/1.0",
		Program: "v0.1.0", Attempt: subject(1), Start: 1, ArgsDigest: [32]byte{1}, Args: []event.ArgSize{{Name: "id", Size: 7}, {Name: "title", Size: 40}},
		Status: "ok", Effect: "changed", Duration: 1e6, BytesIn: 100, BytesOut: 300, TokensIn: 25, TokensOut: 75, Seen: subject(2), Events: 2,
	}
	return func(yield func(ulid.ULID, event.Payload) bool) {
		for i := range n / 10 {
			uid := subject(i)
			source := func(v byte) artifact.Source {
				return artifact.Source{
					Path: fmt.Sprintf("prds/PRD-%03d-some-title.md", i+1), Head: bytes.Repeat([]byte("key: value\n"), 20),
					Want: [32]byte{byte(i), byte(i >> 8), byte(i >> 16), v},
				}
			}
			for _, p := range []event.Payload{
				call,
				artifact.Created{
					ID: fmt.Sprintf("PRD-%03d", i+1), Number: i + 1, Kind: "prd", Status: "draft", Title: "Some title of an artifact",
					Depth: "standard", Author: "somebody", Tags: []string{"backend", "source=code"}, Source: source(1),
				},
				call,
				artifact.TitleChanged{Title: "Another title of an artifact", Was: "Some title of an artifact"},
				artifact.Tagged{Tags: []string{"reviewed"}},
				artifact.SourceChanged{Source: source(2)},
				call,
				artifact.BodyChanged{Body: artifact.BodyFacts{Len: 1000, SHA: [32]byte{1}}},
				artifact.RelationAdded{Relation: "based_on", Target: fmt.Sprintf("PRD-%03d", i/2+1), TargetUID: subject(i / 2)},
				artifact.SourceChanged{Source: source(3)},
			} {
				of := uid
				if _, ok := p.(event.Call); ok {
					of = ulid.ULID{}
				}
				if !yield(of, p) {
					return
				}
			}
		}
	}
}

// replays: all events of a journal, read, decoded and folded into all tables.
func replays(l *lab) (metric, error) {
	catalog, err := event.NewCatalog(event.Events, artifact.Events)
	if err != nil {
		return metric{}, err
	}
	path, err := l.newJournal("replay.db")
	if err != nil {
		return metric{}, err
	}
	if err := l.fill(path, catalog); err != nil {
		return metric{}, err
	}
	replay := func() error {
		j, err := journal.Open(path, journal.Options{ReadOnly: true})
		if err != nil {
			return err
		}
		defer j.Close()
		return j.View(func(tx *journal.Tx) error {
			_, err := projection.All.Fold(decoded(tx, catalog))
			return err
		})
	}
	scan := func() error {
		rows := map[string]int{}
		n, err := rawScan(path, func(v []byte) error {
			subject, err := subjectOf(v)
			rows[string(subject)]++
			return err
		}, rawBucket)
		if err == nil && n != l.events {
			err = fmt.Errorf("%d events, want %d", n, l.events)
		}
		return err
	}
	decode := func() error {
		j, err := journal.Open(path, journal.Options{ReadOnly: true})
		if err != nil {
			return err
		}
		defer j.Close()
		return j.View(func(tx *journal.Tx) error {
			for _, err := range decoded(tx, catalog) {
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return metric{"Replay/100k", replay, []bound{
		{"bbolt cursor, walk over every field, count by artifact", scan, 1 / 0.35},
		{"our own scan + decode, no folds", decode, 0},
	}}, nil
}

func (l *lab) fill(path string, catalog *event.Catalog) error {
	j, err := journal.Open(path, journal.Options{})
	if err != nil {
		return err
	}
	defer j.Close()
	return j.Update(func(tx *journal.Tx) error {
		id, err := tx.Next(time.Now(), rand.Reader)
		if err != nil {
			return err
		}
		for subject, p := range history(l.events) {
			data, err := catalog.Encode(p)
			if err != nil {
				return err
			}
			if err := tx.Append(journal.Changes, journal.Draft{
				ID: id, Type: p.EventName(), Version: p.EventVersion(), Wall: 1, Run: id, Subject: subject, Payload: data,
			}); err != nil {
				return err
			}
			id = journal.Successor(id)
		}
		return nil
	})
}

func decoded(tx *journal.Tx, catalog *event.Catalog) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for r, err := range tx.Records(journal.Changes, ulid.ULID{}, ulid.ULID{}) {
			e := event.Event{ID: r.ID, Run: r.Run, Subject: r.Subject, At: r.Wall, Name: r.Type, Version: r.Version}
			if err == nil {
				e.Data, err = catalog.Decode(r.Type, r.Version, r.Payload)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
