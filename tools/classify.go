package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"forgeplan/internal/artifact"
	"forgeplan/internal/filelock"
	"forgeplan/internal/render"
	"forgeplan/internal/workspace"
	"forgeplan/journal"
	"forgeplan/receipts"
)

// ErrShutdown is the cause of a context that ends because the program does.
var ErrShutdown = errors.New("the server is shutting down")

// Classify turns an error of any layer into a failure: its class, one plain
// sentence, and a next step. It is the only place that maps errors to classes.
func Classify(err error) *Failure {
	var (
		failure *Failure
		busy    *filelock.BusyError
		conf    *workspace.ConfigError
		deleted *workspace.DeletedError
		path    *os.PathError
		link    *os.LinkError
		sys     *os.SyscallError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failure):
		return failure
	case errors.Is(err, artifact.ErrInput):
		return Fail(ClassInvalidInput, err.Error(), Say("Mend the argument and call again."))
	case errors.Is(err, artifact.ErrRule):
		return Fail(ClassRule, err.Error())
	case errors.As(err, &deleted):
		return Fail(ClassNotFound, deletedText(deleted), Say("Bring it back: "), Call("forgeplan_restore", "id", deleted.ID))
	case errors.Is(err, receipts.ErrConflict):
		return Fail(ClassConflict, err.Error()+"; nothing was changed, the receipt stays open", Say("See what can be taken back: "), Call("forgeplan_receipts"))
	case errors.Is(err, workspace.ErrNotFound):
		return Fail(ClassNotFound, err.Error()+": it never existed here", Say("See what there is: "), Call("forgeplan_list"))
	case errors.As(err, &busy):
		return Fail(ClassBusy, busyText(busy), Say("Safe to retry: call again."))
	case errors.Is(err, journal.ErrLocked):
		return Fail(ClassBusy, "another program holds the journal file; nothing was written", Say("Safe to retry: call again."))
	case errors.Is(err, ErrShutdown):
		return Fail(ClassBusy, "the server is shutting down; nothing was written", Say("Safe to retry: call again."))
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Fail(ClassCanceled, "the call was cancelled before it was committed; nothing was written", Say("Safe to retry: call again."))
	case errors.Is(err, workspace.ErrNone):
		return Fail(ClassNotFound, "no .forgeplan folder here or in any folder above", Say("Make one where the project is: "), Call("forgeplan_init"),
			Say(" (or start with --workspace DIR or FORGEPLAN_WORKSPACE to use another)."))
	case errors.Is(err, workspace.ErrUninitialized):
		return Fail(ClassNotFound, "this .forgeplan folder has no journal yet", Say("Make it, and take the files in: "), Call("forgeplan_init"))
	case errors.Is(err, workspace.ErrLost), errors.Is(err, journal.ErrLost), errors.Is(err, journal.ErrMissing):
		return Fail(ClassCorrupt, "journal lost: .forgeplan/journal.db is missing or empty although artifacts were recorded; nothing was changed",
			Say("Put the file back from a backup. The Markdown files are untouched and readable."))
	case errors.Is(err, journal.ErrSync):
		return Fail(ClassIO, "the disk did not confirm the write: the outcome is unknown", Say("Look before you retry: "),
			Call("forgeplan_activity", "since_hours", 1))
	case errors.Is(err, journal.ErrCorrupt):
		return Fail(ClassCorrupt, "journal damaged: "+plainError(err)+"; nothing was changed",
			Say("Put .forgeplan/journal.db back from a backup. The Markdown files are untouched and readable."))
	case errors.Is(err, journal.ErrNewer), errors.Is(err, workspace.ErrNewer):
		return Fail(ClassNewer, plainError(err), Say("Use the newer forgeplan here; nothing was changed."))
	case errors.As(err, &conf):
		return Fail(ClassInvalidInput, err.Error(), Say("Mend the line and call again."))
	case errors.As(err, &path), errors.As(err, &link), errors.As(err, &sys), errors.Is(err, os.ErrPermission), errors.Is(err, os.ErrExist):
		return Fail(ClassIO, "the disk refused: "+plainError(err)+"; nothing was changed", Say("Mend the cause and call again."))
	}
	return Fail(ClassInternal, "internal error: "+plainError(err), Say("Please report this with what you did."))
}

func deletedText(d *workspace.DeletedError) string {
	by := ""
	if d.By != "" {
		by = " by " + render.Safe(d.By, 80)
	}
	return fmt.Sprintf("%s was deleted at %s%s in call %s (receipt %s)", d.ID, render.Time(d.Receipt.At), by, d.Receipt.Run, d.Receipt.ID)
}

func busyText(b *filelock.BusyError) string {
	if b.Holder.PID == 0 {
		return "another process holds the workspace; nothing was written"
	}
	text := fmt.Sprintf("process %d (%s) holds the workspace", b.Holder.PID, render.Safe(b.Holder.Command, 80))
	if !b.Holder.Since.IsZero() {
		text += " since " + b.Holder.Since.UTC().Format(time.RFC3339)
	}
	return text + "; nothing was written"
}

// plainError is an error's text without the paths of this machine.
func plainError(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Op + ": " + pe.Err.Error()
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Op + ": " + le.Err.Error()
	}
	return render.Safe(err.Error(), 300)
}
