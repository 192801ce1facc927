package workspace

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const (
	idA = "1111111111111111111111111111111111111111"
	idB = "2222222222222222222222222222222222222222"
	idL = "3333333333333333333333333333333333333333333333333333333333333333"
)

// lay writes files below a new folder; names end in "/" for empty folders.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(at, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(at, []byte(strings.ReplaceAll(text, "$DIR", filepath.ToSlash(dir))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestGitHead(t *testing.T) {
	packed := "# pack-refs with: peeled fully-peeled sorted \n" +
		idB + " refs/heads/main\n" +
		idA + " refs/heads/main-2\n" +
		idA + " refs/tags/v1\n^" + idB + "\n"
	for _, tt := range []struct {
		name         string
		files        map[string]string
		start        string // below the folder
		branch, head string
	}{
		{name: "no repository", files: map[string]string{"a/": ""}, start: "a"},
		{name: "no such folder", files: nil, start: "nowhere/at/all"},
		{
			name:  "branch as a file",
			files: map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": idA + "\n"}, branch: "main", head: idA,
		},
		{
			name:  "from below",
			files: map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": idA + "\n", "a/b/": ""}, start: "a/b", branch: "main", head: idA,
		},
		{
			name:  "line ends of another system",
			files: map[string]string{".git/HEAD": "ref: refs/heads/main\r\n", ".git/refs/heads/main": idA + "\r\n"}, branch: "main", head: idA,
		},
		{
			name:  "branch with slashes, packed",
			files: map[string]string{".git/HEAD": "ref: refs/heads/feature/x/y", ".git/packed-refs": idA + " refs/heads/feature/x\n" + idB + " refs/heads/feature/x/y\n"}, branch: "feature/x/y", head: idB,
		},
		{
			name:  "packed, one name the prefix of another, peeled tags",
			files: map[string]string{".git/HEAD": "ref: refs/heads/main-2\n", ".git/packed-refs": packed}, branch: "main-2", head: idA,
		},
		{
			name:  "the file hides the packed ref",
			files: map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": idA + "\n", ".git/packed-refs": packed}, branch: "main", head: idA,
		},
		{
			name:  "before the first commit",
			files: map[string]string{".git/HEAD": "ref: refs/heads/main\n"}, branch: "main",
		},
		{
			name:  "detached",
			files: map[string]string{".git/HEAD": idA + "\n"}, head: idA,
		},
		{
			name:  "detached, SHA-256",
			files: map[string]string{".git/HEAD": idL + "\n"}, head: idL,
		},
		{
			name:  "HEAD outside refs/heads",
			files: map[string]string{".git/HEAD": "ref: refs/topics/a\n", ".git/refs/topics/a": idA + "\n"}, branch: "refs/topics/a", head: idA,
		},
		{
			name:  "a branch that points at another",
			files: map[string]string{".git/HEAD": "ref: refs/heads/a\n", ".git/refs/heads/a": "ref: refs/heads/main\n", ".git/packed-refs": packed}, branch: "a", head: idB,
		},
		{
			name:  "branches that point at each other",
			files: map[string]string{".git/HEAD": "ref: refs/heads/a\n", ".git/refs/heads/a": "ref: refs/heads/b\n", ".git/refs/heads/b": "ref: refs/heads/a\n"}, branch: "a",
		},
		{
			name: "worktree",
			files: map[string]string{
				"main/.git/HEAD": "ref: refs/heads/main\n", "main/.git/packed-refs": packed,
				"main/.git/worktrees/wt/HEAD": "ref: refs/heads/side\n", "main/.git/worktrees/wt/commondir": "../..\n",
				"main/.git/refs/heads/side": idA + "\n", "wt/.git": "gitdir: $DIR/main/.git/worktrees/wt\n", "wt/deep/": "",
			}, start: "wt/deep", branch: "side", head: idA,
		},
		{
			name: "worktree, packed ref of the repository",
			files: map[string]string{
				"main/.git/packed-refs":       packed,
				"main/.git/worktrees/wt/HEAD": "ref: refs/heads/main\n", "main/.git/worktrees/wt/commondir": "../..\n",
				"wt/.git": "gitdir: ../main/.git/worktrees/wt\n",
			}, start: "wt", branch: "main", head: idB,
		},
		{
			name: "submodule",
			files: map[string]string{
				".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": idA + "\n",
				".git/modules/sub/HEAD": idB + "\n", "sub/.git": "gitdir: ../.git/modules/sub\n",
			}, start: "sub", head: idB,
		},
		{
			name: "an empty .git below a repository",
			files: map[string]string{
				".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": idA + "\n", "a/.git/": "",
			}, start: "a", branch: "main", head: idA,
		},
		{name: ".git is some other file", files: map[string]string{".git": "hello\n"}},
		{name: ".git leads nowhere", files: map[string]string{".git": "gitdir: gone\n"}},
		{name: "HEAD is garbage", files: map[string]string{".git/HEAD": "\x00\x01\x02"}},
		{name: "HEAD is too long", files: map[string]string{".git/HEAD": "ref: refs/heads/" + strings.Repeat("a", maxGitFile)}},
		{name: "HEAD leads out of refs", files: map[string]string{".git/HEAD": "ref: refs/../../secret\n", "secret": idA + "\n"}},
		{name: "HEAD is an absolute path", files: map[string]string{".git/HEAD": "ref: $DIR/secret\n", "secret": idA + "\n"}},
		{name: "reftable", files: map[string]string{".git/HEAD": "ref: refs/heads/.invalid\n", ".git/refs/heads": "this repository uses the reftable format\n"}},
		{
			name:  "the branch file is garbage",
			files: map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": "not a commit\n"}, branch: "main",
		},
		{
			name:  "packed-refs is garbage",
			files: map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/packed-refs": strings.Repeat("x", 1<<17)}, branch: "main",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := lay(t, tt.files)
			branch, head := gitHead(filepath.Join(dir, filepath.FromSlash(tt.start)))
			if branch != tt.branch || head != tt.head {
				t.Errorf("got branch %q head %q, want %q %q", branch, head, tt.branch, tt.head)
			}
		})
	}
}

