package render

import (
	"strings"

	"github.com/gosimple/slug"
)

// maxName bounds a file name, bytes: room for what tools and file systems add.
const maxName = 100

// FileName is the name of an artifact's file: its id and, where the title has
// letters, these transliterated and cut at a word. It is legal on every
// system, since the id comes first: no reserved word, no leading dot.
func FileName(id, title string) string {
	words := slug.Make(title)
	if room := maxName - len(id) - len("-.md"); len(words) > room {
		cut := words[:max(0, room)]
		if i := strings.LastIndexByte(cut, '-'); i > 0 {
			cut = cut[:i]
		}
		words = cut
	}
	words = strings.Trim(words, "-_.")
	if words == "" {
		return id + ".md"
	}
	return id + "-" + words + ".md"
}
