package workspace

import (
	"io/fs"
	"os"
	"path"
	"strings"

	"forgeplan/internal/artifact"

	"github.com/oklog/ulid/v2"
)

// Look says which files a call has to see before it decides: hand edits found
// in them become events first. The zero Look sees none.
type Look struct {
	All  bool     // every artifact's file
	IDs  []string // files of the artifacts named so, as typed
	Kind string   // unknown files in the folder of a kind
}

func (l Look) none() bool { return !l.All && len(l.IDs) == 0 && l.Kind == "" }

// scanned is what a walk over the artifact folders found. It is made before
// the lock is taken: suspects are looked at again under it.
type scanned struct {
	there    map[string]bool // paths of all Markdown files
	suspects []string        // those that are not surely what was confirmed
}

// scan walks the folders of all kinds.
func (w *Workspace) scan() scanned {
	s := scanned{there: map[string]bool{}}
	byPath := w.cache().byPath()
	for _, k := range artifact.Kinds {
		for name, fi := range w.markdown(k.Folder) {
			s.there[name] = true
			if last, ok := byPath[name]; !ok || !last.proves(fi) {
				s.suspects = append(s.suspects, name)
			}
		}
	}
	return s
}

// markdown yields the Markdown files of one folder. What is no plain file comes
// with a nil FileInfo.
func (w *Workspace) markdown(folder string) func(yield func(string, fs.FileInfo) bool) {
	return func(yield func(string, fs.FileInfo) bool) {
		fi, err := w.root.Lstat(folder)
		if err != nil || !fi.IsDir() {
			return
		}
		dir, err := w.root.Open(folder)
		if err != nil {
			return
		}
		entries, _ := dir.ReadDir(-1)
		dir.Close()
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".md") || strings.HasPrefix(e.Name(), ".") {
				continue
			}
			name := path.Join(folder, e.Name())
			fi, err := w.root.Lstat(name)
			if err != nil {
				continue
			}
			if !yield(name, fi) {
				return
			}
		}
	}
}

// byPath reads the whole cache.
func (c *cache) byPath() map[string]seen {
	out := map[string]seen{}
	dir, err := c.root.Open(filesName)
	if err != nil {
		return out
	}
	names, _ := dir.Readdirnames(-1)
	dir.Close()
	for _, n := range names {
		var b [1]byte
		if len(n) != 2 || !unhex(n, b[:]) {
			continue
		}
		for _, s := range c.shard(b[0]) {
			out[s.Path] = s
		}
	}
	return out
}

func unhex(s string, to []byte) bool {
	const digits = "0123456789abcdef"
	hi, lo := strings.IndexByte(digits, s[0]), strings.IndexByte(digits, s[1])
	if hi < 0 || lo < 0 {
		return false
	}
	to[0] = byte(hi<<4 | lo)
	return true
}

// candidates are the files that a call has to look into.
func (in *intake) candidates(look Look, pre scanned) []string {
	if look.All {
		return pre.suspects
	}
	var out []string
	folders := map[string]bool{}
	if look.Kind != "" {
		if k, err := artifact.ParseKind(look.Kind); err == nil {
			folders[k.Info().Folder] = true
		}
	}
	for _, id := range look.IDs {
		a, err := in.world.Find(id)
		if err != nil {
			if parsed, perr := artifact.ParseID(id); perr == nil {
				folders[parsed.Kind.Info().Folder] = true // perhaps just put there
			}
			continue
		}
		fi, err := in.w.root.Lstat(a.Path)
		if err != nil {
			folders[path.Dir(a.Path)] = true // perhaps renamed
			continue
		}
		if last, ok := in.cache.get(a.UID); !ok || last.Path != a.Path || !last.proves(fi) {
			out = append(out, a.Path)
		}
	}
	if len(folders) > 0 {
		for folder := range folders {
			for name := range in.w.markdown(folder) {
				if !in.recorded(name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// recorded reports whether a file name is that of the artifact whose id it
// begins with: the usual case, found without reading the cache.
func (in *intake) recorded(name string) bool {
	words := strings.SplitN(strings.TrimSuffix(path.Base(name), ".md"), "-", 3)
	if len(words) < 2 {
		return false
	}
	uid, ok, err := in.world.IDs().Get(words[0] + "-" + words[1])
	if err != nil || !ok {
		return false
	}
	a, live := in.world.Live(uid)
	return live && a.Path == name
}

// changing reports whether a file was written to between two looks at it.
func changing(a, b os.FileInfo) bool {
	return a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) || inode(a) != inode(b)
}

var noID ulid.ULID
