package artifact

// Relation is how a source stands to its target, as stored: the source depends
// on, or says something about, the target.
type Relation string

const (
	Informs     Relation = "informs"
	BasedOn     Relation = "based_on"
	Supersedes  Relation = "supersedes" // from the replacement to the old one
	Contradicts Relation = "contradicts"
	Refines     Relation = "refines"
	Supports    Relation = "supports"
)

// Relations are all relations that can be made.
var Relations = []Relation{Informs, BasedOn, Supersedes, Contradicts, Refines, Supports}

// ParseRelation reads the name of a relation, in any case and with - for _. The
// error is an *InputError that lists them.
func ParseRelation(s string) (Relation, error) { return parseEnum("relation", s, Relations) }

// Blocks reports whether work on the source waits for the target.
func (r Relation) Blocks() bool {
	return r == BasedOn || r == Refines || r == Supersedes || r == Contradicts
}
