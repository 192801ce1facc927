package tools

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"forgeplan/internal/artifact"
	"forgeplan/internal/render"
	"forgeplan/internal/workspace"

	"github.com/oklog/ulid/v2"
)

type getIn struct {
	ID     string `json:"id" pos:"1" required:"true" doc:"Id, any case and padding."`
	Offset int64  `json:"offset" min:"0" default:"0" doc:"First byte of the body."`
	Length *int64 `json:"length" min:"1" max:"8388608" doc:"Bytes of body, default 65536."`
	Full   bool   `json:"full" doc:"The whole body."`
}

type linkRow struct {
	Relation string `json:"relation"`
	ID       string `json:"id"`
	Title    string `json:"title"`
	Status   string `json:"status"`
}

type fieldRow struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type getOut struct {
	ID         string     `json:"id"`
	Kind       string     `json:"kind"`
	Status     string     `json:"status"`
	Title      string     `json:"title"`
	Depth      string     `json:"depth"`
	Tags       []string   `json:"tags"`
	Author     string     `json:"author"`
	ParentEpic string     `json:"parent_epic"`
	ValidUntil string     `json:"valid_until"`
	CreatedAt  string     `json:"created_at"`
	UpdatedAt  string     `json:"updated_at"`
	UID        string     `json:"uid"`
	Version    int        `json:"version"`
	Path       string     `json:"path"`
	Fields     []fieldRow `json:"fields"` // other keys of the frontmatter, such as deprecated_reason
	Links      []linkRow  `json:"links"`
	LinkedFrom []linkRow  `json:"linked_from"`
	Body       string     `json:"body"`
	BodyBytes  int64      `json:"body_bytes"`
	Truncated  bool       `json:"truncated"`
	NextOffset *int64     `json:"next_offset,omitempty"`
}

func (o *getOut) WriteText(w io.Writer, _ int) {
	fmt.Fprintf(w, "%s  %s\n", o.ID, render.Safe(o.Title, 0))
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-12s%s\n", name, render.Safe(value, 0))
		}
	}
	line("Kind", o.Kind)
	line("Status", o.Status)
	line("Depth", o.Depth)
	line("Tags", strings.Join(o.Tags, ", "))
	line("Author", o.Author)
	line("Epic", o.ParentEpic)
	line("Valid until", o.ValidUntil)
	line("Created", o.CreatedAt)
	line("Updated", o.UpdatedAt)
	line("Version", fmt.Sprint(o.Version))
	line("File", workspace.Folder+"/"+o.Path)
	for _, f := range o.Fields {
		line(render.Safe(f.Key, 40), " "+f.Value)
	}
	for _, l := range o.Links {
		line("Link", l.Relation+" "+l.ID+"  "+l.Title)
	}
	for _, l := range o.LinkedFrom {
		line("Linked from", l.ID+" "+l.Relation+"  "+l.Title)
	}
	fmt.Fprintf(w, "\n%s", render.Printable(o.Body))
	if !strings.HasSuffix(o.Body, "\n") {
		fmt.Fprintln(w)
	}
	if o.Truncated {
		fmt.Fprintf(w, "… %d of %d bytes; the rest: forgeplan get %s --full\n", len(o.Body), o.BodyBytes, o.ID)
	}
}

// bodyPage is how many bytes of a body come without being asked for.
const bodyPage = 64 << 10

