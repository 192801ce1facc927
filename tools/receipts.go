package tools

import (
	"errors"
	"fmt"
	"io"

	"forgeplan/internal/render"
	"forgeplan/internal/workspace"
	"forgeplan/receipts"

	"github.com/oklog/ulid/v2"
)

type receiptsIn struct {
	Open  bool   `json:"open" doc:"Only those that can be taken back."`
	Limit *int64 `json:"limit" short:"n" min:"1" max:"1000" doc:"Newest first; default 50."`
}

type receiptRow struct {
	ReceiptID  string `json:"receipt_id"`
	Op         string `json:"op"`
	ID         string `json:"id"`
	Title      string `json:"title"`
	OpAt       string `json:"op_at"`
	OpBy       string `json:"op_by"`
	Call       string `json:"call"`
	Open       bool   `json:"open"`
	Undo       string `json:"undo"` // what would come back, or what became of it
	ConsumedAt string `json:"consumed_at,omitempty"`
	ConsumedBy string `json:"consumed_by,omitempty"`
}

type receiptsOut struct {
	Count    int          `json:"count"`
	Receipts []receiptRow `json:"receipts"`
	Returned int          `json:"returned"`
}

func (o *receiptsOut) WriteText(w io.Writer, width int) {
	rows := make([][]string, len(o.Receipts))
	for i, r := range o.Receipts {
		rows[i] = []string{r.OpAt, r.Op, r.ID, r.OpBy, r.Undo, r.Title}
	}
	if len(rows) > 0 {
		render.Table(w, width, []string{"WHEN", "WHAT", "ID", "WHO", "UNDO", "TITLE"}, rows, 5)
	}
	fmt.Fprintf(w, "%d of %d receipts\n", o.Returned, o.Count)
}

// receiptsLimit is how many receipts come without being asked for.
const receiptsLimit = 50

var receiptsTool = Reading(Tool{
	Name: "forgeplan_receipts", Command: "receipts", Title: "What can be taken back", Effect: Reads, Set: "core", looks: looksNowhere,
	Summary: "Lists deletions, supersedes and deprecations, newest first: whose, when, and what would come back.",
	Doc:     "Receipts never expire.",
	Example: `{"open": true}`,
}, func(c *Run, in receiptsIn) (receiptsOut, error) {
	out := receiptsOut{Receipts: []receiptRow{}}
	limit := receiptsLimit
	if in.Limit != nil {
		limit = int(*in.Limit)
	}
	err := c.View(func(w *workspace.World) error {
		for r, err := range w.Receipts().All() {
			if err != nil {
				return err
			}
			if in.Open && !r.Open() {
				continue
			}
			if out.Count++; len(out.Receipts) < limit {
				out.Receipts = append(out.Receipts, rowOf(w, r))
				c.Read(r.UID)
			}
		}
		return nil
	})
	out.Returned = len(out.Receipts)
	switch {
	case out.Count == 0 && in.Open:
		c.Next(Say("Nothing is left that could be taken back. See the others: "), Call("forgeplan_receipts"))
	case out.Count == 0:
		c.Next(Say("Nothing was deleted, superseded or deprecated. See what there is: "), Call("forgeplan_list"))
	default:
		c.Next(Say("See what happened: "), Call("forgeplan_activity"))
	}
	return out, err
})

func rowOf(w *workspace.World, r receipts.Receipt) receiptRow {
	row := receiptRow{ReceiptID: r.ID, Op: r.Op, ID: r.Artifact, Title: r.Title, OpAt: render.Time(r.At), OpBy: w.Who(r.Run), Call: r.Run.String(), Open: r.Open()}
	if !r.Open() {
		row.Undo = "taken back"
		if r.Redone != (ulid.ULID{}) {
			row.Undo = "taken back, then done again"
		}
		row.ConsumedAt, row.ConsumedBy = render.Time(r.ConsumedAt), r.Consumed.String()
		return row
	}
	was, ok, err := w.Event(r.Event)
	if err != nil || !ok || was.Data == nil {
		row.Undo = "needs a newer program"
		return row
	}
	if _, err := receipts.Reverse(r, was.Data, w); err != nil {
		row.Undo = "not now: " + err.Error()
		return row
	}
	row.Undo = map[string]string{receipts.OpDelete: "brings all of it back", receipts.OpSupersede: "sets the status back",
		receipts.OpDeprecate: "sets the status back"}[r.Op]
	return row
}

func asDeleted(err error, to **workspace.DeletedError) bool { return errors.As(err, to) }
