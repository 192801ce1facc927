package artifact

// Depth is how thoroughly an artifact is worked out, as stored.
type Depth string

// Depths are all depths, the shallowest first.
var Depths = []Depth{"note", "tactical", "standard", "deep", "critical"}

// ParseDepth reads the name of a depth in any case. The error is an *InputError
// that lists them.
func ParseDepth(s string) (Depth, error) { return parseEnum("depth", s, Depths) }

// Rank orders depths for the rules: note 0, tactical 1, standard 2, deep and
// critical 3. An unknown depth ranks as standard.
func (d Depth) Rank() int {
	switch d {
	case "note":
		return 0
	case "tactical":
		return 1
	case "deep", "critical":
		return 3
	}
	return 2
}
