// Command demo tells one story with the real program: an agent's server is
// killed in the middle of its work, and nothing that was promised is lost. It
// speaks to `forgeplan serve` through the official Go client of MCP.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// limit is how long the whole story may take, the build aside.
const limit = 60 * time.Second

func main() {
	bin := flag.String("bin", "", "the forgeplan program to use; built when empty")
	after := flag.Duration("after", 3*time.Millisecond, "how long the call runs before its server is killed")
	flag.Parse()
	if err := run(os.Stdout, *bin, *after); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run tells the story in a new folder and keeps it.
func run(out io.Writer, bin string, after time.Duration) error {
	home, err := os.MkdirTemp("", "forgeplan-demo-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	if bin == "" {
		fmt.Fprintln(out, "Building cmd/forgeplan …")
		bin = filepath.Join(home, program())
		if err := build(bin); err != nil {
			return err
		}
	} else if bin, err = filepath.Abs(bin); err != nil {
		return fmt.Errorf("find the program: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for try := 1; ; try++ {
		folder := filepath.Join(home, fmt.Sprintf("project-%d", try))
		s := &story{bin: bin, folder: folder, after: after, teller: teller{out: out}}
		err := s.tell(ctx)
		if errors.Is(err, errTooLate) && try < 10 {
			fmt.Fprint(out, "\nThe answer was faster than the kill. Once more, from the start.\n\n")
			after /= 2
			continue
		}
		if err != nil {
			return fmt.Errorf("%w (the folder is kept: %s)", err, folder)
		}
		fmt.Fprintf(out, "\nThe folder is kept. Look around in it:\n\n  cd %s\n", folder)
		for _, command := range []string{"list", "get RFC-001", "activity --since-hours 1"} {
			fmt.Fprintf(out, "  %s %s\n", bin, command)
		}
		return nil
	}
}

func program() string {
	if runtime.GOOS == "windows" {
		return "forgeplan.exe"
	}
	return "forgeplan"
}

// build makes the program as `make build` does: no C, so that it runs anywhere.
func build(to string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-o", to, "forgeplan/cmd/forgeplan")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build forgeplan: %w", err)
	}
	return nil
}
