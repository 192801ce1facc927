package atomicfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"forgeplan/internal/fault"
)

// crashEnv makes this test binary a child that writes and kills itself at a
// fault point: "<how> <point> <folder>".
const crashEnv = "ATOMICFILE_TEST_CRASH"

var (
	oldBytes = bytes.Repeat([]byte("old "), 50_000)
	newBytes = bytes.Repeat([]byte("new!"), 40_000)
)

const perm fs.FileMode = 0o600

// writers are the ways a file gets new bytes.
var writers = map[string]func(root *os.Root) error{
	"Write":       func(root *os.Root) error { return Write(root, "in/file", newBytes, perm) },
	"WriteNoSync": func(root *os.Root) error { return WriteNoSync(root, "in/file", newBytes, perm) },
	"Replace": func(root *os.Root) error {
		return Replace(root, "in/file", newBytes, perm, func([]byte, bool) bool { return true })
	},
}

func TestMain(m *testing.M) {
	if job := os.Getenv(crashEnv); job != "" {
		how, rest, _ := strings.Cut(job, " ")
		point, dir, _ := strings.Cut(rest, " ")
		root, err := os.OpenRoot(dir)
		if err != nil {
			os.Exit(2)
		}
		fault.Hook = func(name string) {
			if name == point {
				kill()
			}
		}
		if err := writers[how](root); err != nil {
			os.Exit(3)
		}
		os.Exit(0) // the point was not on the way
	}
	os.Exit(m.Run())
}

func kill() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		os.Exit(2)
	}
	select {} // until the signal arrives
}

