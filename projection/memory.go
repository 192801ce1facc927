package projection

import (
	"iter"
	"slices"
	"strings"
)

// Memory is a Table in memory. The zero value is an empty table. It is not
// safe for concurrent use, not even by readers alone: a scan may sort.
type Memory struct {
	rows map[string][]byte

	// Folds put and get far more often than anybody scans, so that keys are
	// put in order only when a scan asks: sorted holds those of the last scan
	// (some may be deleted since), fresh those that came later.
	sorted, fresh []string
}

// NewMemory returns an empty table.
func NewMemory() *Memory { return &Memory{} }

// Len counts the rows.
func (m *Memory) Len() int { return len(m.rows) }

// Get returns the row of key, nil if there is none.
func (m *Memory) Get(key string) []byte { return m.rows[key] }

// Put sets the row of key. A nil val is kept as an empty row. It never fails.
func (m *Memory) Put(key string, val []byte) error {
	if m.rows == nil {
		m.rows = map[string][]byte{}
	}
	if val == nil {
		val = []byte{}
	}
	before := len(m.rows)
	m.rows[key] = val
	if len(m.rows) > before {
		m.fresh = append(m.fresh, key)
	}
	return nil
}

// Delete removes the row of key, if there is one. It never fails.
func (m *Memory) Delete(key string) error {
	delete(m.rows, key)
	return nil
}

// Scan yields the rows whose keys begin with prefix, by rising key. Rows may
// be put and deleted meanwhile: a deleted one that was not yet yielded is left
// out, a new one may be.
func (m *Memory) Scan(prefix string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, key := range m.keys(prefix) {
			if row, ok := m.rows[key]; ok && !yield(key, row) {
				return
			}
		}
	}
}

// keys lists the keys that begin with prefix in order. Some may be deleted.
// The slice stays as it is while rows come and go.
func (m *Memory) keys(prefix string) []string {
	if len(m.fresh) > 0 || len(m.sorted) > 2*len(m.rows) {
		m.sort()
	}
	from, _ := slices.BinarySearch(m.sorted, prefix)
	to := from + prefixLen(m.sorted[from:], prefix)
	return m.sorted[from:to:to]
}

func prefixLen(keys []string, prefix string) int {
	// Keys with the prefix stand first; the search finds where they end.
	n, _ := slices.BinarySearchFunc(keys, prefix, func(key, prefix string) int {
		if strings.HasPrefix(key, prefix) {
			return -1
		}
		return 1
	})
	return n
}

// sort merges fresh into a new sorted, without the deleted keys. A key that
// was deleted and put again stands in both and is kept once.
func (m *Memory) sort() {
	slices.Sort(m.fresh)
	merged := make([]string, 0, len(m.rows))
	add := func(key string) {
		if n := len(merged); n > 0 && merged[n-1] == key {
			return
		}
		if _, ok := m.rows[key]; ok {
			merged = append(merged, key)
		}
	}
	old := m.sorted
	for _, key := range m.fresh {
		for len(old) > 0 && old[0] <= key {
			add(old[0])
			old = old[1:]
		}
		add(key)
	}
	for _, key := range old {
		add(key)
	}
	m.sorted, m.fresh = merged, nil
}
