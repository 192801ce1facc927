package layers

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestTree(t *testing.T) {
	tree := os.DirFS("../..")
	findings, owed, err := check(tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Error(f)
	}
	for debt := range Debts {
		if !owed[debt] {
			t.Errorf("the debt %q is paid: take it out of the table", debt)
		}
	}
}

// The check sees what it is there for.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, file, src string
		want            string // part of the one finding; empty: none
	}{
		{"allowed", "projection/a.go", `import ("forgeplan/internal/event"; "github.com/vmihailenco/msgpack/v5/msgpcode"; "iter")`, ""},
		{"journal knows no artifact", "journal/a.go", `import "forgeplan/internal/artifact"`, "a.go:2: journal may not import internal/artifact"},
		{"upwards", "internal/workspace/a.go", `import "forgeplan/tools"`, "may not import tools"},
		{"bbolt has one home", "projection/a.go", `import "go.etcd.io/bbolt"`, "may not import go.etcd.io/bbolt"},
		{"bbolt in a test of another folder", "tools/a_test.go", `import "go.etcd.io/bbolt"`, "may not import go.etcd.io/bbolt"},
		{"part of a name is not the module", "journal/a.go", `import "go.etcd.io/bboltx"`, "may not import"},
		{"the SDK has one home", "tools/a.go", `import "github.com/modelcontextprotocol/go-sdk/mcp"`, "may not import"},
		{"the SDK in tests", "cmd/forgeplan/a_test.go", `import "github.com/modelcontextprotocol/go-sdk/mcp"`, ""},
		{"the face moves JSON", "mcp/a.go", `import "forgeplan/projection"`, "mcp may not import projection"},
		{"new folder", "util/a.go", ``, "folder util is not in the table"},
		{"the root", "a.go", ``, "folder . is not in the table"},
		{"tree of folders", "internal/analysis/health/a.go", `import ("forgeplan/internal/analysis/score"; "forgeplan/internal/artifact")`, ""},
		{"tree of folders keeps to itself", "internal/analysis/health/a.go", `import "forgeplan/projection"`, "may not import projection"},
		{"test support in the product", "tools/a.go", `import "forgeplan/internal/testws"`, "may not import internal/testws"},
		{"test support in tests", "tools/a_test.go", `import "forgeplan/internal/testws"`, ""},
		{"a test of a low folder reaches up", "internal/artifact/a_test.go", `import "forgeplan/tools"`, "may not import tools"},
		{"a test from outside", "journal/a_test.go", `import "forgeplan/journal"`, ""},
		{"unknown library", "tools/a.go", `import "example.org/x"`, "may not import example.org/x"},
		{"pure folders ask no file", "internal/artifact/a.go", `import "os"`, "is pure"},
		{"pure folders start nothing", "receipts/a.go", `import "os/signal"`, "is pure"},
		{"tests of pure folders may", "internal/artifact/a_test.go", `import "os"`, ""},

		{"clock", "tools/a.go", `import "time"; var _ = time.Now()`, "tools may not use time.Now: only internal/bench"},
		{"clock as a value", "tools/a.go", `import "time"; var now = time.Now`, "time.Now"},
		{"clock under another name", "tools/a.go", `import clock "time"; var now = clock.Now`, "clock.Now"},
		{"hidden clock", "mcp/a.go", `import "time"; func f(t time.Time) time.Duration { return time.Since(t) }`, "time.Since"},
		{"clock of a library", "tools/a.go", `import "github.com/oklog/ulid/v2"; var _ = ulid.Make()`, "ulid.Make: nobody may"},
		{"clock where it lives", "internal/workspace/a.go", `import "time"; var now = time.Now`, ""},
		{"clock in tests", "tools/a_test.go", `import "time"; var now = time.Now`, ""},
		{"types of time", "tools/a.go", `import "time"; func f(time.Time) { time.NewTimer(1) }`, ""},
		{"something else called time", "tools/a.go", `import "time"; var _ time.Time; func f(time interface{ Now() }) { time.Now() }`, ""},
		{"without a name", "tools/a.go", `import . "time"; var now = Now`, "without a name"},
		{"chance", "tools/a.go", `import "math/rand/v2"`, "math/rand/v2"},
		{"chance where it lives", "internal/workspace/a.go", `import "crypto/rand"`, ""},
		{"terminal", "tools/a.go", `import "os"; var out = os.Stdout`, "os.Stdout"},
		{"flags", "tools/a.go", `import "flag"`, "flag"},
		{"C", "journal/a.go", `import "C"`, "nobody may"},
		{"another system's file", "internal/filelock/a_windows.go", `import "forgeplan/journal"`, "may not import journal"},
		{"skipped folders", "internal/event/testdata/a.go", `import "forgeplan/tools"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := "package p\n" + strings.ReplaceAll(tt.src, "; ", "\n") + "\n"
			got, _, err := check(fstest.MapFS{tt.file: {Data: []byte(src)}})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tt.want == "" && len(got) > 0:
				t.Errorf("got %q, want nothing", got)
			case tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)):
				t.Errorf("got %q, want one with %q", got, tt.want)
			}
		})
	}
}

func TestOtherModulesAreNotLookedInto(t *testing.T) {
	got, _, err := check(fstest.MapFS{
		"internal/devtools/go.mod":  {Data: []byte("module x\n")},
		"internal/devtools/main.go": {Data: []byte("package main\nimport \"example.org/x\"\n")},
	})
	if err != nil || len(got) > 0 {
		t.Errorf("got %q (%v), want nothing", got, err)
	}
}

func TestUnreadableSource(t *testing.T) {
	if _, _, err := check(fstest.MapFS{"tools/a.go": {Data: []byte("packag")}}); err == nil {
		t.Error("no error")
	}
}

// The table itself is sound: every folder it names has a row, and nobody may
// import a folder that may import it.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Folders {
		if seen[f.Path] {
			t.Errorf("%s has two rows", f.Path)
		}
		seen[f.Path] = true
		if f.Job == "" {
			t.Errorf("%s has no job", f.Path)
		}
		for _, o := range f.Ours {
			if o == "..." || o == f.Path {
				continue
			}
			if !seen[o] {
				t.Errorf("%s may import %s, which stands above it or has no row", f.Path, o)
			}
		}
	}
	for _, r := range Uses {
		for folder, why := range r.Folders {
			if !seen[folder] || why == "" {
				t.Errorf("%s: folder %q has no row, or no reason", r.What, folder)
			}
		}
	}
}
