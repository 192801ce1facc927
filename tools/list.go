package tools

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"forgeplan/internal/render"
	"forgeplan/internal/workspace"
	"forgeplan/projection"

	"github.com/oklog/ulid/v2"
)

type listIn struct {
	Kind   string `json:"kind" short:"k" flag:"type,t" enum:"prd,rfc,adr,epic,spec,problem|problemcard,solution|solutionportfolio,evidence|evidencepack,note,refresh|refreshreport,memory" doc:"Only this kind."`
	Status string `json:"status" short:"s" enum:"draft,active,stale,superseded,deprecated" doc:"Only this status."`
	Tag    string `json:"tag" doc:"Only with this tag: key, or key=value."`
	Limit  *int64 `json:"limit" short:"n" min:"1" max:"1000" doc:"Rows, default 100."`
	Cursor string `json:"cursor" doc:"next_cursor of the page before."`
	Detail bool   `json:"detail" doc:"Adds uid, version, created_at, author, valid_until, path."`
}

type listRow struct {
	ID        string   `json:"id"`
	Kind      string   `json:"kind"`
	Status    string   `json:"status"`
	Title     string   `json:"title"`
	Depth     string   `json:"depth"`
	Tags      []string `json:"tags"`
	UpdatedAt string   `json:"updated_at"`
	*listMore          // with detail
	key       rowKey   // where the row stands in the order
}

type listMore struct {
	UID        string `json:"uid"`
	Version    int    `json:"version"`
	CreatedAt  string `json:"created_at"`
	Author     string `json:"author"`
	ValidUntil string `json:"valid_until"`
	Path       string `json:"path"`
}

type listFilters struct {
	Kind   string `json:"kind,omitempty"`
	Status string `json:"status,omitempty"`
	Tag    string `json:"tag,omitempty"`
}

type listOut struct {
	Count      int         `json:"count"`
	Artifacts  []listRow   `json:"artifacts"`
	Returned   int         `json:"returned"`
	Truncated  bool        `json:"truncated"`
	NextCursor string      `json:"next_cursor,omitempty"`
	Filters    listFilters `json:"filters"`
}

