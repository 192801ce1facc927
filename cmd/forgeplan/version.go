package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"unicode/utf8"

	"forgeplan/internal/render"
	"forgeplan/internal/workspace"

	"github.com/spf13/cobra"
)

// version is set by the linker for releases.
var version = "v0.1.0"

// commit is what the binary was built from, as far as the build knows.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	rev, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			rev = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = " (changed)"
		}
	}
	return rev + dirty
}

func versionText() string {
	return fmt.Sprintf("forgeplan %s, commit %s, journal format %d, %s", version, commit(), workspace.JournalFormat, runtime.Version())
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Prints version, commit and journal format", GroupID: groupMaintain, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if p.json {
				enc := json.NewEncoder(p.stdout)
				return enc.Encode(struct {
					Version string `json:"version"`
					Commit  string `json:"commit"`
					Format  int    `json:"journal_format"`
					Go      string `json:"go"`
				}{version, commit(), workspace.JournalFormat, runtime.Version()})
			}
			fmt.Fprintln(p.stdout, versionText())
			return nil
		},
	}
}

func safeText(s string, limit int) string { return render.Safe(s, limit) }

func validText(b []byte) bool { return utf8.Valid(b) }
