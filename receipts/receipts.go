// Package receipts says what may be taken back. A receipt is a fold: it opens
// when a destructive event is recorded and closes when an event consumes it,
// so a refused operation leaves none, and none is ever offered twice.
package receipts

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"
	"forgeplan/projection"

	"github.com/oklog/ulid/v2"
	"github.com/vmihailenco/msgpack/v5"
)

// Operations that open a receipt, as results name them.
const (
	OpDelete    = "delete"
	OpSupersede = "supersede"
	OpDeprecate = "deprecate"
)

// Consumed closes a receipt. Its event stands in the run of the undo.
type Consumed struct {
	Receipt   ulid.ULID `msgpack:"receipt,omitempty"` // event that opened it
	ReceiptID string    `msgpack:"receipt_id,omitempty"`
	By        string    `msgpack:"by,omitempty"` // undo, restore
}

func (Consumed) EventName() string { return "receipt.consumed" }
func (Consumed) EventVersion() int { return 1 }

// Events are the events of this package.
var Events = []event.Kind{event.KindOf[Consumed]()}

// Receipt is one destructive operation that was recorded.
type Receipt struct {
	//lint:ignore U1000 the codec finds it by its name
	_msgpack   struct{}  `msgpack:",as_array"`
	ID         string    // trash-2026-04-26T10-14-22-001
	Event      ulid.ULID // that opened it
	Run        ulid.ULID // call that recorded it
	UID        ulid.ULID // artifact
	Op         string
	Artifact   string    // its id
	Title      string    // its title then
	At         int64     // wall ns
	By         string    // of a supersede: id of the replacement
	Consumed   ulid.ULID // call that took it back; zero while it is open
	ConsumedAt int64     // wall ns
	Undo       ulid.ULID // event that closed it
	Redone     ulid.ULID // call that did it again after that; zero for none
}

// Open reports whether the operation can still be taken back.
func (r Receipt) Open() bool { return r.Consumed == (ulid.ULID{}) }

// Rows of the table, by first byte of the key. Indexes hold the complement of
// a ULID, so that a scan meets the newest first and may stop there: finding
// what to take back costs the same however long the history is.
const (
	rowKey    = "r" // ‖ event: the receipt
	openKey   = "o" // ‖ ^event: it is open
	ofKey     = "a" // ‖ uid ‖ ^event: receipts of an artifact
	idKey     = "d" // ‖ artifact id ‖ 0 ‖ ^event: receipts of whatever had this id
	nameKey   = "n" // ‖ receipt id → event
	undoneKey = "u" // ‖ ^closing event → event: taken back, and not done again
)

// Projector folds receipts.
type Projector struct{}

// Ident is the table's name and version.
func (Projector) Ident() (name string, version int) { return "receipts", 1 }

// Apply folds one event. It never fails but by the table.
func (Projector) Apply(t projection.Table, e event.Event) error {
	r := Receipt{Event: e.ID, Run: e.Run, UID: e.Subject, At: e.At}
	var redo artifact.Redo
	switch p := e.Data.(type) {
	case artifact.Deleted:
		r.ID, r.Op, r.Artifact, r.Title, redo = p.ReceiptID, OpDelete, p.State.ID, p.State.Title, p.Redo
	case artifact.Superseded:
		r.ID, r.Op, r.By, redo = p.ReceiptID, OpSupersede, p.By, p.Redo
		r.Artifact, r.Title = p.Was.ID, p.Was.Title
	case artifact.Deprecated:
		r.ID, r.Op, redo = p.ReceiptID, OpDeprecate, p.Redo
		r.Artifact, r.Title = p.Was.ID, p.Was.Title
	case Consumed:
		return consume(t, e, p)
	default:
		return nil
	}
	if r.ID == "" {
		return nil // done by hand in a file, or by an import: no receipt
	}
	if !redo.IsZero() {
		if err := redone(t, redo.Receipt, e.Run); err != nil {
			return err
		}
	}
	for key, val := range map[string][]byte{
		openKey + newest(e.ID):                     {1},
		ofKey + string(r.UID[:]) + newest(e.ID):    {1},
		idKey + r.Artifact + "\x00" + newest(e.ID): {1},
		nameKey + r.ID:                             e.ID[:],
	} {
		if err := t.Put(key, val); err != nil {
			return err
		}
	}
	return put(t, r)
}

