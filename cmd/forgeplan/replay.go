package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"forgeplan/internal/workspace"
	"forgeplan/tools"

	"github.com/spf13/cobra"
)

func (p *program) replayCommand() *cobra.Command {
	var verify bool
	cmd := &cobra.Command{
		Use: "replay", Short: "Rebuilds tables, Markdown and logs from the journal", GroupID: groupMaintain, Args: noPlaces,
		Long: "Rebuilds the tables, every Markdown file and every log line from the journal. What\nis right already is left alone; files changed by hand are listed and left alone.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if verify {
				return p.check(cmd)
			}
			return p.rebuild(cmd)
		},
	}
	cmd.Flags().BoolVar(&verify, "verify", false, "compare and write nothing, like forgeplan verify")
	return cmd
}

func (p *program) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Checks chains, bodies and tables against the journal; writes nothing", GroupID: groupInvestigate, Args: noPlaces,
		Long: "Recomputes both hash chains, every body and every table row from the journal and\ncompares. Writes nothing. Exit code 3 if something differs. Files changed by hand\nare listed and are no failure.",
		RunE: func(cmd *cobra.Command, _ []string) error { return p.check(cmd) },
	}
}

// checked is the JSON of replay and verify: the answer, or the failure that
// drift is, with the numbers all the same.
type checked struct {
	OK        *bool               `json:"ok,omitempty"`
	Error     string              `json:"error,omitempty"`
	Class     string              `json:"error_class,omitempty"`
	Changes   uint64              `json:"changes"`
	Calls     uint64              `json:"calls"`
	Artifacts int                 `json:"artifacts"`
	Relations int                 `json:"relations"`
	Newer     int                 `json:"newer_events"`
	Tables    string              `json:"tables"`
	Written   *int                `json:"files_written,omitempty"`
	Lines     *int                `json:"log_lines_written,omitempty"`
	Pending   []string            `json:"pending_hand_edits"`
	Missing   []string            `json:"missing_files"`
	Behind    []string            `json:"files_behind"`
	Findings  []workspace.Finding `json:"findings"`
	Failed    []string            `json:"files_not_written"`
	Hash      string              `json:"state_hash"`
	Drift     string              `json:"first_divergent_event,omitempty"`
	Next      string              `json:"_next_action"`
}

func (p *program) rebuild(cmd *cobra.Command) error {
	ws, err := p.env.Open()
	if err != nil {
		return tools.Classify(err)
	}
	defer ws.Close()
	rep, err := ws.Replay(cmd.Context(), p.progress())
	if err != nil {
		return tools.Classify(err)
	}
	out := p.checked(rep)
	if len(rep.Failed) > 0 {
		out.OK, out.Class = new(bool), tools.ClassIO
		out.Error = fmt.Sprintf("%d file(s) could not be written; everything else was", len(rep.Failed))
		p.code = tools.ExitCode(&tools.Failure{Class: out.Class})
	}
	out.Written, out.Lines = &rep.Written, &rep.LogLines
	if out.Next = "Check it: `forgeplan verify`"; len(rep.Failed) > 0 {
		out.Next = "Mend what is in their way, then: `forgeplan replay`"
	}
	p.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "Replayed %d events and %d calls: %d artifacts, %d links.\n", rep.Changes, rep.Calls, rep.Artifacts, rep.Relations)
		fmt.Fprintf(w, "Tables %s, %d files and %d log lines written.\n", rep.Tables, rep.Written, rep.LogLines)
	})
	return nil
}

func (p *program) check(cmd *cobra.Command) error {
	ws, err := p.env.Open()
	if err != nil {
		return tools.Classify(err)
	}
	defer ws.Close()
	rep, err := ws.Verify(cmd.Context(), p.progress())
	if err != nil {
		return tools.Classify(err)
	}
	out := p.checked(rep)
	out.Next = "See what there is: `forgeplan list`"
	if d := rep.Drift; d != nil {
		out.OK, out.Class = new(bool), tools.ClassDrift
		out.Drift = d.Event.String()
		if strings.Trim(out.Drift, "0") == "" {
			out.Drift = "none: a row that no event accounts for"
		}
		out.Error = fmt.Sprintf("drift: %d row(s) differ from the journal, the first in table %s; first divergent event: %s", d.Rows, d.Table, out.Drift)
		out.Next = "Rebuild the tables: `forgeplan replay`"
		p.code = tools.ExitCode(&tools.Failure{Class: out.Class})
	}
	p.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "Checked %d events and %d calls: %d artifacts, %d links.\n", rep.Changes, rep.Calls, rep.Artifacts, rep.Relations)
		if rep.Drift == nil {
			fmt.Fprintln(w, "Chains, bodies and tables agree with the journal.")
		}
	})
	return nil
}

func (p *program) checked(rep workspace.Report) checked {
	return checked{Changes: rep.Changes, Calls: rep.Calls, Artifacts: rep.Artifacts, Relations: rep.Relations, Newer: rep.Newer, Tables: rep.Tables,
		Pending: orNone(rep.Pending), Missing: orNone(rep.Missing), Behind: orNone(rep.Behind), Findings: append([]workspace.Finding{}, append(rep.Findings, rep.Found.Findings...)...), Failed: orNone(rep.Failed), Hash: hex.EncodeToString(rep.StateHash[:])}
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func (p *program) print(out checked, text func(io.Writer)) {
	p.answered.Store(true)
	if p.json {
		enc := json.NewEncoder(p.stdout)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(out)
		return
	}
	text(p.stdout)
	for _, f := range out.Pending {
		fmt.Fprintf(p.stdout, "Changed by hand, not taken in: %s\n", f)
	}
	for _, f := range out.Findings {
		fmt.Fprintf(p.stdout, "Finding: %s\n", f)
	}
	for _, f := range out.Behind {
		fmt.Fprintf(p.stdout, "Behind the journal, written by the next call: %s\n", f)
	}
	for _, f := range out.Failed {
		fmt.Fprintf(p.stdout, "Not written: %s\n", f)
	}
	for _, f := range out.Missing {
		fmt.Fprintf(p.stdout, "Missing: %s\n", f)
	}
	if out.Newer > 0 {
		fmt.Fprintf(p.stdout, "%d event(s) of a newer program are not understood.\n", out.Newer)
	}
	fmt.Fprintf(p.stdout, "State hash %s\n", out.Hash)
	if out.OK != nil {
		fmt.Fprintf(p.stderr, "error: %s\nhint: %s\n", out.Error, out.Next)
	}
}

// progress writes one line on stderr that is written over, if that is a
// terminal: ten times a second, and not before half a second has gone by.
func (p *program) progress() workspace.Progress {
	if !isTerminal(p.stderr) || p.json {
		return nil
	}
	begin := p.env.Clock()
	last := begin
	shown := false
	return func(stage string, done, total uint64) {
		now := p.env.Clock()
		if now.Sub(begin) < 500*time.Millisecond {
			return
		}
		if end := done >= total; end && shown {
			fmt.Fprintf(p.stderr, "\r\x1b[K")
			shown = false
			return
		}
		if now.Sub(last) < 100*time.Millisecond {
			return
		}
		last, shown = now, true
		fmt.Fprintf(p.stderr, "\r\x1b[K%s %d of %d", stage, done, total)
	}
}
