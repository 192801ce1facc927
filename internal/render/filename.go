package render

import (
	"strings"

	"github.com/gosimple/slug"
)

// maxName bounds a file name, bytes: room for what tools and file systems add.
const maxName = 100

// FileName is the name of an artifact's file: its id and, where the title has
// letters, these transliterated and cut at a word, so that all is at most 100
// bytes. It is legal on every system: the id comes first, so there is no leading
// dot, and an id that is a device's name on Windows never stands alone. An id of
// its own length is never cut, since it is what makes the name unique.
func FileName(id, title string) string {
	words := slug.Make(title)
	if room := maxName - len(id) - len("-.md"); len(words) > room {
		cut := words[:max(0, room)]
		if i := strings.LastIndexByte(cut, '-'); i > 0 && words[len(cut)] != '-' {
			cut = cut[:i]
		}
		words = cut
	}
	words = strings.Trim(words, "-_.")
	switch {
	case words != "":
		return id + "-" + words + ".md"
	case isDevice(id):
		return id + "_.md"
	}
	return id + ".md"
}

// isDevice: a name that Windows keeps for itself, whatever its ending.
func isDevice(name string) bool {
	name = strings.ToUpper(name)
	switch name {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(name) == 4 && (strings.HasPrefix(name, "COM") || strings.HasPrefix(name, "LPT")) && name[3] >= '0' && name[3] <= '9'
}
