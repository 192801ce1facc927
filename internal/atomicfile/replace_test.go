package atomicfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"forgeplan/internal/fault"
)

// swaps tells whether this system and file system can exchange two names.
func swaps(t *testing.T, root *os.Root) bool {
	t.Helper()
	for _, name := range []string{"a", "b"} {
		if err := root.WriteFile(name, []byte(name), perm); err != nil {
			t.Fatal(err)
		}
	}
	if exchange(root, "a", "b") != nil {
		return false
	}
	if got := string(content(t, root, "a")); got != "b" {
		t.Fatalf("a holds %q after the exchange, want %q", got, "b")
	}
	return true
}

// Bytes that somebody writes at any moment of a Replace stay.
func TestReplaceKeepsForeignBytes(t *testing.T) {
	defer func() { fault.Hook = nil }()
	foreign := []byte("by hand")
	for _, tt := range []struct {
		name  string
		there bool
		point string
	}{
		{"changed before the comparison", true, "file.sync"},
		{"changed after the comparison", true, "file.compared"},
		{"changed before the rename", true, "file.rename"},
		{"came into being before the comparison", false, "file.sync"},
		{"came into being after the comparison", false, "file.compared"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var old []byte
			if tt.there {
				old = oldBytes
			}
			root, dir := place(t, old)
			if tt.point == "file.rename" && !swaps(t, root) {
				t.Skip("two names cannot be swapped in one step here")
			}
			fault.Hook = func(name string) {
				if name != tt.point {
					return
				}
				// As an editor does: write beside it, then rename.
				beside := filepath.Join(dir, "beside")
				if err := os.WriteFile(beside, foreign, perm); err != nil {
					t.Error(err)
				}
				if err := os.Rename(beside, filepath.Join(dir, "in", "file")); err != nil {
					t.Error(err)
				}
			}
			err := Replace(root, "in/file", newBytes, perm, func(data []byte, there bool) bool {
				return there == tt.there && bytes.Equal(data, old)
			})
			fault.Hook = nil
			if !errors.Is(err, ErrChanged) {
				t.Errorf("got %v, want ErrChanged", err)
			}
			if got := content(t, root, "in/file"); !bytes.Equal(got, foreign) {
				t.Errorf("got %.8q…, want what was written by hand", got)
			}
			if got := names(t, filepath.Join(dir, "in")); len(got) != 1 {
				t.Errorf("got files %q, want one", got)
			}
		})
	}
}
