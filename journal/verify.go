package journal

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/oklog/ulid/v2"
)

const verifyStep = 4096 // records between two looks at the context

// Verify reads every record of both lanes and recomputes both chains: order,
// hashes, counts, and the heads they end in. A *DamageError names the first event
// that is not what its successor or the head attests. progress (nil: none) hears
// now and then how many of how many records are done; ctx is looked at as often.
func (tx *Tx) Verify(ctx context.Context, progress func(done, total uint64)) error {
	if progress == nil {
		progress = func(uint64, uint64) {}
	}
	total := tx.heads[Changes].Count + tx.heads[Calls].Count
	var at [3]Head // how far each lane has come
	for _, l := range lanes {
		at[l].Hash = firstPrev(tx.workspace, l)
	}
	var done uint64
	for rec, err := range tx.All(ulid.ULID{}, ulid.ULID{}) {
		if err != nil {
			return err
		}
		h := &at[rec.Lane]
		if rec.Prev != h.Hash {
			if h.Count == 0 {
				return tx.bad(rec.ID, fmt.Sprintf("is not the first that %s began with", rec.Lane))
			}
			return tx.bad(h.ID, fmt.Sprintf("is not what %s, the next in %s, follows", rec.ID, rec.Lane))
		}
		*h = Head{ID: rec.ID, Count: h.Count + 1, Hash: sha256.Sum256(rec.Stored), Wall: rec.Wall}
		if done++; done%verifyStep == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			progress(done, total)
		}
	}
	for _, l := range lanes {
		switch have, want := at[l], tx.heads[l]; {
		case have == want:
		case have.ID.IsZero() && want.ID.IsZero():
			return &DamageError{File: tx.j.path, What: fmt.Sprintf("the head of %s is not how this workspace begins", l)}
		case have.ID == want.ID:
			return tx.bad(have.ID, fmt.Sprintf("is not what the head of %s attests", l))
		case have.ID.Compare(want.ID) < 0:
			return tx.bad(want.ID, fmt.Sprintf("is missing, the head of %s", l))
		default:
			return tx.bad(have.ID, fmt.Sprintf("lies behind the head of %s", l))
		}
	}
	progress(done, total)
	return ctx.Err()
}
