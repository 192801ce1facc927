package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"forgeplan/internal/atomicfile"
	"forgeplan/internal/event"
	"forgeplan/internal/render"
	"forgeplan/journal"

	"github.com/oklog/ulid/v2"
)

// ignored is what git shall not see of a workspace: everything but the
// artifacts and the configuration. Patterns cover names of later versions too.
var ignored = []string{
	"/journal.db*", "/*.db", "/lock", "/*.lock", "/copy/", "/logs/", "/cache/", ".tmp-*",
}

// Initialized says what Init did.
type Initialized struct {
	Base    string // the project's folder
	Project string
	Above   string   // another workspace further up, "" if there is none
	Found   Intake   // artifact files that stood there and were taken in
	Left    []string // folders of another program that were left alone
	Done    Done
}

// ErrExists: there is a workspace here already; nothing was changed.
var ErrExists = errors.New("workspace exists")

// Init makes a workspace in the start folder, exactly there. The journal is
// written last, under another name, and renamed: a killed Init leaves a folder
// that Init takes up again. call makes the record of this very call.
//
// Artifact files that stand there already are taken in as they are, by a sync
// of their own; none of them is changed.
//
// ErrExists, or ErrLost (a journal was here: never made anew).
func (e *Env) Init(ctx context.Context, started time.Time, call func(*World) event.Call) (Initialized, error) {
	base, err := e.start()
	if err != nil {
		return Initialized{}, err
	}
	out := Initialized{Base: base, Project: filepath.Base(base), Above: above(base)}
	if err := os.MkdirAll(filepath.Join(base, Folder), 0o755); err != nil {
		return out, fmt.Errorf("make workspace: %w", err)
	}
	w, err := e.openAt(base)
	if err != nil {
		return out, err
	}
	defer w.Close()
	release, err := w.lock(ctx)
	if err != nil {
		return out, err
	}
	defer release()
	switch err := w.journalState(); {
	case err == nil:
		return out, ErrExists
	case !errors.Is(err, ErrUninitialized):
		return out, err
	}
	if w.conf.Project != "" {
		out.Project = w.conf.Project
	}
	if err := w.writeConfig(out.Project); err != nil {
		return out, err
	}
	if err := w.writeIgnore(); err != nil {
		return out, err
	}
	now := e.now()
	ws, err := ulid.New(ulid.Timestamp(now), e.entropy())
	if err != nil {
		return out, fmt.Errorf("make workspace id: %w", err)
	}
	branch, commit := gitHead(base)
	pending := e.take()
	err = journal.Create(w.path(journalName), ws, func(tx *journal.Tx) error {
		// Calls made before the workspace existed come first.
		world, _, state, err := w.begin(tx, &pending)
		if err != nil {
			return err
		}
		out.Done.Call = world.call
		if err := world.Emit(ulid.ULID{}, event.Initialized{Project: out.Project, Program: e.Program}, nil); err != nil {
			return err
		}
		c := call(world)
		c.Branch, c.Head = branch, commit
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return w.append(tx, world, Verdict{Call: c, Keep: true}, started, state)
	})
	if err != nil {
		e.giveBack(pending)
		if errors.Is(err, journal.ErrExists) {
			return out, ErrExists
		}
		return out, err
	}
	if err := w.cache().markWhole(ws); err != nil {
		out.Done.Warnings = append(out.Done.Warnings, "the file cache could not be written: "+plain(err).Error())
	}
	for _, name := range []string{"state", "claims", "trash", logsName} {
		if fi, err := w.root.Lstat(name); err == nil && fi.IsDir() {
			out.Left = append(out.Left, name)
		}
	}
	j, err := journal.Open(w.path(journalName), journal.Options{})
	if err != nil {
		return out, err
	}
	defer j.Close()
	if out.Found, err = w.syncFirst(ctx, j, Request{Look: Look{All: true}}, w.scan()); err != nil {
		return out, err
	}
	return out, j.View(func(tx *journal.Tx) error { w.writeLogs(tx); return nil })
}

// above is the nearest workspace of the folders above base.
func above(base string) string {
	for dir := filepath.Dir(base); ; dir = filepath.Dir(dir) {
		if fi, err := os.Stat(filepath.Join(dir, Folder)); err == nil && fi.IsDir() {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

func (w *Workspace) writeConfig(project string) error {
	if _, err := w.root.Lstat(configName); err == nil {
		return nil
	}
	text := "version: 1\nproject_name: " + render.Quote(project) + "\n"
	if err := atomicfile.Write(w.root, configName, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", configName, plain(err))
	}
	return nil
}

// writeIgnore adds the patterns that are missing; a user's own lines stay.
func (w *Workspace) writeIgnore() error {
	const name = ".gitignore"
	old, _, err := readFile(w.root, name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, plain(err))
	}
	have := map[string]bool{}
	for _, line := range bytes.Split(old, []byte("\n")) {
		have[strings.TrimSpace(string(line))] = true
	}
	text := string(old)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	for _, p := range ignored {
		if !have[p] {
			text += p + "\n"
		}
	}
	if text == string(old) {
		return nil
	}
	if err := atomicfile.Write(w.root, name, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, plain(err))
	}
	return nil
}
