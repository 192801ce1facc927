package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder without a usable journal is either one where there never was a
// journal, or one that lost it: only the first may be made a workspace.
func TestJournalState(t *testing.T) {
	const (
		call    = `{"ts":"2026-04-26T10:00:00.000Z","tool":"forgeplan_list","call":"01J00000000000000000000000"}` + "\n"
		foreign = `{"ts":"2026-04-26T10:00:00.000Z","tool":"forgeplan_list","status":"ok"}` + "\n"
	)
	for name, tt := range map[string]struct {
		files map[string]string
		want  error
	}{
		"fresh folder":                  {nil, ErrUninitialized},
		"configuration only":            {map[string]string{configName: "version: 1\n", ".gitignore": "/lock\n", lockName: "{}"}, ErrUninitialized},
		"artifact files only":           {map[string]string{"prds/PRD-001-a.md": "---\nid: PRD-001\n---\n"}, ErrUninitialized},
		"a journal":                     {map[string]string{journalName: "x"}, nil},
		"empty journal":                 {map[string]string{journalName: ""}, ErrLost},
		"a folder in its place":         {map[string]string{journalName + "/": ""}, ErrLost},
		"beside a cache":                {map[string]string{"cache/whole": "01J00000000000000000000000\n"}, ErrLost},
		"beside an empty cache":         {map[string]string{"cache/": ""}, ErrUninitialized},
		"beside a second copy":          {map[string]string{"copy/events-2026-04-26.jsonl": "{}\n"}, ErrLost},
		"beside our log":                {map[string]string{"logs/tools-2026-04-26.jsonl": foreign + call}, ErrLost},
		"beside our log, then a torn":   {map[string]string{"logs/tools-2026-04-26.jsonl": call + `{"ts":"20`}, ErrLost},
		"beside our log, then foreign":  {map[string]string{"logs/tools-2026-04-26.jsonl": call + strings.Repeat(foreign, 2000)}, ErrLost},
		"beside the log of another":     {map[string]string{"logs/tools-2026-04-26.jsonl": foreign}, ErrUninitialized},
		"beside a log of another name":  {map[string]string{"logs/other.jsonl": call}, ErrUninitialized},
		"beside a text that says call":  {map[string]string{"logs/tools-a.jsonl": `"call":"01J00000000000000000000000"` + "\n"}, ErrUninitialized},
		"half an init, before the name": {map[string]string{".tmp-journal.db-1-1": "half"}, ErrUninitialized},
	} {
		t.Run(name, func(t *testing.T) {
			w := &Workspace{root: folder(t, tt.files)}
			if err := w.journalState(); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// A link is no journal, wherever it leads.
func TestJournalIsNoLink(t *testing.T) {
	root := folder(t, map[string]string{"elsewhere": "x"})
	if err := os.Symlink("elsewhere", filepath.Join(root.Name(), journalName)); err != nil {
		t.Skip("links need a privilege here:", err)
	}
	if err := (&Workspace{root: root}).journalState(); !errors.Is(err, ErrLost) {
		t.Errorf("got %v, want ErrLost", err)
	}
}
