package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"forgeplan/tools"
)

func ok() tools.Reply { return tools.Reply{Body: []byte(`{"_next_action":""}`)} }

// untilCanceled answers when its context ends, with what ended it.
func untilCanceled(ctx context.Context, _ string, _ json.RawMessage) tools.Reply {
	<-ctx.Done()
	if errors.Is(context.Cause(ctx), tools.ErrShutdown) {
		return failed("busy", "the lock is held")
	}
	return failed("canceled", "canceled before the commit")
}

func TestCancel(t *testing.T) {
	for _, c := range []struct {
		name, call string
		answers    []string
	}{
		{"2025-11-25", callLine(7, "forgeplan_new", "{}"), []string{"7"}},
		{"2026-07-28", modernCall(7, "forgeplan_new"), []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reg := &fakeRegistry{handle: untilCanceled}
				w := serve(t, reg, Options{})
				w.start()
				if got := w.send(c.call); got != nil {
					t.Errorf("answered before the cancel: %q", got)
				}
				equal(t, "unknown ids", ids(w.send(cancelLine(99), cancelLine(0))), []string{})
				equal(t, "answers to the cancelled call", ids(w.send(cancelLine(7))), c.answers)
				equal(t, "records", reg.recorded(), []string{"tool_err canceled forgeplan_new"})

				reg.handle = nil
				equal(t, "a cancel that comes late", ids(w.send(cancelLine(7))), []string{})
				equal(t, "a later call", ids(w.send(callLine(7, "forgeplan_new", "{}"))), []string{"7"})
			})
		})
	}
}

// TestCancelInLine cancels a call that waits for its turn.
func TestCancelInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := make(chan struct{})
		reg := &fakeRegistry{handle: func(ctx context.Context, name string, args json.RawMessage) tools.Reply {
			switch {
			case string(args) == `{"n":1}`:
				<-first
			case ctx.Err() != nil:
				return failed("canceled", "canceled before the commit")
			}
			return ok()
		}}
		w := serve(t, reg, Options{})
		w.start()
		equal(t, "nothing yet", ids(w.send(
			callLine(1, "forgeplan_get", `{"n":1}`),
			callLine(2, "forgeplan_new", `{}`),
			callLine(3, "forgeplan_update", `{}`))), []string{})
		equal(t, "the cancelled one", ids(w.send(cancelLine(2))), []string{"2"})
		close(first)
		equal(t, "the rest", ids(w.read()), []string{"1", "3"})
		equal(t, "records", reg.recorded(), []string{"tool_err canceled forgeplan_new", "ok forgeplan_get", "ok forgeplan_update"})
	})
}

func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := &fakeRegistry{handle: func(context.Context, string, json.RawMessage) tools.Reply { panic("boom") }}
		w := serve(t, reg, Options{})
		w.start()
		got := w.send(callLine(1, "forgeplan_new", "{}"))
		if len(got) != 1 || !strings.Contains(got[0], `"code":-32603`) || strings.Contains(got[0], "boom") {
			t.Errorf("got %q", got)
		}
		equal(t, "records", reg.recorded(), []string{"rpc_err protocol forgeplan_new"})

		reg.handle = func(context.Context, string, json.RawMessage) tools.Reply { return tools.Reply{} }
		got = w.send(callLine(2, "forgeplan_get", "{}"))
		if len(got) != 1 || !strings.Contains(got[0], `"code":-32603`) {
			t.Errorf("an empty answer of a tool: got %q", got)
		}
		reg.handle = nil
		equal(t, "the session lives", ids(w.send(callLine(3, "forgeplan_new", "{}"))), []string{"3"})
		equal(t, "records", reg.recorded(), []string{"rpc_err protocol forgeplan_new", "ok forgeplan_get", "ok forgeplan_new"})
	})
}

type panicky struct{ *fakeRegistry }

func (panicky) Protocol(context.Context, tools.Caller, string, []byte, string) tools.Reply {
	panic("boom")
}

func TestPanicInRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serve(t, panicky{&fakeRegistry{}}, Options{})
		w.start()
		got := w.send(callLine(1, "forgeplan_nope", "{}"))
		if len(got) != 1 || !strings.Contains(got[0], "unknown tool") {
			t.Errorf("got %q", got)
		}
	})
}

