package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// folder is a root over a new folder that holds these files.
func folder(t *testing.T, files map[string]string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(lay(t, files))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func TestConfig(t *testing.T) {
	t.Setenv("FORGEPLAN_LOCK_WAIT", "")
	all := Config{Version: 1, Project: "Путь", LockWait: 250 * time.Millisecond, MaxTitle: 80, MaxBody: 512 << 10, Retention: "forever"}
	plain := defaultConfig()
	for name, tt := range map[string]struct {
		text string
		want Config
	}{
		"empty":         {"", plain},
		"comments":      {"# nothing\n", plain},
		"all":           {"version: 1\nproject_name: Путь\nlock_wait: 250ms\nlimits:\n  title: 80\n  body: 512KiB\nretention:\n  calls: forever\n", all},
		"unknown keys":  {"version: 1\nhooks:\n  lock_wait: never\nlimits:\n  depth: many\n", plain},
		"size in bytes": {"limits: {body: 8388608}\n", plain},
		"no values":     {"limits:\nretention:\nproject_name:\n", plain},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readConfig(folder(t, map[string]string{configName: tt.text}))
			if err != nil || got != tt.want {
				t.Errorf("got %+v (%v), want %+v", got, err, tt.want)
			}
		})
	}
	if got, err := readConfig(folder(t, nil)); err != nil || got != plain {
		t.Errorf("no file: got %+v (%v), want the defaults", got, err)
	}
}

// A setting that cannot be used is named with its key and its line.
func TestConfigErrors(t *testing.T) {
	t.Setenv("FORGEPLAN_LOCK_WAIT", "")
	for text, want := range map[string]ConfigError{
		"version: one\n": {Key: "version", Line: 1},
		"version: 0\n":   {Key: "version", Line: 1},
		"version: 1\n# a comment\nlock_wait: soon\n": {Key: "lock_wait", Line: 3},
		"lock_wait: 0s\n":                           {Key: "lock_wait", Line: 1},
		"lock_wait: 2h\n":                           {Key: "lock_wait", Line: 1},
		"lock_wait: 5\n":                            {Key: "lock_wait", Line: 1},
		"limits:\n  body: 1MiB\n  title: 501\n":     {Key: "limits.title", Line: 3},
		"limits:\n  body: 9MiB\n":                   {Key: "limits.body", Line: 2},
		"limits:\n  body: huge\n":                   {Key: "limits.body", Line: 2},
		"limits:\n  body: 1023\n":                   {Key: "limits.body", Line: 2},
		"limits:\n  body: 17592186044417MiB\n":      {Key: "limits.body", Line: 2}, // 2^64 bytes and one MiB
		"\n\nretention:\n  calls: 30d\n":            {Key: "retention.calls", Line: 4},
		"- a\n- list\n":                             {Line: 1},
		"version: 1\nlimits: 12\n":                  {Key: "limits", Line: 2},
		"version: 1\nlock_wait: [5s]\n":             {Key: "lock_wait", Line: 2},
		"project_name: {a: b}\n":                    {Key: "project_name", Line: 1},
		"version: 1\nproject_name: a\nversion: 1\n": {Key: "version", Line: 3},
		"limits:\n  title: 5\n  title: 6\n":         {Key: "limits.title", Line: 3},
		"version: 1\nlock_wait: 5s: x\n":            {Line: 2},
	} {
		t.Run(text, func(t *testing.T) {
			_, err := readConfig(folder(t, map[string]string{configName: text}))
			var got *ConfigError
			if !errors.As(err, &got) {
				t.Fatalf("got %v, want a ConfigError", err)
			}
			if got.Key != want.Key || got.Line != want.Line {
				t.Errorf("got key %q, line %d (%v), want key %q, line %d", got.Key, got.Line, err, want.Key, want.Line)
			}
			if msg := err.Error(); !strings.Contains(msg, want.Key) || got.Msg == "" || strings.Contains(msg, "\n") {
				t.Errorf("message %q", msg)
			}
		})
	}
}

func TestConfigOfANewerProgram(t *testing.T) {
	if _, err := readConfig(folder(t, map[string]string{configName: "version: 2\n"})); !errors.Is(err, ErrNewer) {
		t.Errorf("got %v, want ErrNewer", err)
	}
}

// The environment stands above the file.
func TestConfigFromTheEnvironment(t *testing.T) {
	root := folder(t, map[string]string{configName: "lock_wait: 1s\n"})
	t.Setenv("FORGEPLAN_LOCK_WAIT", "300ms")
	if got, err := readConfig(root); err != nil || got.LockWait != 300*time.Millisecond {
		t.Errorf("got %v (%v), want 300ms", got.LockWait, err)
	}
	for _, bad := range []string{"soon", "0s", "-1s"} {
		t.Setenv("FORGEPLAN_LOCK_WAIT", bad)
		var got *ConfigError
		if _, err := readConfig(root); !errors.As(err, &got) || got.Key != "FORGEPLAN_LOCK_WAIT" || strings.Contains(err.Error(), configName) {
			t.Errorf("%s: got %v, want an error of the variable, not of the file", bad, err)
		}
	}
}

// Init adds what git shall not see, and leaves the lines of the user alone.
func TestIgnore(t *testing.T) {
	ours := strings.Join(ignored, "\n") + "\n"
	for name, tt := range map[string]struct{ before, want string }{
		"none":        {"", ours},
		"own lines":   {"# mine\n*.bak\n", "# mine\n*.bak\n" + ours},
		"no last end": {"*.bak", "*.bak\n" + ours},
		"some of ours": {
			"/lock\n!/logs/keep\n", "/lock\n!/logs/keep\n" + strings.Replace(ours, "/lock\n", "", 1),
		},
		"all, in another order": {"/logs/\n# mine\n" + strings.Replace(ours, "/logs/\n", "", 1), "/logs/\n# mine\n" + strings.Replace(ours, "/logs/\n", "", 1)},
		"windows line ends":     {"*.bak\r\n/lock\r\n", "*.bak\r\n/lock\r\n" + strings.Replace(ours, "/lock\n", "", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			if tt.before != "" {
				files[".gitignore"] = tt.before
			}
			root := folder(t, files)
			w := &Workspace{root: root}
			for range 2 { // the second time changes nothing
				if err := w.writeIgnore(); err != nil {
					t.Fatal(err)
				}
				if got, err := root.ReadFile(".gitignore"); err != nil || string(got) != tt.want {
					t.Errorf("got %q (%v), want %q", got, err, tt.want)
				}
			}
		})
	}
}

// Patterns never hide what belongs into the repository.
func TestIgnoreCoversNoArtifact(t *testing.T) {
	for _, name := range []string{configName, ".gitignore", "prds/PRD-001-log.md", "notes/NOTE-001-copy.md"} {
		for _, p := range ignored {
			p = strings.Trim(p, "/")
			for _, part := range strings.Split(name, "/") {
				if ok, err := filepath.Match(p, part); ok || err != nil {
					t.Errorf("%s hides %s (%v)", p, name, err)
				}
			}
		}
	}
}
