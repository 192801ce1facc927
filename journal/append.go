package journal

import (
	"crypto/sha256"
	"fmt"
)

// Append adds records to the end of a lane, each chained to the one before it,
// and advances the lane's head. Payloads are copied.
//
// The identifiers must rise and lie above both heads, else ErrOrder. It is all or
// nothing: nothing is added when one draft is refused.
func (tx *Tx) Append(l Lane, drafts ...Draft) error {
	if !l.valid() {
		return fmt.Errorf("append to unknown lane %d", l)
	}
	last := tx.newest()
	for i := range drafts {
		d := &drafts[i]
		if err := checkDraft(d); err != nil {
			return err
		}
		if d.ID.Compare(last) <= 0 {
			return fmt.Errorf("event %s after %s: %w", d.ID, last, ErrOrder)
		}
		last = d.ID
	}
	head := tx.heads[l]
	rec := Record{Format: Format, Lane: l}
	for i := range drafts {
		rec.Draft, rec.Prev = drafts[i], head.Hash
		stored := tx.enc.encode(&rec)
		if err := tx.put(l.String(), rec.ID[:], stored); err != nil {
			return err
		}
		head = Head{ID: rec.ID, Count: head.Count + 1, Hash: sha256.Sum256(stored), Wall: rec.Wall}
	}
	if len(drafts) == 0 {
		return nil
	}
	return tx.setHead(l, head)
}
