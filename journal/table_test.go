package journal

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A table behaves like a sorted map, over transactions and rollbacks.
func TestTableIsASortedMap(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprintf("%d.db", n))
		must(t, Create(path, workspaceID, nil))
		model := map[string]string{}
		key := rapid.StringMatching(`[ab]{1,3}`)
		boom := fmt.Errorf("boom")
		for range rapid.IntRange(1, 4).Draw(rt, "transactions") {
			next := maps.Clone(model)
			fail := rapid.Bool().Draw(rt, "fail")
			err := update(path, func(tx *Tx) error {
				tab := tx.Table("t")
				for range rapid.IntRange(0, 12).Draw(rt, "steps") {
					switch rapid.IntRange(0, 9).Draw(rt, "step") {
					case 0:
						clear(next)
						must(t, tab.Reset())
					case 1, 2, 3:
						k := key.Draw(rt, "delete")
						delete(next, k)
						must(t, tab.Delete(k))
					default:
						k, v := key.Draw(rt, "put"), rapid.StringN(0, 5, 10).Draw(rt, "value")
						next[k] = v
						row := []byte(v)
						must(t, tab.Put(k, row))
						clear(row) // Put has copied it
					}
					compare(rt, tab, next, key.Draw(rt, "get"), rapid.StringMatching(`[ab]{0,2}`).Draw(rt, "prefix"))
				}
				if fail {
					return boom
				}
				return nil
			})
			if fail != (err == boom) {
				rt.Fatal(err)
			}
			if !fail {
				model = next
			}
			if err := view(path, func(tx *Tx) error { compare(rt, tx.Table("t"), model, "a", ""); return nil }); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

func compare(t *rapid.T, tab *Table, model map[string]string, key, prefix string) {
	want, ok := model[key]
	if got := tab.Get(key); (got != nil) != ok || string(got) != want {
		t.Fatalf("Get %q: %q, want %q %v", key, got, want, ok)
	}
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(model)) {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	var got []string
	for k, v := range tab.Scan(prefix) {
		got = append(got, k)
		if string(v) != model[k] || v == nil {
			t.Fatalf("Scan %q: %q is %q, want %q", prefix, k, v, model[k])
		}
	}
	if !slices.Equal(got, keys) {
		t.Fatalf("Scan %q: %q, want %q", prefix, got, keys)
	}
}

// A fold that writes the table it scans must see each old row once.
func TestScanWhileWriting(t *testing.T) {
	path := newFile(t)
	must(t, update(path, func(tx *Tx) error {
		for i := range 2000 {
			must(t, tx.Table("t").Put(fmt.Sprintf("%05d", i), []byte("old")))
		}
		return nil
	}))
	must(t, update(path, func(tx *Tx) error {
		tab := tx.Table("t")
		i := 0
		for k, v := range tab.Scan("") {
			if want := fmt.Sprintf("%05d", i); k != want || string(v) != "old" {
				t.Fatalf("row %d is %q %q", i, k, v)
			}
			switch i % 3 {
			case 0:
				must(t, tab.Delete(k))
			case 1:
				must(t, tab.Put(k, []byte("new")))
			}
			i++
		}
		if i != 2000 {
			t.Errorf("%d rows", i)
		}
		for range tab.Scan("") {
			must(t, tab.Reset()) // nothing is left to go on with
		}
		return nil
	}))
}

func TestTableErrors(t *testing.T) {
	path := newFile(t)
	must(t, view(path, func(tx *Tx) error {
		tab := tx.Table("none")
		if tab.Get("x") != nil || tab.Delete("x") != nil || tab.Reset() != nil {
			t.Error("a table that was never written to is not empty")
		}
		for range tab.Scan("") {
			t.Error("it has rows")
		}
		if tab.Put("x", nil) == nil {
			t.Error("a View can write")
		}
		return nil
	}))
	must(t, update(path, func(tx *Tx) error {
		if tx.Table("t").Put("", nil) == nil {
			t.Error("an empty key was taken")
		}
		return nil
	}))
}
