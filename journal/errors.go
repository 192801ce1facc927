package journal

import (
	"errors"
	"fmt"

	"github.com/oklog/ulid/v2"
)

var (
	// ErrMissing: there is no file at the path.
	ErrMissing = errors.New("journal is missing")
	// ErrLost: the file is there but holds no journal (empty, or without our
	// buckets). It is a *DamageError, so it is ErrCorrupt as well.
	ErrLost = errors.New("journal is lost")
	// ErrCorrupt: the file cannot be trusted. Always a *DamageError.
	ErrCorrupt = errors.New("journal is damaged")
	// ErrNewer: a later program wrote it. Always a *NewerError.
	ErrNewer = errors.New("journal has a newer format")
	// ErrOrder: an append that is not above both heads, or an identifier that
	// cannot be made.
	ErrOrder = errors.New("not above the head of the journal")
	// ErrSync: the commit was written but perhaps not stored. Whether it happened
	// is unknown until the machine has read the file from its disk again.
	ErrSync = errors.New("commit could not be synced, its outcome is unknown")
	// ErrExists: Create found a file at the path.
	ErrExists = errors.New("journal exists already")
	// ErrLocked: another program has the file itself open, without asking for
	// the workspace lock. Nothing was read or written.
	ErrLocked = errors.New("journal file is held by another program")
	// ErrClosed: the handle was closed, or a failure made it useless.
	ErrClosed = errors.New("journal is closed")
)

// DamageError says what is wrong with a file. errors.Is finds ErrCorrupt, and
// ErrLost where nothing of a journal is left in the file.
type DamageError struct {
	File string    // path as it was opened
	What string    // what is wrong, one line
	At   ulid.ULID // first event that is bad, zero where none can be named

	lost bool
}

func (e *DamageError) Error() string { return e.File + ": " + e.What }

// Is reports whether target is ErrCorrupt, or ErrLost for a lost journal.
func (e *DamageError) Is(target error) bool {
	return target == ErrCorrupt || e.lost && target == ErrLost
}

// NewerError says which format was met. errors.Is finds ErrNewer.
type NewerError struct {
	Format int // of the file or record; above the constant Format
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("journal format %d is newer than this program's %d", e.Format, Format)
}

// Is reports whether target is ErrNewer.
func (e *NewerError) Is(target error) bool { return target == ErrNewer }