var getTool = Reading(Tool{
	Name: "forgeplan_get", Command: "get", Title: "Read one artifact", Effect: Reads, Set: "core",
	Summary: "Reads one artifact whole: fields, links both ways, body.",
	Doc:     "Bodies over 64 KiB come in pages: `next_offset`, or `full`. To find ids use forgeplan_list.",
	Example: `{"id": "PRD-042"}`,
}, func(c *Run, in getIn) (getOut, error) {
	out := getOut{Fields: []fieldRow{}, Links: []linkRow{}, LinkedFrom: []linkRow{}}
	var a artifact.Artifact
	var body []byte
	var clashes []artifact.Artifact
	err := c.View(func(w *workspace.World) (err error) {
		if a, err = w.Find(in.ID); err != nil {
			return err
		}
		if body, err = w.Body(a); err != nil {
			return err
		}
		if out.Links, out.LinkedFrom, err = linkRows(w, a.UID); err != nil {
			return err
		}
		clashes = w.Clashes(a)
		return nil
	})
	if err != nil {
		return out, err
	}
	c.Target(a.UID)
	c.Read(a.UID)
	if in.Offset > 0 && in.Offset >= int64(len(body)) {
		c.Warn("offset %d lies behind the end of the body, %d bytes", in.Offset, len(body))
	}
	for _, other := range clashes {
		c.Warn("%s is also the id in %s, which is listed as %s; this one is %s", a.ID, other.Path, other.ID, a.Path)
	}
	out.ID, out.Kind, out.Status, out.Title, out.Depth = a.ID, a.Kind, a.StatusAt(c.Now()), a.Title, a.Depth
	out.Tags = append([]string{}, a.Tags...)
	out.Author, out.ParentEpic, out.ValidUntil = a.Author, a.ParentEpic, a.ValidUntil
	out.CreatedAt, out.UpdatedAt = render.Time(a.CreatedAt), render.Time(a.UpdatedAt)
	out.UID, out.Version, out.Path = a.UID.String(), a.Version, a.Path
	for _, f := range a.Fields {
		out.Fields = append(out.Fields, fieldRow(f))
	}
	out.BodyBytes = int64(len(body))
	from, to := page(body, in)
	out.Body = string(body[from:to])
	if to < len(body) {
		next := int64(to)
		out.Truncated, out.NextOffset = true, &next
	}
	if a.Unknown > 0 {
		c.Warn("%d newer event(s) of %s are not understood by this program; what they changed is not shown", a.Unknown, a.ID)
	}
	switch {
	case out.Truncated:
		args := []any{"id", a.ID, "offset", *out.NextOffset}
		if in.Length != nil {
			args = append(args, "length", *in.Length)
		}
		c.Next(Say("Read on: "), Call("forgeplan_get", args...))
	case out.Status == "draft":
		c.Next(Say("A draft at version %s: pass that as if_version when you update it. Other drafts: ", a.Version), Call("forgeplan_list", "status", "draft"))
	default:
		c.Next(Say("See what else is active: "), Call("forgeplan_list", "status", "active"))
	}
	return out, nil
})

// page cuts the bytes that were asked for, never inside a character.
func page(body []byte, in getIn) (from, to int) {
	from = min(int(in.Offset), len(body))
	for from < len(body) && !utf8.RuneStart(body[from]) {
		from++
	}
	size := bodyPage
	if in.Length != nil {
		size = int(*in.Length)
	}
	if in.Full {
		size = len(body)
	}
	to = min(from+size, len(body))
	cut := to
	for to < len(body) && to > from && !utf8.RuneStart(body[to]) {
		to--
	}
	if to == from { // one character is longer than what was asked for
		for to = cut; to < len(body) && !utf8.RuneStart(body[to]); {
			to++
		}
	}
	return from, to
}

func linkRows(w *workspace.World, uid ulid.ULID) (out, in []linkRow, err error) {
	out, in = []linkRow{}, []linkRow{}
	for r, err := range w.Relations().From(uid) {
		if err != nil {
			return nil, nil, err
		}
		row := linkRow{Relation: r.Relation, ID: r.Target}
		if a, ok, err := w.Artifacts().Get(r.Bound); err != nil {
			return nil, nil, err
		} else if ok {
			row.ID, row.Title, row.Status = a.ID, a.Title, a.StatusAt(w.Now())
		} else if r.Bound != (ulid.ULID{}) {
			continue // a link is visible while both ends live
		}
		out = append(out, row)
	}
	for r, err := range w.Relations().To(uid) {
		if err != nil {
			return nil, nil, err
		}
		a, ok, err := w.Artifacts().Get(r.Source)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			in = append(in, linkRow{Relation: r.Relation, ID: a.ID, Title: a.Title, Status: a.StatusAt(w.Now())})
		}
	}
	return out, in, nil
}
