package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"go.etcd.io/bbolt"
)

// Each benchmark stands beside a yardstick that does the least the disk or the
// processor must do for the same work: read the ratio, not the time.

var (
	benchPayload = payload(strings.Repeat("p", 200))
	benchRecord  = Record{
		Draft: Draft{
			ID: sample.ID, Type: "artifact.created", Version: 1, Wall: sample.Wall,
			Run: sample.Run, Subject: sample.Subject, Payload: benchPayload,
		},
		Format: Format, Lane: Changes,
	}
)

// rawAppend is write and sync of the same bytes at the end of a file.
func rawAppend(b *testing.B) {
	stored, err := EncodeRecord(nil, benchRecord)
	must(b, err)
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	must(b, err)
	defer f.Close()
	for b.Loop() {
		if _, err := f.Write(stored); err != nil {
			b.Fatal(err)
		}
		must(b, f.Sync())
	}
}

// rawBolt is one Put a transaction with the options of the journal.
func rawBolt(b *testing.B, reopen bool) {
	path := filepath.Join(b.TempDir(), "raw.db")
	open := func() *bbolt.DB {
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: pageSize, NoStatistics: true})
		must(b, err)
		db.AllocSize = allocSize
		return db
	}
	stored, err := EncodeRecord(nil, benchRecord)
	must(b, err)
	db, id := open(), benchRecord.ID
	defer func() { db.Close() }()
	for b.Loop() {
		if reopen {
			must(b, db.Close())
			db = open()
		}
		must(b, db.Update(func(tx *bbolt.Tx) error {
			bk, err := tx.CreateBucketIfNotExists([]byte("changes"))
			if err != nil {
				return err
			}
			bk.FillPercent = 1
			id = Successor(id)
			return bk.Put(bytes.Clone(id[:]), stored)
		}))
	}
}

func appendOne(tx *Tx) error {
	id, err := tx.Next(epoch, fixedEntropy(1))
	if err != nil {
		return err
	}
	d := benchRecord.Draft
	d.ID = id
	return tx.Append(Changes, d)
}

