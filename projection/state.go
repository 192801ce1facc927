package projection

import (
	"crypto/sha256"
)

// StateHash is one number for what the journal comes to: every live artifact
// with its tags, other keys, body hash and the hash wanted of its file, and
// every link. Two workspaces that agree on these agree on it, whatever way they
// came there: versions, times of update, counters, events and file names are
// not in it, and nothing that only a disk knows. A row that cannot be read
// counts as its bytes, so that damage shows as another hash.
func StateHash(tables func(name string) Table) [32]byte {
	h := sha256.New()
	h.Write([]byte("forgeplan state 1\n"))
	var p packer
	for _, row := range tables(artifacts.Name).Scan("") {
		p = p[:0]
		if a, err := DecodeArtifact(row); err != nil {
			p.array(1)
			p.bin(row)
		} else {
			p.array(15 + len(a.Tags) + 2*len(a.Fields))
			p.fixed(a.UID[:])
			for _, s := range []string{a.ID, a.Kind, a.Status, a.Title, a.Depth, a.Author, a.ParentEpic, a.ValidUntil} {
				p.text(s)
			}
			p.int(a.CreatedAt)
			p.int(a.Body.Len)
			p.fixed(a.Body.SHA[:])
			p.fixed(a.Want[:])
			p.int(int64(len(a.Tags)))
			for _, tag := range a.Tags {
				p.text(tag)
			}
			p.int(int64(len(a.Fields)))
			for _, f := range a.Fields {
				p.text(f.Key)
				p.text(f.Value)
			}
		}
		h.Write(p)
	}
	h.Write([]byte("links\n"))
	for key, row := range tables(linksName).Scan("o") {
		p = p[:0]
		if r, err := decodeRelation(row); err != nil {
			p.array(2)
			p.bin([]byte(key))
			p.bin(row)
		} else {
			p.array(4)
			p.fixed(r.Source[:])
			p.text(r.Relation)
			p.text(r.Target)
			p.fixed(r.Bound[:])
		}
		h.Write(p)
	}
	return [32]byte(h.Sum(nil))
}
