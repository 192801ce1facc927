package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

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
		Use: "version", Short: "Prints version, commit and journal format", GroupID: groupMaintain, Args: noPlaces,
		Long: "Prints version, commit and journal format.",
		RunE: func(*cobra.Command, []string) error { return p.printVersion() },
	}
}

func (p *program) printVersion() error {
	if p.json {
		return json.NewEncoder(p.stdout).Encode(struct {
			Version string `json:"version"`
			Commit  string `json:"commit"`
			Format  int    `json:"journal_format"`
			Go      string `json:"go"`
		}{version, commit(), workspace.JournalFormat, runtime.Version()})
	}
	_, err := fmt.Fprintln(p.stdout, versionText())
	return err
}
