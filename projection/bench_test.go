package projection

import (
	"bytes"
	"fmt"
	"testing"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
	"github.com/vmihailenco/msgpack/v5"
)

// manyEvents are n events of n/10 artifacts, each with its call: created, then
// retitled, rewritten, tagged and linked.
func manyEvents(n int) []event.Event {
	events := make([]event.Event, 0, n)
	add := func(subject ulid.ULID, p event.Payload) {
		id := ulid.ULID{1, 2}
		for i, v := 15, len(events); v > 0; i, v = i-1, v>>8 {
			id[i] = byte(v)
		}
		events = append(events, event.Event{ID: id, Subject: subject, At: int64(len(events)), Name: p.EventName(), Version: p.EventVersion(), Data: p})
	}
	subject := func(i int) (id ulid.ULID) {
		id[0], id[13], id[14], id[15] = 1, byte(i>>16), byte(i>>8), byte(i)
		return id
	}
	for i := range n / 10 {
		uid, source := subject(i), artifact.Source{Path: fmt.Sprintf("prds/PRD-%03d-some-title.md", i+1), Head: bytes.Repeat([]byte("key: value\n"), 20)}
		stamp := func(v byte) artifact.Source {
			source.Want = [32]byte{byte(i), byte(i >> 8), byte(i >> 16), v}
			return source
		}
		call := event.Call{Tool: "forgeplan_update", Status: "ok", Effect: "changed"}
		add(ulid.ULID{}, call)
		add(uid, artifact.Created{ID: fmt.Sprintf("PRD-%03d", i+1), Number: i + 1, Kind: "prd", Status: "draft", Title: "Some title of an artifact",
			Depth: "standard", Author: "somebody", Tags: []string{"backend", "source=code"}, Source: stamp(1)})
		add(ulid.ULID{}, call)
		add(uid, artifact.TitleChanged{Title: "Another title of an artifact", Was: "Some title of an artifact"})
		add(uid, artifact.Tagged{Tags: []string{"reviewed"}})
		add(uid, artifact.SourceChanged{Source: stamp(2)})
		add(ulid.ULID{}, call)
		add(uid, artifact.BodyChanged{Body: artifact.BodyFacts{Len: 1000, SHA: [32]byte{1}}})
		add(uid, artifact.RelationAdded{Relation: "based_on", Target: fmt.Sprintf("PRD-%03d", i/2+1), TargetUID: subject(i / 2)})
		add(uid, artifact.SourceChanged{Source: stamp(3)})
	}
	return events
}

// Yardsticks of a replay: "bare" folds the same events into a map of artifacts
// and does nothing else; "one by one" is what a commit does for each event.
func BenchmarkReplay(b *testing.B) {
	for name, n := range map[string]int{"100k": 100_000} {
		events := manyEvents(n)
		rate := func(b *testing.B) {
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		}
		b.Run(name+"/bare", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rows := map[ulid.ULID]artifact.Artifact{}
				for _, e := range events {
					if a, ok := artifact.Fold(rows[e.Subject], e); ok {
						rows[e.Subject] = a
					}
				}
			}
			rate(b)
		})
		b.Run(name+"/fold", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := All.Fold(seq(events)); err != nil {
					b.Fatal(err)
				}
			}
			rate(b)
		})
		b.Run(name+"/one by one", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				apply(b, tableSet{}.table, events...)
			}
			rate(b)
		})
	}
}

// Yardsticks of a list: "copy" walks the rows and copies them, which is what a
// reader does under the lock; "library" reads the same fields with the decoder
// of the msgpack library.
func BenchmarkList(b *testing.B) {
	for name, n := range map[string]int{"10k": 10_000} {
		state, err := All.Fold(seq(manyEvents(10 * n)))
		if err != nil {
			b.Fatal(err)
		}
		view := Artifacts{state.Table("artifacts")}
		var copied [][]byte
		b.Run(name+"/copy", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				copied = copied[:0]
				arena := make([]byte, 0, 4<<20)
				view.ScanRows(func(_ string, row []byte) {
					from := len(arena)
					arena = append(arena, row...)
					copied = append(copied, arena[from:])
				})
			}
		})
		if len(copied) != n {
			b.Fatal("rows:", len(copied))
		}
		b.Run(name+"/decode", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, row := range copied {
					if _, err := DecodeArtifact(row); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run(name+"/library", func(b *testing.B) {
			b.ReportAllocs()
			var in bytes.Reader
			dec := msgpack.NewDecoder(&in)
			for b.Loop() {
				for _, row := range copied {
					in.Reset(row)
					dec.Reset(&in)
					if err := skim(dec); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// skim reads a row with the library, field by field.
func skim(dec *msgpack.Decoder) error {
	n, err := dec.DecodeArrayLen()
	for range n {
		if err != nil {
			return err
		}
		var code byte
		if code, err = dec.PeekCode(); err != nil {
			return err
		}
		switch {
		case code >= 0xa0 && code <= 0xbf || code >= 0xd9 && code <= 0xdb:
			_, err = dec.DecodeString()
		case code >= 0xc4 && code <= 0xc6:
			_, err = dec.DecodeBytes()
		case code >= 0x90 && code <= 0x9f || code == 0xdc || code == 0xdd:
			err = skim(dec)
		default:
			_, err = dec.DecodeInt64()
		}
	}
	return err
}
