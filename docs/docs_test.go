// Package docs holds the documents, and tests that they say what is so.
package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"
	"forgeplan/receipts"
)

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Every event, with its version, and every field stands in the format page.
func TestFormat(t *testing.T) {
	page := read(t, "format.md")
	_, page, ok := strings.Cut(page, "\n## Events\n")
	if !ok {
		t.Fatal("no section Events")
	}
	for _, k := range slices.Concat(event.Events, artifact.Events, receipts.Events) {
		if !regexp.MustCompile(regexp.QuoteMeta(k.Name) + `\*{0,2}( and \*\*[a-z_.]+\*\*)?, version [0-9]`).MatchString(page) {
			t.Errorf("no event %s with its version", k.Name)
		}
		p, err := k.Decode(k.Version, []byte{0x80})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range fields(reflect.TypeOf(p)) {
			if !strings.Contains(page, "`"+name+"`") {
				t.Errorf("%s: no field %s", k.Name, name)
			}
		}
	}
}

// fields are the names that a payload has on the wire, at any depth.
func fields(t reflect.Type) (names []string) {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("msgpack"), ","); name != "" {
			names = append(append(names, name), fields(t.Field(i).Type)...)
		}
	}
	return names
}

// Every test that the architecture page promises exists, and every folder with
// code stands in its table.
func TestArchitecture(t *testing.T) {
	page := read(t, "architecture.md")
	tests, folders := code(t)
	named := regexp.MustCompile("`([a-z]+)\\.(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(page, -1)
	if len(named) < 10 {
		t.Errorf("only %d tests are named", len(named))
	}
	for _, m := range named {
		if !tests[m[1]+"."+m[2]] {
			t.Errorf("no test %s.%s", m[1], m[2])
		}
	}
	for folder := range folders {
		if !strings.Contains(page, "`"+folder+"`") {
			t.Errorf("no folder %s in the page", folder)
		}
	}
}

// code finds the test functions, as folder.Name, and the folders of packages. A
// package that only serves the tests of its parent folder does not count.
func code(t *testing.T) (tests, folders map[string]bool) {
	tests, folders = map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		folder, err := filepath.Rel("..", filepath.Dir(path))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		if !strings.HasSuffix(path, "_test.go") {
			if !strings.HasSuffix(folder, "/eventtest") {
				folders[folder] = true
			}
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for name := range names(file) {
			tests[filepath.Base(folder)+"."+name] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests, folders
}

// names are the test functions of a file.
func names(file *ast.File) map[string]bool {
	found := map[string]bool{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
			found[f.Name.Name] = true
		}
	}
	return found
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)

// Every link to a file of the repository leads to one.
func TestLinks(t *testing.T) {
	pages := []string{}
	for _, pattern := range []string{"../*.md", "*.md", "adr/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	for _, page := range pages {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: %s leads nowhere", page, m[1])
			}
		}
	}
}

// TestReadme runs the transcript of the README and compares what is printed,
// but for times, durations and hashes.
func TestReadme(t *testing.T) {
	_, block, ok := strings.Cut(read(t, "../README.md"), "\n```console\n")
	block, _, closed := strings.Cut(block, "\n```\n")
	if !ok || !closed {
		t.Fatal("no transcript")
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "forgeplan/cmd/forgeplan")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	project := t.TempDir()
	var got strings.Builder
	for line := range strings.Lines(block + "\n") {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		got.WriteString(line)
		sh := exec.Command("sh", "-c", command)
		sh.Dir = project
		sh.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + project, "FORGEPLAN_ACTOR=alice"}
		out, err := sh.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v", command, err)
		}
		got.Write(out)
	}
	if got, want := scrub(got.String()), scrub(block+"\n"); got != want {
		t.Errorf("the transcript is now:\n%s\nin the README:\n%s", got, want)
	}
}

// scrub takes out what differs from run to run.
func scrub(s string) string {
	for _, r := range [][2]string{
		{`\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z`, "<time>"},
		{`\b[0-9a-f]{64}\b`, "<sha256>"},
		{`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`, "<ulid>"},
		{`trash-[0-9T-]{19}`, "trash-<time>"},
		{` +\d+\n`, " <ms>\n"}, // the last column of activity
	} {
		s = regexp.MustCompile(r[0]).ReplaceAllString(s, r[1])
	}
	return s
}
