package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

// op does the work once.
type op func() error

// metric is one promise and the yardsticks it is held against.
type metric struct {
	name   string
	ours   op
	bounds []bound
}

// bound is a yardstick: the least that must be done.
type bound struct {
	name string
	do   op
	goal float64 // highest ratio of ours to it; 0 where none was set
}

// metrics are all that is measured. make prepares one in a lab.
var metrics = []struct {
	name string
	make func(*lab) (metric, error)
}{
	{"Append", appends},
	{"OpenAppendClose", openAppendClose},
	{"Replay/100k", replays},
	{"List/10k", lists},
	{"Mutation", mutations},
	{"RecordedRead", recordedReads},
}

// row is a line of the table: medians over all rounds. The ratio is the median
// of the rounds' ratios.
type row struct {
	metric, bound   string
	ours, least     time.Duration
	ratio, goal     float64
	lowest, highest float64
}

func measure(all []metric, rounds int, slice time.Duration) ([]row, error) {
	type times struct {
		ours   []time.Duration
		bounds [][]time.Duration
	}
	taken := make([]times, len(all))
	for range rounds {
		for i, m := range all {
			t := &taken[i]
			t.bounds = append(t.bounds[:len(t.bounds):len(t.bounds)], make([][]time.Duration, len(m.bounds)-len(t.bounds))...)
			d, err := timed(m.ours, slice)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			t.ours = append(t.ours, d)
			for k, b := range m.bounds {
				if d, err = timed(b.do, slice); err != nil {
					return nil, fmt.Errorf("%s, %s: %w", m.name, b.name, err)
				}
				t.bounds[k] = append(t.bounds[k], d)
			}
		}
	}
	var rows []row
	for i, m := range all {
		for k, b := range m.bounds {
			ratios := make([]float64, rounds)
			for r := range ratios {
				ratios[r] = float64(taken[i].ours[r]) / float64(taken[i].bounds[k][r])
			}
			rows = append(rows, row{
				metric: m.name, bound: b.name, ours: median(taken[i].ours), least: median(taken[i].bounds[k]),
				ratio: median(ratios), goal: b.goal, lowest: slices.Min(ratios), highest: slices.Max(ratios),
			})
		}
	}
	return rows, nil
}

// timed is how long do takes, on average over slice, and at least once.
func timed(do op, slice time.Duration) (time.Duration, error) {
	begun := time.Now()
	for n := 1; ; n++ {
		if err := do(); err != nil {
			return 0, err
		}
		if took := time.Since(begun); took >= slice {
			return took / time.Duration(n), nil
		}
	}
}

func median[T time.Duration | float64](all []T) T {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

func table(w io.Writer, rows []row) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "METRIC\tOURS\tBOUND\tBOUND IS\tRATIO\tLOWEST..HIGHEST\tGOAL")
	for _, r := range rows {
		goal := "-"
		if r.goal > 0 {
			goal = "≤ " + strconv.FormatFloat(r.goal, 'g', 3, 64)
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%.2f\t%.2f..%.2f\t%s\n", r.metric, short(r.ours), short(r.least), r.bound, r.ratio, r.lowest, r.highest, goal)
	}
	return out.Flush()
}

// short is a duration with three digits.
func short(d time.Duration) string {
	for unit := time.Nanosecond; ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit).String()
		}
	}
}

// lab is a folder to measure in and what several metrics share.
type lab struct {
	size
	dir     string // on the disk of temporary files
	memory  string // in memory where the system has such a folder, else on that disk too
	closers []func() error
}

func newLab(s size) (*lab, error) {
	l := &lab{size: s}
	var err error
	if l.dir, err = os.MkdirTemp("", "forgeplan-bench-"); err != nil {
		return nil, err
	}
	l.closers = append(l.closers, func() error { return os.RemoveAll(l.dir) })
	if l.memory, err = os.MkdirTemp("/dev/shm", "forgeplan-bench-"); err != nil {
		l.memory = l.path("memory")
		return l, os.Mkdir(l.memory, 0o700)
	}
	l.closers = append(l.closers, func() error { return os.RemoveAll(l.memory) })
	return l, nil
}

func (l *lab) path(name string) string { return filepath.Join(l.dir, name) }

// close ends what the metrics opened, newest first, and removes the folders.
func (l *lab) close() (err error) {
	for _, c := range slices.Backward(l.closers) {
		err = errors.Join(err, c())
	}
	return err
}