// place is a folder with in/file.
func place(t *testing.T, content []byte) (root *os.Root, dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	if content != nil {
		if err := os.WriteFile(filepath.Join(dir, "in", "file"), content, perm); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

func content(t *testing.T, root *os.Root, name string) []byte {
	t.Helper()
	data, err := root.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// names are the files of a folder.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// A process killed at any point leaves the old file or the new one, and what
// else it leaves can be told by its name and is no hindrance.
func TestCrash(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	before := []string{"file.write", "file.sync", "file.compared", "file.rename"}
	for how, points := range map[string]map[string]bool{ // point: whether there is a file before
		"Write":       {"file.write": true, "file.sync": true, "file.rename": true, "file.renamed": true},
		"WriteNoSync": {"file.write": true, "file.rename": true, "file.renamed": true},
		"Replace":     {"file.write": true, "file.sync": true, "file.compared": true, "file.rename": true, "file.renamed": true, "file.linked": false},
	} {
		for point, there := range points {
			t.Run(how+" "+point, func(t *testing.T) {
				var old []byte
				if there {
					old = oldBytes
				}
				root, dir := place(t, old)
				cmd := exec.Command(exe)
				cmd.Env = append(os.Environ(), crashEnv+"="+how+" "+point+" "+dir)
				out, err := cmd.CombinedOutput()
				if code := cmd.ProcessState.ExitCode(); err == nil || code == 2 || code == 3 {
					t.Fatalf("child was not killed at the point: %v %s", err, out)
				}
				want := newBytes
				for _, p := range before {
					if p == point {
						want = oldBytes
					}
				}
				if got := content(t, root, "in/file"); !bytes.Equal(got, want) {
					t.Errorf("got %d bytes %.8q…, want %d bytes %.8q…", len(got), got, len(want), want)
				}
				for _, n := range names(t, filepath.Join(dir, "in")) {
					if n != "file" && !strings.HasPrefix(n, TempPrefix) {
						t.Errorf("left %q", n)
					}
				}
				if err := Write(root, "in/file", []byte("later"), perm); err != nil {
					t.Errorf("write after the crash: %v", err)
				}
				if got := content(t, root, "in/file"); string(got) != "later" {
					t.Errorf("got %.8q after the crash, want the later bytes", got)
				}
			})
		}
	}
}

// A step that fails leaves the old file and nothing else.
func TestFailedStep(t *testing.T) {
	defer func() { fault.ErrHook = nil }()
	full := errors.New("no space left")
	for how, points := range map[string][]string{
		"Write":       {"file.write", "file.sync", "file.rename"},
		"WriteNoSync": {"file.write", "file.rename"},
		"Replace":     {"file.write", "file.sync", "file.rename"},
	} {
		for _, point := range points {
			t.Run(how+" "+point, func(t *testing.T) {
				root, dir := place(t, oldBytes)
				fault.ErrHook = func(name string) error {
					if name == point {
						return full
					}
					return nil
				}
				err := writers[how](root)
				fault.ErrHook = nil
				if !errors.Is(err, full) {
					t.Errorf("got %v, want the error of the step", err)
				}
				if got := content(t, root, "in/file"); !bytes.Equal(got, oldBytes) {
					t.Errorf("got %.8q…, want the old bytes", got)
				}
				if got := names(t, filepath.Join(dir, "in")); len(got) != 1 {
					t.Errorf("got files %q, want the old one alone", got)
				}
			})
		}
	}
}

func TestNewFile(t *testing.T) {
	for how, write := range writers {
		t.Run(how, func(t *testing.T) {
			root, dir := place(t, nil)
			if err := write(root); err != nil {
				t.Fatal(err)
			}
			if got := content(t, root, "in/file"); !bytes.Equal(got, newBytes) {
				t.Errorf("got %d bytes %.8q…", len(got), got)
			}
			if got := names(t, filepath.Join(dir, "in")); len(got) != 1 {
				t.Errorf("got files %q, want one", got)
			}
		})
	}
}

// Somebody else's file may have a narrower or wider mode than ours: it stays.
func TestPermissionsStay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits here")
	}
	for how, write := range writers {
		for _, want := range []fs.FileMode{0o400, 0o600, 0o640, 0o666} {
			t.Run(how+" "+want.String(), func(t *testing.T) {
				root, dir := place(t, oldBytes)
				file := filepath.Join(dir, "in", "file")
				if err := os.Chmod(file, want); err != nil {
					t.Fatal(err)
				}
				if err := write(root); err != nil {
					t.Fatal(err)
				}
				fi, err := os.Stat(file)
				if err != nil {
					t.Fatal(err)
				}
				if got := fi.Mode().Perm(); got != want {
					t.Errorf("got mode %v, want %v", got, want)
				}
			})
		}
	}
}

// A killed process of the same number left its temporary files behind.
func TestLeftoversDoNotBlock(t *testing.T) {
	root, _ := place(t, oldBytes)
	from := serial.Load()
	for range 3 {
		f, _, err := create(root, "in/file", perm)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	serial.Store(from)
	if err := Write(root, "in/file", newBytes, perm); err != nil {
		t.Fatal(err)
	}
	if got := content(t, root, "in/file"); !bytes.Equal(got, newBytes) {
		t.Errorf("got %.8q…, want the new bytes", got)
	}
}

// No name and no link leads out of the folder.
func TestNothingOutside(t *testing.T) {
	ways := map[string]func(root *os.Root, name string) error{
		"Write":       func(root *os.Root, name string) error { return Write(root, name, newBytes, perm) },
		"WriteNoSync": func(root *os.Root, name string) error { return WriteNoSync(root, name, newBytes, perm) },
		"Replace": func(root *os.Root, name string) error {
			return Replace(root, name, newBytes, perm, func([]byte, bool) bool { return true })
		},
		"Append":      func(root *os.Root, name string) error { return Append(root, name, newBytes, perm) },
		"Remove":      Remove,
		"Rename to":   func(root *os.Root, name string) error { return Rename(root, "in/file", name) },
		"Rename from": func(root *os.Root, name string) error { return Rename(root, name, "in/other") },
	}
	for how, do := range ways {
		for _, name := range []string{"out/file", "../file", "in/../../file", "ABS"} {
			t.Run(how+" "+name, func(t *testing.T) {
				root, dir := place(t, oldBytes)
				outside := t.TempDir()
				secret := filepath.Join(outside, "file")
				if err := os.WriteFile(secret, []byte("secret"), perm); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
					t.Skip("links need a privilege here:", err)
				}
				if name == "ABS" {
					name = filepath.ToSlash(secret)
				}
				if err := do(root, name); err == nil {
					t.Error("no error")
				}
				if got, err := os.ReadFile(secret); err != nil || string(got) != "secret" {
					t.Errorf("the file outside is %.10q (%v)", got, err)
				}
				if got := names(t, outside); len(got) != 1 {
					t.Errorf("got files %q outside, want one", got)
				}
				if got := content(t, root, "in/file"); !bytes.Equal(got, oldBytes) {
					t.Errorf("got %.8q…, want the old bytes", got)
				}
			})
		}
	}
}

// A link that stands at the name itself is replaced; what it leads to stays.
func TestLinkIsReplaced(t *testing.T) {
	root, dir := place(t, nil)
	secret := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(secret, []byte("secret"), perm); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "in", "file")
	if err := os.Symlink(secret, file); err != nil {
		t.Skip("links need a privilege here:", err)
	}
	if err := Append(root, "in/file", newBytes, perm); err == nil {
		t.Error("appended through a link that leads out")
	}
	if err := Write(root, "in/file", newBytes, perm); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(secret); err != nil || string(got) != "secret" {
		t.Errorf("the file outside is %.10q (%v)", got, err)
	}
	if fi, err := os.Lstat(file); err != nil || !fi.Mode().IsRegular() {
		t.Errorf("got %v (%v), want a plain file", fi, err)
	}
}

func TestAppend(t *testing.T) {
	root, _ := place(t, nil)
	for _, line := range []string{"one\n", "", "two\n"} {
		if err := Append(root, "in/log", []byte(line), perm); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(content(t, root, "in/log")); got != "one\ntwo\n" {
		t.Errorf("got %q", got)
	}
}

func TestRenameAndRemove(t *testing.T) {
	root, dir := place(t, oldBytes)
	if err := Rename(root, "in/file", "moved"); err != nil {
		t.Fatal(err)
	}
	if got := content(t, root, "moved"); !bytes.Equal(got, oldBytes) {
		t.Errorf("got %.8q…, want the old bytes", got)
	}
	if got := names(t, filepath.Join(dir, "in")); len(got) != 0 {
		t.Errorf("got files %q, want none", got)
	}
	if err := Remove(root, "moved"); err != nil {
		t.Fatal(err)
	}
	if err := Remove(root, "moved"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that there is no file", err)
	}
	if err := Rename(root, "moved", "again"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that there is no file", err)
	}
}
