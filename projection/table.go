// Package projection keeps what the journal says in a form that can be looked
// up: pure folds from events to rows, and the tables that hold the rows.
//
// A table may be deleted at any time: [Rebuild] folds it anew from the events
// of the lane `changes`, and the result is the same byte for byte. A fold is a
// pure and total function of (row, event). It reads no clock, no file and no
// other table; it never fails; events in an order that no tool would write
// (a relation before its artifact, an event of an unknown subject) leave rows
// that simply say less. An event that this program does not know touches no
// row but that of its artifact, which counts it.
//
// Key spaces, one table each; all ULIDs are their 16 bytes:
//
//	artifacts  uid                                    → artifact without its file head
//	sources    uid                                    → path, verbatim head, want
//	wants      uid ‖ want (32 bytes)                  → newest event that wanted it
//	ids        id as written                          → uids, in order of recording
//	relations  "o" ‖ source ‖ relation ‖ 0 ‖ target as written
//	           "i" ‖ target ‖ relation ‖ 0 ‖ source ‖ target as written (bound ones)
//	           "w" ‖ target, spelled the canonical way → "o" keys that wait for it
//	counters   kind                                   → highest number ever used
//	keys       SHA-256 of tool and idempotency key    → call that bound it
//
// Rows are msgpack arrays. They are no wire form: a view whose rows change
// their shape or meaning raises its Version and is rebuilt. So does one that
// learns to fold another event: there may be journals that hold it already.
package projection

import "iter"

// Table is an ordered map from keys to rows. The journal's tables, [Memory]
// and [Overlay] are Tables.
//
// A slice that Get or Scan hands out must not be modified, and is valid only
// as long as the table is (for a stored table: within its transaction). Put
// may keep val, so the caller must not modify it afterwards. Deleting a key
// that is not there is no error.
type Table interface {
	Get(key string) []byte // nil if there is no such row
	Put(key string, val []byte) error
	Delete(key string) error
	Scan(prefix string) iter.Seq2[string, []byte] // by rising key
}
