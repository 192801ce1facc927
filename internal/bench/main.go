// Command bench measures what forgeplan promises, each beside the least that the
// disk or the processor must do for the same work, in the same run: read the
// ratio, not the time, since times move with the machine and with what else runs
// on it. `go test -bench . ./internal/bench` measures the same for benchstat.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 7, "rounds; in each, all is measured once, in turn")
	slice := flag.Duration("slice", 120*time.Millisecond, "time of one measurement")
	flag.Parse()
	if err := run(full, *rounds, *slice); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// size is how much there is to measure with.
type size struct {
	events    int // of the journal that is replayed
	artifacts int // of the workspace that is listed
}

var full = size{events: 100_000, artifacts: 10_000}

func run(s size, rounds int, slice time.Duration) (err error) {
	l, err := newLab(s)
	if err != nil {
		return err
	}
	defer func() {
		if e := l.close(); err == nil {
			err = e
		}
	}()
	var all []metric
	for _, m := range metrics {
		made, err := m.make(l)
		if err != nil {
			return fmt.Errorf("prepare %s: %w", m.name, err)
		}
		all = append(all, made)
	}
	rows, err := measure(all, rounds, slice)
	if err != nil {
		return err
	}
	return table(os.Stdout, rows)
}
