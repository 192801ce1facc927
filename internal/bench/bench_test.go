package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"
)

// side runs a metric and its yardsticks as benchmarks.
func side(b *testing.B, s size, make func(*lab) (metric, error)) {
	l, err := newLab(s)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := l.close(); err != nil {
			b.Error(err)
		}
	})
	m, err := make(l)
	if err != nil {
		b.Fatal(err)
	}
	loop := func(do op) func(*testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("ours", loop(m.ours))
	for _, y := range m.bounds {
		b.Run(strings.NewReplacer(" ", "-", ",", "", "+", "and").Replace(y.name), loop(y.do))
	}
}

func BenchmarkAppend(b *testing.B)          { side(b, full, appends) }
func BenchmarkOpenAppendClose(b *testing.B) { side(b, full, openAppendClose) }
func BenchmarkMutation(b *testing.B)        { side(b, full, mutations) }
func BenchmarkRecordedRead(b *testing.B)    { side(b, full, recordedReads) }

func BenchmarkReplay(b *testing.B) {
	b.Run("100k", func(b *testing.B) { side(b, full, replays) })
}

func BenchmarkList(b *testing.B) {
	b.Run("10k", func(b *testing.B) { side(b, full, lists) })
}

// TestAllIsMeasured: every metric can be measured, and the table shows it.
func TestAllIsMeasured(t *testing.T) {
	l, err := newLab(size{events: 200, artifacts: 30})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.close(); err != nil {
			t.Error(err)
		}
	}()
	var all []metric
	for _, m := range metrics {
		made, err := m.make(l)
		if err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		if made.name != m.name {
			t.Errorf("%s calls itself %s", m.name, made.name)
		}
		all = append(all, made)
	}
	rows, err := measure(all, 2, time.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := table(&out, rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.ours <= 0 || r.least <= 0 || r.ratio < r.lowest || r.ratio > r.highest || !strings.Contains(out.String(), r.bound) {
			t.Errorf("row %+v", r)
		}
	}
	if want := 1 + 2*len(metrics); strings.Count(out.String(), "\n") != want {
		t.Errorf("%d lines, want %d:\n%s", strings.Count(out.String(), "\n"), want, out.String())
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 999: "999ns", 1234: "1.23µs", 123_456: "123µs", 1_234_567: "1.23ms", 98_765_432: "98.8ms", 2_345_678_901: "2.35s",
	} {
		if got := short(d); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
}

// TestWalk holds the yardstick's reader against the library's encoder.
func TestWalk(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	many := make([]int, 70_000)
	for _, v := range []any{
		nil, true, 0, -1, 100, -100, 1000, -1000, 100_000, -100_000, 1 << 40, uint64(1 << 63), 1.5, float32(1.5), "", "text", long[:40], long[:300], long,
		[]byte{}, []byte(long[:300]), []byte(long), []int{1, 2, 3}, many[:20], many, map[string]int{"a": 1}, map[string]any{"a": []string{"b", long}, "c": nil},
	} {
		data, err := msgpack.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if rest, err := walk(append(data, "rest"...)); err != nil || string(rest) != "rest" {
			t.Errorf("%.40v: %.10q is left over (%v)", v, rest, err)
		}
		for _, n := range []int{0, len(data) / 2, len(data) - 1} {
			if _, err := walk(data[:n]); err == nil {
				t.Errorf("%.40v: no error after %d of %d bytes", v, n, len(data))
			}
		}
	}
}
