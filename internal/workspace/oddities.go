package workspace

import (
	"fmt"
	"strings"

	"forgeplan/internal/artifact"
	"forgeplan/internal/render"
)

// oddities lists what stands in the frontmatter of an artifact's file and
// cannot be what it says: values that break a rule and were not taken in, and
// an id that is not the artifact's. It follows from the file and the row
// alone, so it is found again for as long as it is in there.
func oddities(name string, f render.Front, a artifact.Artifact) (out []Finding) {
	find := func(key, reason string) {
		out = append(out, Finding{Path: name, Line: max(1, f.Line(key)), Reason: reason})
	}
	id, _ := f.Text("id")
	switch id = strings.TrimSpace(id); {
	case id == a.ID:
	case strings.HasPrefix(a.ID, id+"~"):
		find("id", fmt.Sprintf("%s is the id of another artifact; listed as %s until it is renumbered", id, a.ID))
	default:
		find("id", "the id was changed by hand; it stays "+a.ID)
	}
	if text, ok := f.Text("kind"); ok {
		if _, err := artifact.ParseKind(text); err != nil {
			find("kind", err.Error())
		}
	}
	if text, ok := f.Text("status"); ok {
		if _, err := artifact.ParseStatus(text); err != nil {
			find("status", err.Error())
		}
	}
	if text, _ := f.Text("title"); strings.TrimSpace(text) == "" && a.Title != a.ID {
		find("title", "the title is gone; the old one stays")
	}
	if text, ok := f.Text("depth"); ok {
		if _, err := artifact.ParseDepth(text); err != nil {
			find("depth", err.Error())
		}
	}
	if text := word(f, "valid_until"); text != "" {
		if err := artifact.CheckDate(text); err != nil {
			find("valid_until", "valid_until: "+err.Error())
		}
	}
	return out
}