func BenchmarkAppend(b *testing.B) {
	b.Run("raw-write-sync", rawAppend)
	b.Run("raw-bbolt", func(b *testing.B) { rawBolt(b, false) })
	b.Run("journal", func(b *testing.B) {
		j, err := Open(newFile(b), Options{})
		must(b, err)
		defer j.Close()
		for b.Loop() {
			must(b, j.Update(appendOne))
		}
	})
	b.Run("journal-100-a-commit", func(b *testing.B) {
		j, err := Open(newFile(b), Options{})
		must(b, err)
		defer j.Close()
		n := 0
		for b.Loop() {
			must(b, j.Update(func(tx *Tx) error {
				for range 100 {
					if err := appendOne(tx); err != nil {
						return err
					}
				}
				return nil
			}))
			n += 100
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
	})
}

func BenchmarkOpenAppendClose(b *testing.B) {
	b.Run("raw-write-sync", rawAppend)
	b.Run("raw-bbolt", func(b *testing.B) { rawBolt(b, true) })
	b.Run("journal", func(b *testing.B) {
		path := newFile(b)
		for b.Loop() {
			must(b, update(path, appendOne))
		}
	})
}

// benchFile holds n events, one in four of them a call, 100 a transaction.
func benchFile(b *testing.B, n int) string {
	b.Helper()
	path := newFile(b)
	j, err := Open(path, Options{})
	must(b, err)
	defer j.Close()
	for i := 0; i < n; i += 100 {
		must(b, j.Update(func(tx *Tx) error {
			for k := range 100 {
				id, err := tx.Next(epoch, fixedEntropy(1))
				if err != nil {
					return err
				}
				d, l := benchRecord.Draft, Changes
				if d.ID = id; k%4 == 3 {
					l = Calls
				}
				if err := tx.Append(l, d); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return path
}

func perEvent(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
}

const benchEvents = 100_000

// BenchmarkScan reads every event's envelope; the yardsticks move the cursors and
// touch nothing, and copy every value.
func BenchmarkScan(b *testing.B) {
	path := benchFile(b, benchEvents)
	raw := func(touch func(v []byte)) func(b *testing.B) {
		return func(b *testing.B) {
			j, err := Open(path, Options{ReadOnly: true})
			must(b, err)
			defer j.Close()
			for b.Loop() {
				must(b, j.db.View(func(tx *bbolt.Tx) error {
					for _, l := range lanes {
						c := tx.Bucket([]byte(l.String())).Cursor()
						for k, v := c.First(); k != nil; k, v = c.Next() {
							touch(v)
						}
					}
					return nil
				}))
			}
			perEvent(b, benchEvents)
		}
	}
	buf := make([]byte, 0, 4096)
	scan := func(run func(tx *Tx) error) func(b *testing.B) {
		return func(b *testing.B) {
			j, err := Open(path, Options{ReadOnly: true})
			must(b, err)
			defer j.Close()
			b.ReportAllocs()
			for b.Loop() {
				must(b, j.View(run))
			}
			perEvent(b, benchEvents)
		}
	}
	b.Run("raw-cursor", raw(func([]byte) {}))
	b.Run("raw-copy", raw(func(v []byte) { buf = append(buf[:0], v...) }))
	b.Run("raw-no-copy-decode", raw(func(v []byte) {
		var rec Record
		if err := decode(v, &rec, func([]byte) string { return "" }); err != nil {
			b.Fatal(err)
		}
	}))
	b.Run("all", scan(func(tx *Tx) error {
		n := 0
		for _, err := range tx.All(zero, zero) {
			if err != nil {
				return err
			}
			n++
		}
		if n != benchEvents {
			return fmt.Errorf("%d events", n)
		}
		return nil
	}))
	b.Run("raw-sha256", raw(func(v []byte) { sha256.Sum256(v) }))
	b.Run("verify", scan(func(tx *Tx) error { return tx.Verify(context.Background(), nil) }))
}

// BenchmarkTableScan copies 10,000 rows of 90 bytes.
func BenchmarkTableScan(b *testing.B) {
	path := newFile(b)
	must(b, update(path, func(tx *Tx) error {
		for i := range 10_000 {
			if err := tx.Table("t").Put(fmt.Sprintf("%016d", i), benchPayload[:90]); err != nil {
				return err
			}
		}
		return nil
	}))
	j, err := Open(path, Options{ReadOnly: true})
	must(b, err)
	defer j.Close()
	b.Run("raw-cursor", func(b *testing.B) {
		for b.Loop() {
			must(b, j.db.View(func(tx *bbolt.Tx) error {
				return tx.Bucket([]byte("t/t")).ForEach(func(k, v []byte) error { return nil })
			}))
		}
	})
	b.Run("table", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must(b, j.View(func(tx *Tx) error {
				for range tx.Table("t").Scan("") {
				}
				return nil
			}))
		}
	})
}

// BenchmarkDecode sets the reader of this package beside the library's decoder.
func BenchmarkDecode(b *testing.B) {
	stored, err := EncodeRecord(nil, benchRecord)
	must(b, err)
	b.Run("library", func(b *testing.B) {
		r := bytes.NewReader(stored)
		d := msgpack.NewDecoder(r)
		b.ReportAllocs()
		for b.Loop() {
			r.Reset(stored)
			d.Reset(r)
			if err := libraryDecode(d, r, stored, new(Record)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("journal", func(b *testing.B) {
		var rec Record
		b.ReportAllocs()
		for b.Loop() {
			if err := decode(stored, &rec, func([]byte) string { return "artifact.created" }); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func libraryDecode(d *msgpack.Decoder, r *bytes.Reader, stored []byte, rec *Record) (err error) {
	failed := func(e error) { err = errors.Join(err, e) }
	num := func() int64 { n, e := d.DecodeInt64(); failed(e); return n }
	bin := func(to []byte) {
		n, e := d.DecodeBytesLen()
		failed(e)
		if n > 0 {
			failed(d.ReadFull(to))
		}
	}
	n, e := d.DecodeArrayLen()
	failed(e)
	if n != fields {
		return errNoEnvelope
	}
	rec.Format, rec.Lane = int(num()), Lane(num())
	bin(rec.ID[:])
	rec.Type, e = d.DecodeString()
	failed(e)
	rec.Version, rec.Wall = int(num()), num()
	bin(rec.Run[:])
	bin(rec.Subject[:])
	bin(rec.Prev[:])
	rec.Payload = stored[len(stored)-r.Len():]
	return err
}

// BenchmarkEncode is what an append costs beside its commit.
func BenchmarkEncode(b *testing.B) {
	var e encoder
	rec := benchRecord
	b.ReportAllocs()
	for b.Loop() {
		e.encode(&rec)
	}
}

// TestSpace holds the file to the goal: bytes per event after single-event
// transactions, as a ratio to key and value.
func TestSpace(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 3,000 transactions")
	}
	const n = 3000
	path := newFile(t)
	j, err := Open(path, Options{})
	must(t, err)
	defer j.Close()
	for range n {
		must(t, j.Update(appendOne))
	}
	stored, err := EncodeRecord(nil, benchRecord)
	must(t, err)
	var used int64 // pages in use, without the room the file has grown ahead
	must(t, j.db.View(func(tx *bbolt.Tx) error {
		st := tx.Bucket([]byte("changes")).Stats()
		used = int64(st.LeafAlloc + st.BranchAlloc)
		return nil
	}))
	ratio := float64(used) / float64(n*(len(stored)+16))
	t.Logf("%d bytes an event, %.2f of key and value", used/n, ratio)
	if ratio > 1.25 {
		t.Errorf("%.2f of key and value, want at most 1.25", ratio)
	}
	if envelope := len(stored) - len(benchPayload); envelope > 190 {
		t.Errorf("%d bytes beside the payload", envelope)
	}
}