func (o *listOut) WriteText(w io.Writer, width int) {
	if o.Returned > 0 {
		rows := make([][]string, len(o.Artifacts))
		for i, a := range o.Artifacts {
			rows[i] = []string{a.ID, a.Kind, a.Status, a.Title}
		}
		render.Table(w, width, []string{"ID", "KIND", "STATUS", "TITLE"}, rows, 3)
	}
	switch {
	case o.Count == 0 && o.Filters == (listFilters{}):
		fmt.Fprintln(w, "No artifacts yet.")
	case o.Count == 0:
		fmt.Fprintln(w, "No artifact matches.")
	case o.Truncated:
		fmt.Fprintf(w, "%d of %d artifacts\n", o.Returned, o.Count)
	default:
		fmt.Fprintf(w, "%d artifact%s\n", o.Count, plural(o.Count))
	}
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

const (
	listLimit    = 100    // rows of one answer over MCP, where no limit is given
	replyBudget  = 80_000 // bytes at which an answer without an explicit limit stops
	replyReserve = 2_000  // of these, kept for everything but the rows
)

// rowKey orders rows: newest created_at first, then the higher number, then
// the later uid.
type rowKey struct {
	created int64
	number  int64
	uid     ulid.ULID
}

func (a rowKey) compare(b rowKey) int {
	return cmp.Or(cmp.Compare(b.created, a.created), cmp.Compare(b.number, a.number), b.uid.Compare(a.uid))
}

// cursor is the key of the last row as text; pages made with it neither skip
// nor repeat a row, whatever is created meanwhile.
func (k rowKey) cursor() string {
	var b [32]byte
	binary.BigEndian.PutUint64(b[:8], uint64(k.created))
	binary.BigEndian.PutUint64(b[8:16], uint64(k.number))
	copy(b[16:], k.uid[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func parseCursor(s string) (k rowKey, err error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != 32 {
		return k, Fail(ClassInvalidInput, "`cursor` is not a next_cursor of this tool", Say("Start from the first page: "), Call("forgeplan_list"))
	}
	k.created, k.number = int64(binary.BigEndian.Uint64(b[:8])), int64(binary.BigEndian.Uint64(b[8:16]))
	copy(k.uid[:], b[16:])
	return k, nil
}

var listTool = Reading(Tool{
	Name: "forgeplan_list", Command: "list", Aliases: []string{"ls"}, Title: "List artifacts", Effect: Reads, Set: "core", looks: looksAll,
	Summary: "Lists artifacts without bodies, newest first: which PRDs are active?",
	Doc:     "`count` is all that match, `returned` what is here; go on with `next_cursor`.",
	Example: `{"kind": "prd", "status": "active"}`,
}, func(c *Run, in listIn) (listOut, error) {
	out := listOut{Artifacts: []listRow{}, Filters: listFilters{Kind: in.Kind, Status: in.Status, Tag: in.Tag}}
	from := rowKey{}
	if in.Cursor != "" {
		k, err := parseCursor(in.Cursor)
		if err != nil {
			return out, err
		}
		from = k
	}
	var rows [][]byte
	err := c.View(func(w *workspace.World) error {
		w.Artifacts().ScanRows(func(_ string, row []byte) { rows = append(rows, bytes.Clone(row)) })
		return nil
	})
	if err != nil {
		return out, err
	}
	var found []listRow
	byUID := map[ulid.ULID]int{}
	var drafts, newer int
	for _, raw := range rows {
		a, err := projection.DecodeArtifact(raw)
		if err != nil {
			return out, err
		}
		newer += a.Unknown
		status := a.StatusAt(c.Now())
		if in.Kind != "" && a.Kind != in.Kind || in.Status != "" && status != in.Status || in.Tag != "" && !hasTag(a.Tags, in.Tag) {
			continue
		}
		row := listRow{ID: a.ID, Kind: a.Kind, Status: status, Title: a.Title, Depth: a.Depth, Tags: append([]string{}, a.Tags...),
			UpdatedAt: render.Time(a.UpdatedAt), key: rowKey{created: a.CreatedAt, number: int64(a.Number), uid: a.UID}}
		if in.Detail {
			row.listMore = &listMore{UID: a.UID.String(), Version: a.Version, CreatedAt: render.Time(a.CreatedAt), Author: a.Author,
				ValidUntil: a.ValidUntil, Path: a.Path}
		}
		if status == "draft" {
			drafts++
		}
		byUID[a.UID] = len(found)
		found = append(found, row)
	}
	slices.SortFunc(found, func(a, b listRow) int { return a.key.compare(b.key) })
	out.Count = len(found)
	if in.Cursor != "" {
		i, _ := slices.BinarySearchFunc(found, from, func(r listRow, k rowKey) int {
			if r.key.compare(k) <= 0 {
				return -1
			}
			return 1
		})
		found = found[i:]
	}
	shown := found[:listSize(c, in, found)]
	out.Artifacts = append(out.Artifacts, shown...)
	out.Returned = len(shown)
	if out.Truncated = len(shown) < len(found); out.Truncated {
		out.NextCursor = found[max(0, len(shown)-1)].key.cursor()
	}
	for _, r := range shown {
		c.Read(r.key.uid)
	}
	if newer > 0 {
		c.Warn("%d newer event%s not understood by this program", newer, plural(newer))
	}
	listHint(c, in, &out, drafts)
	return out, nil
})

// listSize is how many of the found rows go into the answer.
func listSize(c *Run, in listIn, found []listRow) int {
	switch {
	case in.Limit != nil:
		return min(int(*in.Limit), len(found))
	case c.Caller.Face == "cli":
		return len(found)
	}
	n, size := 0, replyReserve
	for n < min(listLimit, len(found)) {
		row, err := render.JSON(found[n])
		if err != nil {
			break
		}
		if size += len(row) + 1; size > replyBudget && n > 0 {
			c.Warn("stopped at %d rows to keep the answer under 80 KB", n)
			break
		}
		n++
	}
	return n
}

func listHint(c *Run, in listIn, out *listOut, drafts int) {
	filtered := out.Filters != (listFilters{})
	switch {
	case out.Truncated:
		args := []any{"cursor", Fixed(literal(out.NextCursor))}
		for _, f := range [][2]string{{"kind", in.Kind}, {"status", in.Status}, {"tag", in.Tag}} {
			if f[1] != "" {
				args = append(args, f[0], f[1])
			}
		}
		if in.Limit != nil {
			args = append(args, "limit", *in.Limit)
		}
		c.Next(Say("%s of %s shown. Go on: ", out.Returned, out.Count), Call("forgeplan_list", args...))
	case out.Count == 0 && filtered:
		c.Next(Say("Nothing matches these filters. See all: "), Call("forgeplan_list"))
	case out.Count == 0:
		c.Next(Say("Nothing here yet. Begin: "), Call("forgeplan_new", "kind", "prd", "title", Fixed("First decision")))
	case drafts > 0 && in.Status == "":
		args := []any{"status", "draft"}
		for _, f := range [][2]string{{"kind", in.Kind}, {"tag", in.Tag}} {
			if f[1] != "" {
				args = append(args, f[0], f[1])
			}
		}
		c.Next(Say("%s draft(s) among them: ", drafts), Call("forgeplan_list", args...))
	default:
		c.Next(Say("Read one: "), Call("forgeplan_get", "id", out.Artifacts[0].ID))
	}
}

// hasTag: key=value matches that tag alone, key matches it bare or with any value.
func hasTag(tags []string, want string) bool {
	want = strings.ToLower(strings.TrimSpace(want))
	for _, t := range tags {
		t = strings.ToLower(t)
		if t == want {
			return true
		}
		if key, _, ok := strings.Cut(t, "="); ok && key == want && !strings.Contains(want, "=") {
			return true
		}
	}
	return false
}
