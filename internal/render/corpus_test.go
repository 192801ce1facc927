package render

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The artifacts of a real workspace are cut without loss and read in full. What
// must be read is found without the parser: those files are written by machine.
func TestCorpus(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "corpus", "original-workspace")
	if _, err := os.Stat(root); err != nil {
		t.Skip("the corpus is not here")
	}
	value := func(block, key string) string {
		m := regexp.MustCompile(`(?m)^` + key + `: (.*)$`).FindStringSubmatch(block)
		if m == nil {
			return ""
		}
		if v := m[1]; strings.HasPrefix(v, "'") {
			return strings.ReplaceAll(v[1:len(v)-1], "''", "'")
		}
		return m[1]
	}
	linkLines := regexp.MustCompile(`(?m)^- target: (.*)\n  relation: (.*)$`)
	n, linked := 0, 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		n++
		name := filepath.Base(path)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		doc, err := Split(data)
		if err != nil || !bytes.Equal(slices.Concat(doc.Head, doc.Body), data) {
			t.Errorf("%s: %v", name, err)
			return nil
		}
		f, err := Parse(doc.Head)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return nil
		}
		block, _, _ := strings.Cut(string(data[4:]), "\n---\n")
		for _, key := range []string{"id", "kind", "status", "title"} {
			if got, ok := f.Text(key); !ok || got == "" || got != value(block, key) {
				t.Errorf("%s: %s is %q, want %q", name, key, got, value(block, key))
			}
		}
		var links []Link
		for _, m := range linkLines.FindAllStringSubmatch(block, -1) {
			links = append(links, Link{m[1], m[2]})
		}
		if linked += len(links); !slices.Equal(f.Links(), links) {
			t.Errorf("%s: links %v, want %v", name, f.Links(), links)
		}

		// One more link and another status: one line each, two for the link.
		set, err := Splice(doc.Head, []Edit{{Key: "status", Text: "set"}, {Key: "uid", Text: "01KQ4KPK88T7MHW00PF4WWPSMN"},
			{Key: "links", Kind: LinkList, Links: append(links, Link{"PRD-999", "informs"})}})
		want := strings.Replace(block, "status: "+value(block, "status"), "status: set", 1)
		if len(links) > 0 {
			m := linkLines.FindAllStringIndex(want, -1)
			last := m[len(m)-1][1]
			want = want[:last] + "\n- target: PRD-999\n  relation: informs" + want[last:] + "\nuid: 01KQ4KPK88T7MHW00PF4WWPSMN"
		} else {
			want += "\nuid: 01KQ4KPK88T7MHW00PF4WWPSMN\nlinks:\n  - target: PRD-999\n    relation: informs"
		}
		if got, _, _ := strings.Cut(string(set[4:]), "\n---\n"); err != nil || got != want {
			t.Errorf("%s: %v\ngot  %q\nwant %q", name, err, got, want)
		}
		return nil
	})
	if err != nil || n != 331 || linked < 300 {
		t.Errorf("%d files, %d links, %v", n, linked, err)
	}
}
