package workspace

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"forgeplan/internal/atomicfile"

	"github.com/oklog/ulid/v2"
)

// The cache remembers what of each artifact's file was last confirmed on this
// disk. It is no projection (only a disk knows it) and may be deleted: then
// nothing absent is written and nothing is removed until `forgeplan replay`.
//
// Layout: cache/whole holds the workspace's ULID once the cache knows every
// file; cache/files/<xx> holds one JSON line an artifact, <xx> being the last
// byte of its uid, so that a change rewrites one small file.
const (
	wholeName = cacheName + "/whole"
	filesName = cacheName + "/files"
)

// seen is what was last confirmed of one file.
type seen struct {
	UID   ulid.ULID `json:"uid"`
	Path  string    `json:"path"`
	Size  int64     `json:"size"`
	MTime int64     `json:"mtime"` // ns
	Inode uint64    `json:"inode"`
	SHA   string    `json:"sha256"`
	Odd   bool      `json:"odd,omitempty"` // holds what could not be taken in: looked at every time
	Noted int64     `json:"noted"`         // ns; an entry noted within 2 s of mtime proves nothing
}

// settled is how much older than its entry a file's mtime has to be, so that
// equal size, mtime and inode prove equal bytes.
const settled = 2 * time.Second

func (s seen) hash() (h [32]byte) {
	b, err := hex.DecodeString(s.SHA)
	if err == nil && len(b) == len(h) {
		copy(h[:], b)
	}
	return h
}

// proves reports whether fi is surely still the file that was confirmed.
func (s seen) proves(fi os.FileInfo) bool {
	return !s.Odd && s.Size == fi.Size() && s.MTime == fi.ModTime().UnixNano() && s.Inode == inode(fi) &&
		s.Noted-s.MTime >= int64(settled)
}

// cache reads and writes entries, one shard at a time.
type cache struct {
	root   *os.Root
	shards map[byte]map[ulid.ULID]seen
}

func (w *Workspace) cache() *cache {
	return &cache{root: w.root, shards: map[byte]map[ulid.ULID]seen{}}
}

// whole reports whether the cache knows every file of this workspace.
func (c *cache) whole(ws ulid.ULID) bool {
	b, err := c.root.ReadFile(wholeName)
	return err == nil && string(bytes.TrimSpace(b)) == ws.String()
}

func (c *cache) markWhole(ws ulid.ULID) error {
	if c.whole(ws) {
		return nil
	}
	if err := c.root.MkdirAll(cacheName, 0o700); err != nil {
		return err
	}
	return atomicfile.WriteNoSync(c.root, wholeName, []byte(ws.String()+"\n"), 0o600)
}

func shardName(b byte) string { return fmt.Sprintf("%s/%02x", filesName, b) }

func (c *cache) shard(b byte) map[ulid.ULID]seen {
	if m := c.shards[b]; m != nil {
		return m
	}
	m := map[ulid.ULID]seen{}
	c.shards[b] = m
	f, err := c.root.Open(shardName(b))
	if err != nil {
		return m
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	for {
		var s seen
		if err := dec.Decode(&s); err != nil {
			if !errors.Is(err, io.EOF) {
				// A damaged shard is a lost shard, and so the cache is not whole.
				_ = c.root.Remove(wholeName)
			}
			return m
		}
		m[s.UID] = s
	}
}

func (c *cache) get(uid ulid.ULID) (seen, bool) {
	s, ok := c.shard(uid[15])[uid]
	return s, ok
}

// put notes an entry. The file is replaced, not synced: it may be lost.
func (c *cache) put(s seen) error {
	m := c.shard(s.UID[15])
	m[s.UID] = s
	return c.write(s.UID[15], m)
}

// drop forgets the file of an artifact that has none.
func (c *cache) drop(uid ulid.ULID) error {
	m := c.shard(uid[15])
	if _, ok := m[uid]; !ok {
		return nil
	}
	delete(m, uid)
	return c.write(uid[15], m)
}

func (c *cache) write(b byte, m map[ulid.ULID]seen) error {
	if err := c.root.MkdirAll(filesName, 0o700); err != nil {
		return err
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	for _, uid := range sortedUIDs(m) {
		if err := enc.Encode(m[uid]); err != nil {
			return err
		}
	}
	return atomicfile.WriteNoSync(c.root, shardName(b), buf.Bytes(), 0o600)
}

// note confirms the file of an artifact as it stands on disk now.
func (c *cache) note(uid ulid.ULID, path string, sha [32]byte, odd bool, now time.Time) error {
	fi, err := c.root.Lstat(path)
	if err != nil {
		return err
	}
	s := seen{UID: uid, Path: path, Size: fi.Size(), MTime: fi.ModTime().UnixNano(), Inode: inode(fi),
		SHA: hex.EncodeToString(sha[:]), Odd: odd, Noted: now.UnixNano()}
	if old, ok := c.get(uid); ok {
		// Noted again it would say the same and prove no more: leave it.
		same := s
		same.Noted = old.Noted
		if same == old && (old.proves(fi) || !s.proves(fi)) {
			return nil
		}
	}
	return c.put(s)
}
