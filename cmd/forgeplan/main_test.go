package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts run this program inside the test binary.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"forgeplan": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			e.Setenv("FORGEPLAN_ACTOR", "vera")
			e.Setenv("TZ", "Asia/Tokyo")
			return nil
		},
	})
}

// binary builds the program once for the tests that need a process of its own.
func binary(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "forgeplan")
	cmd := exec.Command("go", "build", "-o", bin, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

// TestFieldCases runs the shell cases of the field reports against the built
// program, where they are at hand.
func TestFieldCases(t *testing.T) {
	cases := filepath.Join("..", "..", "..", "shared", "acceptance", "cases")
	if _, err := os.Stat(cases); err != nil {
		t.Skip("the acceptance cases are not here")
	}
	bin := binary(t)
	for _, id := range []string{"F01", "F06", "F07", "F09", "F13", "F15", "F16", "F38", "F40", "F45", "F58", "F96", "F113"} {
		t.Run(id, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(cases, id+"-*.sh"))
			if err != nil || len(files) != 1 {
				t.Fatalf("%v %v", files, err)
			}
			file, err := filepath.Abs(files[0])
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("bash", file)
			cmd.Env = append(os.Environ(), "FP="+bin)
			cmd.WaitDelay = time.Minute
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
