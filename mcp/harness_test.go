package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
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

var update = flag.Bool("update", false, "rewrite the golden files")

// fakeRegistry stands for the registry: it answers with its handler and keeps
// one record for each call.
type fakeRegistry struct {
	handle func(ctx context.Context, name string, args json.RawMessage) tools.Reply // nil: echo

	mu      sync.Mutex
	records []record
}

type record struct {
	tool   string
	status string // ok, tool_err, rpc_err
	class  string
	args   string
	msg    string
	caller tools.Caller
}

var served = []*tools.Tool{
	{Name: "forgeplan_get", Title: "Read", Summary: "Reads one.", Doc: "Whole.", Effect: tools.Reads, Set: "core",
		Params: []tools.Param{{Name: "id", Doc: "the id", Required: true}}},
	{Name: "forgeplan_new", Title: "New", Summary: "Makes one.", Effect: tools.Adds, Set: "core"},
	{Name: "forgeplan_update", Title: "Update", Summary: "Changes one.", Effect: tools.Edits, Set: "core"},
	{Name: "forgeplan_delete", Title: "Delete", Summary: "Removes one.", Effect: tools.Destroys, Set: "core"},
	{Name: "forgeplan_init", Title: "Init", Summary: "Starts.", Effect: tools.Starts, Set: "core"},
	{Name: "forgeplan_activity", Title: "Activity", Summary: "Tells.", Effect: tools.Reads, Set: "audit"},
}

func (f *fakeRegistry) Tools(set string) []*tools.Tool {
	return slices.DeleteFunc(slices.Clone(served), func(t *tools.Tool) bool { return set != "all" && t.Set != set })
}

func (f *fakeRegistry) Call(ctx context.Context, c tools.Caller, name string, args json.RawMessage) tools.Reply {
	var reply tools.Reply
	switch {
	case args[0] != '{':
		reply = failed("invalid_input", "the arguments must be an object")
	case f.handle != nil:
		reply = f.handle(ctx, name, args)
	default:
		reply = tools.Reply{Body: fmt.Appendf(nil, `{"tool":%q,"args":%s,"_next_action":""}`, name, args)}
	}
	r := record{tool: name, status: reply.Failure.Status(), args: string(args), caller: c}
	if reply.Failure != nil {
		r.class, r.msg = reply.Failure.Class, reply.Failure.Msg
	}
	f.add(r)
	return reply
}

func (f *fakeRegistry) Protocol(_ context.Context, c tools.Caller, name string, raw []byte, msg string) tools.Reply {
	f.add(record{tool: name, status: "rpc_err", class: "protocol", args: string(raw), msg: msg, caller: c})
	return failed("protocol", msg)
}

func (f *fakeRegistry) add(r record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.records = append(f.records, r)
}

// recorded lists the records as "status class tool".
func (f *fakeRegistry) recorded() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := []string{}
	for _, r := range f.records {
		list = append(list, strings.Join(strings.Fields(r.status+" "+r.class+" "+r.tool), " "))
	}
	return list
}

func failed(class, msg string) tools.Reply {
	f := tools.Fail(class, msg)
	return tools.Reply{Body: f.JSON(""), Failure: f}
}

// A wire is a server with the test at the other end of its pipes. It belongs
// into a synctest bubble: the answers to what was sent are all there once
// nothing in the bubble can go on.
type wire struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *output
	stop context.CancelFunc
	done chan struct{}
	err  error
}

type output struct {
	mu     sync.Mutex
	buf    bytes.Buffer
	broken error
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken != nil {
		return 0, o.broken
	}
	return o.buf.Write(p)
}

func serve(t *testing.T, reg Registry, opt Options) *wire {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r, in := io.Pipe()
	w := &wire{t: t, in: in, out: &output{}, stop: stop, done: make(chan struct{})}
	opt.In, opt.Out, opt.Version, opt.Session = r, w.out, "0.0.1", "S1"
	go func() {
		w.err = Serve(ctx, reg, opt)
		close(w.done)
	}()
	t.Cleanup(func() { stop(); in.Close(); r.Close() })
	return w
}

// send writes lines and returns what came back, a line each.
func (w *wire) send(lines ...string) []string {
	w.t.Helper()
	if _, err := io.WriteString(w.in, strings.Join(lines, "\n")+"\n"); err != nil {
		w.t.Fatal(err)
	}
	return w.read()
}

// read returns what came since the last time.
func (w *wire) read() []string {
	synctest.Wait()
	w.out.mu.Lock()
	defer w.out.mu.Unlock()
	s := strings.TrimSuffix(w.out.buf.String(), "\n")
	w.out.buf.Reset()
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func (w *wire) start() {
	w.t.Helper()
	if got := w.send(initialize, initialized); len(got) != 1 {
		w.t.Fatalf("initialize: got %q", got)
	}
}

// ends waits for Serve and returns how long that took.
func (w *wire) ends() time.Duration {
	start := time.Now()
	<-w.done
	return time.Since(start)
}

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func callLine(id int, name, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, name, args)
}

func modernCall(id int, name string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"@m/n","version":"2"}},"name":%q}}`, id, name)
}

func cancelLine(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
}

// ids lists the ids of answers as written.
func ids(lines []string) []string {
	list := []string{}
	for _, l := range lines {
		list = append(list, string(object(json.RawMessage(l))["id"]))
	}
	return list
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n got %q\nwant %q", what, got, want)
	}
}
