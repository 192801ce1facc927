package projection

import (
	"iter"

	"forgeplan/internal/artifact"
	"forgeplan/internal/event"

	"github.com/oklog/ulid/v2"
)

var artifacts = View[artifact.Artifact]{
	Name:    "artifacts",
	Version: 1,
	// An event that this program does not know counts as well: the row then
	// says that it does not show everything, and nobody writes on top of it.
	Keys: func(e event.Event) []string {
		if e.Subject == (ulid.ULID{}) {
			return nil
		}
		return []string{uidKey(e.Subject)}
	},
	Fold: func(_ string, a artifact.Artifact, e event.Event) (artifact.Artifact, bool) {
		return artifact.Fold(a, e)
	},
	Encode: encodeArtifact,
	Decode: DecodeArtifact,
}

// artifactFields is the length of a row. What a list prints comes first.
const artifactFields = 23

func encodeArtifact(a artifact.Artifact) []byte {
	p := make(packer, 0, 256)
	p.array(artifactFields)
	p.text(a.ID)
	p.text(a.Kind)
	p.text(a.Status)
	p.text(a.Title)
	p.text(a.Depth)
	p.array(len(a.Tags))
	for _, tag := range a.Tags {
		p.text(tag)
	}
	p.int(a.UpdatedAt)
	p.int(int64(a.Version))
	p.fixed(a.UID[:])
	p.int(int64(a.Number))
	p.int(a.CreatedAt)
	p.text(a.Author)
	p.text(a.ParentEpic)
	p.text(a.ValidUntil)
	p.text(a.Path)
	p.fixed(a.Want[:])
	p.fixed(a.Body.Event[:])
	p.int(a.Body.Len)
	p.fixed(a.Body.SHA[:])
	p.array(2 * len(a.Fields))
	for _, f := range a.Fields {
		p.text(f.Key)
		p.text(f.Value)
	}
	p.array(2 * len(a.Set))
	for _, s := range a.Set {
		p.text(s.Field)
		p.int(int64(s.Version))
	}
	p.int(int64(a.Unknown))
	p.fixed(a.Run[:])
	return p
}

// DecodeArtifact reads a row of the table artifacts, as ScanRows hands it out.
// It keeps nothing of row, and may run anywhere. The error wraps ErrRow.
func DecodeArtifact(row []byte) (artifact.Artifact, error) {
	u := unpack(row)
	u.shape(artifactFields)
	var a artifact.Artifact
	a.ID = u.text()
	a.Kind = u.text()
	a.Status = u.text()
	a.Title = u.text()
	a.Depth = u.text()
	if n := u.array(); n > 0 {
		a.Tags = make([]string, n)
		for i := range a.Tags {
			a.Tags[i] = u.text()
		}
	}
	a.UpdatedAt = u.int()
	a.Version = int(u.int())
	a.UID = u.ulid()
	a.Number = int(u.int())
	a.CreatedAt = u.int()
	a.Author = u.text()
	a.ParentEpic = u.text()
	a.ValidUntil = u.text()
	a.Path = u.text()
	a.Want = u.hash()
	a.Body = artifact.BodyRef{Event: u.ulid(), Len: u.int(), SHA: u.hash()}
	if n := u.array() / 2; n > 0 {
		a.Fields = make([]artifact.Field, n)
		for i := range a.Fields {
			a.Fields[i] = artifact.Field{Key: u.text(), Value: u.text()}
		}
	}
	if n := u.array() / 2; n > 0 {
		a.Set = make([]artifact.FieldVersion, n)
		for i := range a.Set {
			a.Set[i] = artifact.FieldVersion{Field: u.text(), Version: int(u.int())}
		}
	}
	a.Unknown = int(u.int())
	a.Run = u.ulid()
	return a, u.done()
}

// Artifacts reads the table of artifacts.
type Artifacts struct{ Table Table }

// Get reads one artifact; false if there is none or it was deleted. The error
// wraps ErrRow.
func (a Artifacts) Get(uid ulid.ULID) (artifact.Artifact, bool, error) {
	return artifacts.Get(a.Table, uidKey(uid))
}

// Scan yields all artifacts by uid, which is the order of their creation where
// they were created here. It ends with the first error, which wraps ErrRow.
func (a Artifacts) Scan() iter.Seq2[artifact.Artifact, error] { return artifacts.Scan(a.Table, "") }

// ScanRows hands out all rows undecoded, by uid (key, 16 bytes), so that a
// reader can copy them while it holds the lock and decode them, with
// DecodeArtifact, when it no longer does. row is valid as long as the table is.
func (a Artifacts) ScanRows(yield func(key string, row []byte)) {
	for key, row := range a.Table.Scan("") {
		yield(key, row)
	}
}