// The folder is where it is, not where a link to it stands.
func TestGitHeadThroughLink(t *testing.T) {
	dir := lay(t, map[string]string{
		"one/.git/HEAD": idA + "\n",
		"two/.git/HEAD": idB + "\n", "two/in/": "",
	})
	link := filepath.Join(dir, "one", "in")
	if err := os.Symlink(filepath.Join(dir, "two", "in"), link); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip("links need a privilege here:", err)
		}
		t.Fatal(err)
	}
	if _, head := gitHead(link); head != idB {
		t.Errorf("got head %q, want that of the folder linked to, %q", head, idB)
	}
}

// Git itself is the judge, where it is installed.
func TestGitHeadAgreesWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	git := func(at string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = at
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, &errs)
		}
		return strings.TrimSpace(string(out))
	}
	repo := filepath.Join(dir, "repo")
	tree := filepath.Join(dir, "tree")
	if err := os.Mkdir(repo, 0o755); err != nil {
		t.Fatal(err)
	}
	same := func(at, branch string) {
		t.Helper()
		gotBranch, gotHead := gitHead(at)
		if want := git(at, "rev-parse", "HEAD"); gotBranch != branch || gotHead != want {
			t.Errorf("got branch %q head %q, want %q %q", gotBranch, gotHead, branch, want)
		}
	}
	git(repo, "init", "-q")
	git(repo, "symbolic-ref", "HEAD", "refs/heads/trunk")
	git(repo, "commit", "-q", "--allow-empty", "-m", "one")
	same(repo, "trunk")
	git(repo, "worktree", "add", "-q", "-b", "side/way", tree)
	git(tree, "commit", "-q", "--allow-empty", "-m", "two")
	same(tree, "side/way")
	git(repo, "pack-refs", "--all")
	same(repo, "trunk")
	same(tree, "side/way")
	git(repo, "checkout", "-q", "--detach")
	same(repo, "")
}