// TestEnd looks at what is answered, recorded and returned, and after what
// time, when the session ends while calls run.
func TestEnd(t *testing.T) {
	sleep := func(d time.Duration) func(context.Context, string, json.RawMessage) tools.Reply {
		return func(context.Context, string, json.RawMessage) tools.Reply {
			time.Sleep(d)
			return ok()
		}
	}
	eof := func(w *wire) { w.in.Close() }
	signal := func(w *wire) { w.stop() }
	gone := func(w *wire) {
		w.out.mu.Lock()
		w.out.broken = io.ErrClosedPipe
		w.out.mu.Unlock()
		w.send(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	}
	for _, c := range []struct {
		name    string
		handle  func(context.Context, string, json.RawMessage) tools.Reply
		end     func(*wire)
		after   time.Duration // from the end of the session
		answers []string
		records []string
		err     error
	}{
		{"input ends", sleep(time.Second), eof, time.Second, []string{"1"}, []string{"ok forgeplan_get"}, nil},
		{"signal", sleep(time.Second), signal, time.Second, []string{"1"}, []string{"ok forgeplan_get"}, nil},
		{"output breaks", sleep(time.Second), gone, time.Second, []string{}, []string{"ok forgeplan_get"}, io.ErrClosedPipe},
		{"input ends, call waits", untilCanceled, eof, drainFor, []string{"1"}, []string{"tool_err busy forgeplan_get"}, nil},
		{"signal, call waits", untilCanceled, signal, drainFor, []string{"1"}, []string{"tool_err busy forgeplan_get"}, nil},
		{"input ends, call hangs", sleep(time.Minute), eof, drainFor + abortFor + closeFor, []string{}, []string{}, nil},
		{"signal, call hangs", sleep(time.Minute), signal, drainFor + abortFor + closeFor, []string{}, []string{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reg := &fakeRegistry{handle: c.handle}
				w := serve(t, reg, Options{})
				w.start()
				w.send(callLine(1, "forgeplan_get", "{}"))
				c.end(w)
				if took := w.ends(); took != c.after || took >= 2*time.Second {
					t.Errorf("ended after %v, want %v", took, c.after)
				}
				equal(t, "answers", ids(w.read()), c.answers)
				equal(t, "records", reg.recorded(), c.records)
				if !errors.Is(w.err, c.err) {
					t.Errorf("Serve: got %v, want %v", w.err, c.err)
				}
				time.Sleep(time.Minute) // let the hanging call go
			})
		})
	}
}

func TestEndWithoutCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := &fakeRegistry{}
		w := serve(t, reg, Options{})
		// a client that listens for changes is not waited for
		w.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true}}}`)
		w.in.Close()
		if took := w.ends(); took != 0 || w.err != nil {
			t.Errorf("took %v, error %v", took, w.err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w := serve(t, &fakeRegistry{}, Options{})
		w.stop()
		if took := w.ends(); took != 0 || w.err != nil {
			t.Errorf("took %v, error %v", took, w.err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w := serve(t, &fakeRegistry{}, Options{})
		w.in.CloseWithError(errors.New("bad disk"))
		if w.ends(); w.err == nil || !strings.Contains(w.err.Error(), "bad disk") {
			t.Errorf("got %v", w.err)
		}
	})
}

// TestPiped is `printf … | forgeplan serve`: all input at once, then its end.
func TestPiped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := &fakeRegistry{handle: func(context.Context, string, json.RawMessage) tools.Reply {
			time.Sleep(10 * time.Millisecond)
			return ok()
		}}
		w := serve(t, reg, Options{})
		lines := []string{initialize, initialized}
		want := []string{"0"}
		for i := 1; i <= 50; i++ {
			lines = append(lines, callLine(i, "forgeplan_new", "{}"))
			want = append(want, fmt.Sprint(i))
		}
		io.WriteString(w.in, strings.Join(lines, "\n")) // no last newline
		w.in.Close()
		w.ends()
		equal(t, "answers", ids(w.read()), want)
		if n := len(reg.recorded()); n != 50 {
			t.Errorf("%d records", n)
		}
	})
}

// TestOrder sends calls of both kinds at once and looks at what overlapped.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			mu    sync.Mutex
			trace []string
		)
		note := func(s string) { mu.Lock(); trace = append(trace, s); mu.Unlock() }
		reg := &fakeRegistry{handle: func(_ context.Context, name string, args json.RawMessage) tools.Reply {
			var a struct{ N, Ms int }
			json.Unmarshal(args, &a)
			note(fmt.Sprintf("+%d", a.N))
			time.Sleep(time.Duration(a.Ms) * time.Millisecond)
			note(fmt.Sprintf("-%d", a.N))
			return ok()
		}}
		w := serve(t, reg, Options{})
		w.start()
		var lines []string
		for i, c := range []struct {
			tool string
			ms   int
		}{{"get", 30}, {"get", 20}, {"new", 10}, {"get", 30}, {"get", 20}, {"update", 10}, {"delete", 10}, {"get", 1}} {
			lines = append(lines, callLine(i+1, "forgeplan_"+c.tool, fmt.Sprintf(`{"n":%d,"ms":%d}`, i+1, c.ms)))
		}
		w.send(lines...)
		time.Sleep(time.Second)
		got := w.read()
		if len(got) != 8 {
			t.Errorf("%d answers", len(got))
		}
		// reads that may overlap start in either order
		for i := 0; i+1 < len(trace); i++ {
			if trace[i][0] == '+' && trace[i+1][0] == '+' && trace[i] > trace[i+1] {
				trace[i], trace[i+1] = trace[i+1], trace[i]
			}
		}
		equal(t, "trace", trace, strings.Fields("+1 +2 -2 -1 +3 -3 +4 +5 -5 -4 +6 -6 +7 -7 +8 -8"))
	})
}

// TestParallel has 20 reads run at once: each waits for all others.
func TestParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		all.Add(20)
		meet := make(chan struct{})
		go func() { all.Wait(); close(meet) }()
		reg := &fakeRegistry{handle: func(context.Context, string, json.RawMessage) tools.Reply {
			all.Done()
			<-meet
			return tools.Reply{Body: []byte(`{"x":"` + strings.Repeat("x", 100_000) + `"}`)}
		}}
		w := serve(t, reg, Options{})
		w.start()
		var lines, want []string
		for i := range 20 {
			lines = append(lines, callLine(100+i, "forgeplan_get", "{}"))
			want = append(want, fmt.Sprint(100+i))
		}
		got := w.send(lines...)
		for _, l := range got {
			checkAnswer(t, l)
		}
		list := ids(got)
		slices.Sort(list)
		equal(t, "answers", list, want)
	})
}

func TestIDInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		reg := &fakeRegistry{handle: func(context.Context, string, json.RawMessage) tools.Reply { <-release; return ok() }}
		w := serve(t, reg, Options{})
		w.start()
		got := w.send(callLine(1, "forgeplan_get", "{}"), callLine(1, "forgeplan_new", "{}"))
		equal(t, "the second", ids(got), []string{"null"})
		close(release)
		equal(t, "the first", ids(w.read()), []string{"1"})
		equal(t, "after it", ids(w.send(callLine(1, "forgeplan_new", "{}"))), []string{"1"})
		equal(t, "the text 1 is another id", ids(w.send(strings.Replace(callLine(1, "forgeplan_new", "{}"), `"id":1`, `"id":"1"`, 1))), []string{`"1"`})
		equal(t, "records", reg.recorded(), []string{"rpc_err protocol forgeplan_new", "ok forgeplan_get", "ok forgeplan_new", "ok forgeplan_new"})
	})
}

func TestLongArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := &fakeRegistry{}
		w := serve(t, reg, Options{})
		w.start()
		body := strings.Repeat("0123456789", 500_000)
		got := w.send(callLine(1, "forgeplan_new", `{"body":"`+body+`"}`))
		if len(got) != 1 || strings.Count(got[0], body) != 2 {
			t.Errorf("5 MB did not come back twice: %d answers", len(got))
		}

		// longer than a frame may be; the id is written last, as some clients do
		long := `{"method":"tools/call","params":{"name":"forgeplan_new","arguments":{"id":7,"body":"` + strings.Repeat(body, 4) + `"}},"jsonrpc":"2.0","id":2}`
		got = w.send(long)
		if equal(t, "the long one", ids(got), []string{"2"}); len(got) == 1 && !strings.Contains(got[0], `"code":-32600`) {
			t.Errorf("got %.200s", got[0])
		}
		equal(t, "garbage", ids(w.send(strings.Repeat("x", maxFrame+1))), []string{"null"})
		equal(t, "the session lives", ids(w.send(callLine(3, "forgeplan_get", "{}"))), []string{"3"})
		equal(t, "records", reg.recorded(), []string{"ok forgeplan_new", "rpc_err protocol forgeplan_new", "ok forgeplan_get"})
	})
}

func TestCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := &fakeRegistry{}
		w := serve(t, reg, Options{})
		w.start()
		w.send(callLine(1, "forgeplan_get", "{}"), callLine(2, "forgeplan_nope", "{}"))
		w.send(modernCall(3, "forgeplan_get"))
		want := []tools.Caller{
			{Face: "mcp", Actor: "t", ActorKind: "agent", Session: "S1", Client: "t/1"},
			{Face: "mcp", Actor: "t", ActorKind: "agent", Session: "S1", Client: "t/1"},
			{Face: "mcp", Actor: "@m/n", ActorKind: "agent", Session: "S1", Client: "@m/n/2"},
		}
		for i, r := range reg.records {
			if r.caller != want[i] {
				t.Errorf("got %+v, want %+v", r.caller, want[i])
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		reg := &fakeRegistry{}
		w := serve(t, reg, Options{Actor: "ann"})
		w.start()
		w.send(callLine(1, "forgeplan_get", "{}"))
		if c := reg.records[0].caller; c.Actor != "ann" || c.Client != "t/1" {
			t.Errorf("got %+v", c)
		}
	})
}

func TestToolset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := &fakeRegistry{}
		w := serve(t, reg, Options{Toolset: "core"})
		w.start()
		got := w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, callLine(2, "forgeplan_activity", "{}"))
		slices.SortFunc(got, func(a, b string) int { return strings.Compare(a[:30], b[:30]) })
		if strings.Contains(got[0], "forgeplan_activity") || !strings.Contains(got[1], `unknown tool \"forgeplan_activity\"`) {
			t.Errorf("got %q", got)
		}
		equal(t, "records", reg.recorded(), []string{"rpc_err protocol forgeplan_activity"})
	})
}
