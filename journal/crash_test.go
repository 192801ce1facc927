package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"forgeplan/internal/fault"
)

const crashEnv = "JOURNAL_TEST_CRASH_AT"

// TestCrashSweep runs a writer that kills itself at the k-th fault point, for
// k = 1, 2, 3 … until one survives. Whatever it acknowledged is there, whole
// transactions only, and the chains hold. It proves our ordering, not the disk.
func TestCrashSweep(t *testing.T) {
	survived := false
	k := 1
	for ; !survived && k < 100; k++ {
		dir := t.TempDir()
		path := filepath.Join(dir, "journal.db")
		cmd := exec.Command(os.Args[0], "-test.run=^TestCrashWriter$", "-test.v=false")
		cmd.Env = append(os.Environ(), crashEnv+"="+strconv.Itoa(k), "JOURNAL_TEST_PATH="+path)
		out, err := cmd.Output()
		survived = err == nil
		acknowledged := uint64(0)
		for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
			fmt.Sscanf(s.Text(), "acknowledged %d", &acknowledged)
		}
		if survived && acknowledged != 10 {
			t.Fatalf("the survivor acknowledged %d: %s", acknowledged, out)
		}
		err = view(path, func(tx *Tx) error {
			n := tx.Head(Changes).Count
			if n%2 != 0 || n < acknowledged || n > acknowledged+2 {
				t.Errorf("killed at point %d: %d records, %d acknowledged", k, n, acknowledged)
			}
			return nil
		})
		if errors.Is(err, ErrMissing) && acknowledged == 0 {
			// Killed while creating: what is left must not be in the way.
			err = Create(path, workspaceID, nil)
		}
		must(t, err)
		must(t, verify(path))
	}
	if !survived || k < 10 {
		t.Errorf("%d points, survived: %v", k, survived)
	}
}

// TestCrashWriter is the writer of TestCrashSweep: two records a transaction.
func TestCrashWriter(t *testing.T) {
	at, err := strconv.Atoi(os.Getenv(crashEnv))
	if err != nil {
		t.Skip("run by TestCrashSweep")
	}
	path := os.Getenv("JOURNAL_TEST_PATH")
	fault.Hook = func(string) {
		if at--; at == 0 {
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
			time.Sleep(time.Minute)
		}
	}
	two := func(tx *Tx) error {
		for _, text := range []string{"a", "b"} {
			if _, err := add(tx, Changes, epoch, text); err != nil {
				return err
			}
		}
		return nil
	}
	must(t, Create(path, workspaceID, two))
	fmt.Println("acknowledged 2")
	for n := 4; n <= 10; n += 2 {
		must(t, update(path, two))
		fmt.Println("acknowledged", n)
	}
}
