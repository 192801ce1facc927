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
		Use: "replay", Short: "Rebuilds tables, Markdown and logs from the journal", GroupID: groupMaintain, Args: cobra.NoArgs,
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
		Use: "verify", Short: "Checks chains, bodies and tables against the journal; writes nothing", GroupID: groupInvestigate, Args: cobra.NoArgs,
		Long: "Recomputes both hash chains, every body and every table row from the journal and\ncompares. Writes nothing. Exit code 3 if something differs. Files changed by hand\nare listed and are no failure.",
		RunE: func(cmd *cobra.Command, _ []string) error { return p.check(cmd) },
	}
}

// checked is the JSON of replay and verify.
type checked struct {
	OK        bool     `json:"ok"`
	Changes   uint64   `json:"changes"`
	Calls     uint64   `json:"calls"`
	Artifacts int      `json:"artifacts"`
	Relations int      `json:"relations"`
	Newer     int      `json:"newer_events"`
	Tables    string   `json:"tables"`
	Written   *int     `json:"files_written,omitempty"`
	Lines     *int     `json:"log_lines_written,omitempty"`
	Pending   []string `json:"pending_hand_edits"`
	Missing   []string `json:"missing_files"`
	Hash      string   `json:"state_hash"`
	Drift     string   `json:"first_divergent_event,omitempty"`
	Next      string   `json:"_next_action"`
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
	out.Written, out.Lines = &rep.Written, &rep.LogLines
	out.Next = "forgeplan verify"
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
	out.Next = "forgeplan list"
	if rep.Drift != nil {
		p.code, out.OK, out.Next = 3, false, "forgeplan replay"
		out.Drift = rep.Drift.Event.String()
		if strings.Trim(out.Drift, "0") == "" {
			out.Drift = "none: a row that no event accounts for"
		}
	}
	p.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "Checked %d events and %d calls: %d artifacts, %d links.\n", rep.Changes, rep.Calls, rep.Artifacts, rep.Relations)
		if rep.Drift == nil {
			fmt.Fprintf(w, "Chains, bodies and tables agree with the journal.\n")
			return
		}
		fmt.Fprintf(w, "DRIFT in table %s, %d row(s). First divergent event: %s\nRebuild the tables: forgeplan replay\n", rep.Drift.Table, rep.Drift.Rows, out.Drift)
	})
	return nil
}

func (p *program) checked(rep workspace.Report) checked {
	return checked{OK: true, Changes: rep.Changes, Calls: rep.Calls, Artifacts: rep.Artifacts, Relations: rep.Relations, Newer: rep.Newer, Tables: rep.Tables,
		Pending: orNone(rep.Pending), Missing: orNone(rep.Missing), Hash: hex.EncodeToString(rep.StateHash[:])}
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func (p *program) print(out checked, text func(io.Writer)) {
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
	for _, f := range out.Missing {
		fmt.Fprintf(p.stdout, "Missing: %s\n", f)
	}
	if out.Newer > 0 {
		fmt.Fprintf(p.stdout, "%d event(s) of a newer program are not understood.\n", out.Newer)
	}
	fmt.Fprintf(p.stdout, "State hash %s\n", out.Hash)
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
