package workspace

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"time"

	"forgeplan/internal/event"
	"forgeplan/internal/fault"
	"forgeplan/internal/render"
	"forgeplan/journal"

	"github.com/oklog/ulid/v2"
)

// The JSONL log is written for people: logs/tools-YYYY-MM-DD.jsonl, one line a
// call, in the order of the journal, by the UTC day of the call's start.
// meta["log"] is the ULID up to which all lines are surely written, and the
// day of the call that was recorded last: its file shows how far writing came.
const (
	logPrefix   = "tools-"
	metaLog     = "log"
	maxLogLines = 5000     // lines one call catches up
	logTail     = 64 << 10 // bytes at the end of a day's file that are read to find its last line
	maxLogTail  = 32 << 20 // bytes that are read at most
)

type logCursor struct {
	at  ulid.ULID
	day string
}

func readLogCursor(tx *journal.Tx) (c logCursor) {
	if raw := tx.Meta(metaLog); len(raw) >= 16 {
		c.at, c.day = ulid.ULID(raw[:16]), string(raw[16:])
	}
	return c
}

func putLogCursor(tx *journal.Tx, c logCursor) error {
	return tx.PutMeta(metaLog, append(c.at.Bytes(), c.day...))
}

func logDay(startNS int64) string { return time.Unix(0, startNS).UTC().Format("2006-01-02") }

func logName(day string) string { return logsName + "/" + logPrefix + day + ".jsonl" }

// moveLogCursor notes in the coming commit how far the lines got. Lines are
// appended in the order of the journal and a failed append ends the writing,
// so a line that is there vouches for all before it.
func (w *Workspace) moveLogCursor(tx *journal.Tx) error {
	c := readLogCursor(tx)
	if c.day == "" {
		return nil
	}
	if last := w.lastLogged(logName(c.day)); last.Compare(c.at) > 0 {
		c.at = last
		return putLogCursor(tx, c)
	}
	return nil
}

// noteLogDay remembers where the line of the call being recorded will stand.
func noteLogDay(tx *journal.Tx, c event.Call) error {
	cur := readLogCursor(tx)
	if day := logDay(c.Start); cur.day != day {
		cur.day = day
		return putLogCursor(tx, cur)
	}
	return nil
}

// lastLogged is the ULID of the last whole line of a log file that carries
// one of ours; zero if there is none. A line may be whole without its end.
func (w *Workspace) lastLogged(name string) (last ulid.ULID) {
	f, err := w.root.Open(name)
	if err != nil {
		return last
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return last
	}
	for tail := int64(logTail); ; tail *= 8 { // more, where lines of others stand at the end
		from := max(0, fi.Size()-tail)
		buf, err := io.ReadAll(io.NewSectionReader(f, from, fi.Size()-from))
		if err != nil {
			return last
		}
		lines := bytes.Split(buf, []byte("\n"))
		for _, line := range slices.Backward(lines) { // the last one may be torn: then it is no JSON
			if id, ok := loggedCall(line); ok {
				return id
			}
		}
		if from == 0 || tail >= maxLogTail {
			return last
		}
	}
}

// loggedCall reads the ULID of a log line of ours.
func loggedCall(line []byte) (ulid.ULID, bool) {
	if !bytes.Contains(line, []byte(`"call":"`)) {
		return ulid.ULID{}, false
	}
	var l struct {
		Call string `json:"call"`
	}
	if json.Unmarshal(line, &l) != nil {
		return ulid.ULID{}, false
	}
	id, err := ulid.ParseStrict(l.Call)
	return id, err == nil
}

// writeLogs appends the lines that are still missing, at most 5,000. Logs are
// for people: that they cannot be written is no reason to fail a call, the
// next one tries again.
func (w *Workspace) writeLogs(tx *journal.Tx) {
	cur := readLogCursor(tx)
	day, n := "", 0
	var out *os.File
	var last ulid.ULID
	defer func() {
		if out != nil {
			out.Close()
		}
	}()
	for r, err := range tx.All(cur.at, ulid.ULID{}) {
		if err != nil {
			return
		}
		if r.Type != (event.Call{}).EventName() {
			continue
		}
		e, err := decode(r)
		if err != nil {
			return
		}
		c, ok := e.Data.(event.Call)
		if !ok {
			continue
		}
		if d := logDay(c.Start); d != day || out == nil {
			if out != nil {
				out.Close()
			}
			day = d
			last = w.lastLogged(logName(day))
			if out, err = w.openLog(logName(day)); err != nil {
				return
			}
		}
		if r.ID.Compare(last) <= 0 {
			continue
		}
		line, err := logLine(r.ID, r.Wall, c)
		if err != nil {
			return
		}
		fault.Point("workspace.before-log-line")
		if _, err := out.Write(line); err != nil {
			return
		}
		if n++; n == maxLogLines {
			return
		}
	}
}

func logLine(id ulid.ULID, wall int64, c event.Call) ([]byte, error) {
	line, err := render.NewEntry(id, wall, c, true).MarshalJSON()
	return append(line, '\n'), err
}

// openLog opens a day's file for appending and ends a torn last line.
func (w *Workspace) openLog(name string) (*os.File, error) {
	if err := w.root.MkdirAll(logsName, 0o700); err != nil {
		return nil, err
	}
	f, err := w.root.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		f.Close()
		return nil, os.ErrInvalid
	}
	if fi.Size() > 0 {
		var b [1]byte
		if _, err := f.ReadAt(b[:], fi.Size()-1); err == nil && b[0] != '\n' {
			if _, err := f.Write([]byte("\n")); err != nil {
				f.Close()
				return nil, err
			}
		}
	}
	return f, nil
}
