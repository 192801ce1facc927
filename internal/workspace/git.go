package workspace

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Bounds of what is read from a repository, bytes. Real files of the first
// sort hold one line; packed-refs holds one line a branch or tag.
const (
	maxGitFile   = 4 << 10
	maxPackedRef = 16 << 20
	maxRefHops   = 5 // symbolic refs that point at symbolic refs, as git allows
)

// gitHead says which branch and commit the repository around start stands at.
// It reads a few small files and never runs git. branch is empty on a detached
// HEAD; head is empty before the first commit; both are empty outside a
// repository, and where its files are not of a shape known here.
func gitHead(start string) (branch, head string) {
	dir := gitDir(start)
	if dir == "" {
		return "", ""
	}
	ref, id := parseRef(gitLine(filepath.Join(dir, "HEAD")))
	if ref == "" || strings.HasSuffix(ref, "/.invalid") { // a reftable repository leaves this stub
		return "", id
	}
	return strings.TrimPrefix(ref, "refs/heads/"), resolveRef(dir, ref)
}

// gitDir looks for the repository upwards from start: a folder .git, or a file
// of that name which leads to the folder of a worktree or submodule. Empty
// where there is none.
func gitDir(start string) string {
	at, err := filepath.Abs(start)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		at = real // upwards from where the folder is, not from where a link stands
	}
	for {
		dot := filepath.Join(at, ".git")
		if info, err := os.Stat(dot); err == nil {
			if !info.IsDir() {
				target, found := strings.CutPrefix(gitLine(dot), "gitdir:")
				if !found {
					return ""
				}
				return joinFrom(at, strings.TrimSpace(target))
			}
			// As git does: a .git without HEAD is no repository, one above may be.
			if _, err := os.Lstat(filepath.Join(dot, "HEAD")); err == nil {
				return dot
			}
		}
		up := filepath.Dir(at)
		if up == at {
			return ""
		}
		at = up
	}
}

// resolveRef follows ref to the commit it names: first as a file of this
// worktree, then of the repository it belongs to, then among the packed ones.
func resolveRef(dir, ref string) string {
	common := dir
	if line := gitLine(filepath.Join(dir, "commondir")); line != "" {
		common = joinFrom(dir, line)
	}
	for range maxRefHops {
		line := gitLine(filepath.Join(dir, filepath.FromSlash(ref)))
		if line == "" && common != dir {
			line = gitLine(filepath.Join(common, filepath.FromSlash(ref)))
		}
		if line == "" {
			return packedRef(filepath.Join(common, "packed-refs"), ref)
		}
		next, id := parseRef(line)
		if next == "" {
			return id
		}
		ref = next
	}
	return ""
}

// parseRef reads the line of HEAD or of a ref: the name of another ref, or a
// commit. A name that could lead out of the repository counts as none.
func parseRef(line string) (ref, id string) {
	if name, found := strings.CutPrefix(line, "ref:"); found {
		name = strings.TrimSpace(name)
		if !strings.HasPrefix(name, "refs/") || !filepath.IsLocal(filepath.FromSlash(name)) {
			return "", ""
		}
		for _, part := range strings.Split(name, "/") {
			if part == "" || part == "." || part == ".." {
				return "", ""
			}
		}
		return name, ""
	}
	if isCommit(line) {
		return "", line
	}
	return "", ""
}

// packedRef looks ref up in a packed-refs file: lines "<commit> <ref>",
// comments, and lines "^<commit>" that peel the tag above them.
func packedRef(file, ref string) string {
	f := openRegular(file)
	if f == nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxPackedRef))
	for lines.Scan() {
		id, name, found := strings.Cut(strings.TrimSuffix(lines.Text(), "\r"), " ")
		if found && name == ref && isCommit(id) {
			return id
		}
	}
	return ""
}

// isCommit: a SHA-1 or SHA-256 in lower-case hex.
func isCommit(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

// gitLine is the text of a one-line file, empty where there is no such file or
// it holds something else.
func gitLine(file string) string {
	f := openRegular(file)
	if f == nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxGitFile+1))
	if err != nil || len(data) > maxGitFile {
		return ""
	}
	line := strings.TrimSpace(string(data))
	for _, r := range line {
		if r < ' ' || r == 0x7f {
			return ""
		}
	}
	return line
}

// openRegular opens a file, or returns nil. Anything but a regular file is
// refused before it is opened: a named pipe would block.
func openRegular(file string) *os.File {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	return f
}

// joinFrom is path, taken from dir where it is relative.
func joinFrom(dir, path string) string {
	if path == "" {
		return ""
	}
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