func consume(t projection.Table, e event.Event, p Consumed) error {
	r, ok, err := get(t, p.Receipt)
	if err != nil || !ok || !r.Open() {
		return err
	}
	r.Consumed, r.ConsumedAt, r.Undo = e.Run, e.At, e.ID
	if err := t.Delete(openKey + newest(r.Event)); err != nil {
		return err
	}
	if err := t.Put(undoneKey+newest(e.ID), r.Event[:]); err != nil {
		return err
	}
	return put(t, r)
}

func redone(t projection.Table, receipt, run ulid.ULID) error {
	r, ok, err := get(t, receipt)
	if err != nil || !ok || r.Open() {
		return err
	}
	r.Redone = run
	if err := t.Delete(undoneKey + newest(r.Undo)); err != nil {
		return err
	}
	return put(t, r)
}

// newest turns the order of ULIDs round.
func newest(id ulid.ULID) string {
	for i := range id {
		id[i] = ^id[i]
	}
	return string(id[:])
}

func put(t projection.Table, r Receipt) error {
	row, err := msgpack.Marshal(&r)
	if err != nil {
		return fmt.Errorf("encode receipt: %w", err)
	}
	return t.Put(rowKey+string(r.Event[:]), row)
}

func get(t projection.Table, id ulid.ULID) (r Receipt, ok bool, err error) {
	row := t.Get(rowKey + string(id[:]))
	if row == nil {
		return r, false, nil
	}
	if err := msgpack.Unmarshal(row, &r); err != nil {
		return r, false, fmt.Errorf("%w: receipt %s: %v", projection.ErrRow, id, err)
	}
	return r, true, nil
}

// Table reads the receipts.
type Table struct{ Rows projection.Table }

// Get reads the receipt that an event opened.
func (t Table) Get(id ulid.ULID) (Receipt, bool, error) { return get(t.Rows, id) }

// Open yields the open receipts, newest first.
func (t Table) Open() iter.Seq2[Receipt, error] { return t.index(openKey, false) }

// Undone yields the receipts that were taken back and not done again since,
// the newest undo first.
func (t Table) Undone() iter.Seq2[Receipt, error] { return t.index(undoneKey, true) }

// Of yields all receipts of an artifact, newest first.
func (t Table) Of(uid ulid.ULID) iter.Seq2[Receipt, error] {
	return t.index(ofKey+string(uid[:]), false)
}

// OfID yields all receipts of whatever had a display id, newest first.
func (t Table) OfID(id string) iter.Seq2[Receipt, error] {
	return t.index(idKey+id+"\x00", false)
}

// index reads the receipts behind an index; the event's ULID is the end of the
// key, turned round, or the value.
func (t Table) index(prefix string, value bool) iter.Seq2[Receipt, error] {
	return func(yield func(Receipt, error) bool) {
		for key, val := range t.Rows.Scan(prefix) {
			raw := key[len(key)-16:]
			if value {
				raw = string(val)
			}
			var id ulid.ULID
			copy(id[:], raw)
			if !value {
				copy(id[:], newest(id))
			}
			r, ok, err := get(t.Rows, id)
			if ok || err != nil {
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// NewID makes the id of a receipt: the second it was opened in, and the
// ordinal within it, unique over all receipts.
func (t Table) NewID(at time.Time) string {
	second := "trash-" + at.UTC().Format("2006-01-02T15-04-05") + "-"
	last := 0
	for key := range t.Rows.Scan(nameKey + second) {
		var n int
		if _, err := fmt.Sscanf(strings.TrimPrefix(key, nameKey+second), "%d", &n); err == nil {
			last = max(last, n)
		}
	}
	return fmt.Sprintf("%s%03d", second, last+1)
}

// All yields every receipt, newest first.
func (t Table) All() iter.Seq2[Receipt, error] {
	return func(yield func(Receipt, error) bool) {
		var all []Receipt
		for key := range t.Rows.Scan(rowKey) {
			var id ulid.ULID
			copy(id[:], key[1:])
			r, ok, err := get(t.Rows, id)
			if err != nil {
				yield(r, err)
				return
			}
			if ok {
				all = append(all, r)
			}
		}
		for i := len(all) - 1; i >= 0; i-- {
			if !yield(all[i], nil) {
				return
			}
		}
	}
}
