package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"forgeplan/tools"
)

// callHeader carries a request's key from the connection through the library to
// the handler. Standard input has no headers of its own.
const callHeader = "Call"

// conn is the stdio transport and its one connection. The library reads
// requests from it and writes answers to it; everything that makes a session
// robust happens here: bad frames, order, cancellation, the record of calls that
// reach no tool, the end.
type conn struct {
	reg   Registry
	opt   Options
	log   *slog.Logger
	tools map[string]bool // served tools; true when they mutate
	order order

	base  context.Context // of all calls; ends when the drain is over
	abort context.CancelCauseFunc

	lines  chan line     // from readInput to Read; closed at the end of In
	over   chan struct{} // closed when In ended or Out broke
	closed chan struct{} // closed by Close: Read ends

	client client // from initialize; touched by Read only

	mu       sync.Mutex          // guards what follows
	requests map[string]*request // by index
	running  int                 // requests without an answer that the end waits for
	stopping bool                // no more requests are taken
	idle     chan struct{}       // closed when stopping and nothing runs
	ended    error               // why over was closed

	writing sync.Mutex // one frame at a time
	out     io.Writer
	broken  bool // guarded by writing
}

func newConn(ctx context.Context, reg Registry, list []*tools.Tool, opt Options) *conn {
	c := &conn{
		reg: reg, opt: opt, log: opt.Log, out: opt.Out,
		tools:    make(map[string]bool, len(list)),
		lines:    make(chan line),
		over:     make(chan struct{}),
		closed:   make(chan struct{}),
		idle:     make(chan struct{}),
		requests: make(map[string]*request),
	}
	for _, t := range list {
		c.tools[t.Name] = t.Mutates()
	}
	c.base, c.abort = context.WithCancelCause(context.WithoutCancel(ctx))
	return c
}

// Connect makes conn the library's transport.
func (c *conn) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// SessionID is empty: the protocol has none over stdio.
func (c *conn) SessionID() string { return "" }

// Close ends Read. Requests that run are not waited for: see drain.
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.closed:
	default:
		close(c.closed)
	}
	return nil
}

// readInput feeds Read until In ends or the connection is closed.
func (c *conn) readInput(in io.Reader) {
	err := readLines(in, func(ln line) bool {
		select {
		case c.lines <- ln:
			return true
		case <-c.closed:
			return false
		}
	})
	if err != nil {
		c.log.Error("read input", "error", err)
		c.end(fmt.Errorf("read input: %w", err))
	}
	close(c.lines)
}

// end starts the end of the session; the first reason counts.
func (c *conn) end(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		c.ended = reason
		close(c.over)
	}
}

// failure is the reason the session ended for, nil when it was told to.
func (c *conn) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// drain takes no more requests and waits until the running ones are answered:
// drainFor, then cancelled, then abortFor.
func (c *conn) drain() {
	c.mu.Lock()
	c.stopping = true
	if c.running == 0 {
		close(c.idle)
	}
	c.mu.Unlock()
	select {
	case <-c.idle:
	case <-time.After(drainFor):
	}
	c.abort(tools.ErrShutdown) // unlike after a client's cancel, a call that waits for the lock is busy
	select {
	case <-c.idle:
	case <-time.After(abortFor):
	}
}

// Read hands the next request to the library. What is none is answered here. At
// the end of In it blocks until Close, since after its error the library lets no
// answer out.
func (c *conn) Read(context.Context) (jsonrpc.Message, error) {
	lines := c.lines
	for {
		select {
		case <-c.closed:
			return nil, io.EOF
		case ln, ok := <-lines:
			if !ok {
				lines = nil
				c.end(io.EOF)
				continue
			}
			if msg := c.accept(ln); msg != nil {
				return msg, nil
			}
		}
	}
}

// accept sorts one frame: a message for the library, or nil when the matter is
// settled.
func (c *conn) accept(ln line) jsonrpc.Message {
	if ln.long != nil {
		c.acceptLong(ln.long)
		return nil
	}
	var frame map[string]json.RawMessage
	if err := json.Unmarshal(ln.data, &frame); err != nil || frame == nil {
		var syntax *json.SyntaxError
		switch {
		case errors.As(err, &syntax):
			c.reject(nil, refusal(jsonrpc.CodeParseError, "this line is not JSON: send one JSON object a line"))
		case ln.data[0] == '[':
			c.reject(nil, refusal(jsonrpc.CodeInvalidRequest, "batches are not served: send one request a line"))
		default:
			c.reject(nil, refusal(jsonrpc.CodeInvalidRequest, "this line is no request: a request is a JSON object"))
		}
		return nil
	}
	r := &request{method: text(frame["method"]), params: frame["params"]}
	rawID, hasID := frame["id"]
	okID := true
	if hasID {
		if r.key, okID = parseID(rawID); okID {
			r.id = rawID
		}
	}
	_, hasMethod := frame["method"]
	_, hasResult := frame["result"]
	_, hasError := frame["error"]
	switch {
	case !hasMethod && (hasResult || hasError):
		return nil // an answer; we asked nothing
	case text(frame["jsonrpc"]) != "2.0":
		c.refuse(r, hasID, refusal(jsonrpc.CodeInvalidRequest, "this is no request: `jsonrpc` must be \"2.0\""))
	case !hasMethod || frame["method"][0] != '"':
		c.reject(r.id, refusal(jsonrpc.CodeInvalidRequest, "this is no request: `method` must be a string"))
	case !okID:
		c.refuse(r, hasID, refusal(jsonrpc.CodeInvalidRequest, "the id of a request must be a string or a whole number"))
	case hasID:
		return c.acceptRequest(r)
	case r.method == methodCancel:
		return c.acceptCancel(r)
	default:
		return &jsonrpc.Request{Method: r.method, Params: r.params}
	}
	return nil
}

// acceptRequest registers r, which gives it its place in the order, and makes
// the library's form of it.
func (c *conn) acceptRequest(r *request) jsonrpc.Message {
	c.know(r)
	c.mu.Lock()
	_, taken := c.requests[index(r.key)]
	if !taken && !c.stopping {
		c.requests[index(r.key)] = r
		if r.method == methodCall {
			r.ctx, r.cancel = context.WithCancelCause(c.base)
			r.ticket = c.order.take(c.tools[r.tool])
		}
		c.begin(r)
	}
	stopping := c.stopping
	c.mu.Unlock()
	switch {
	case stopping:
		return nil
	case taken: // an answer with this id would be taken for the other request's
		r.id = nil
		c.refuse(r, true, refusal(jsonrpc.CodeInvalidRequest, "the id of this request belongs to one that is still running"))
		return nil
	}
	return &jsonrpc.Request{
		ID: r.key, Method: r.method, Params: r.params,
		Extra: &sdk.RequestExtra{Header: http.Header{callHeader: {index(r.key)}}},
	}
}

// know reads the params of r and fills its caller.
func (c *conn) know(r *request) {
	from := r.read(func(name string) bool { _, ok := c.tools[name]; return ok })
	if r.method == methodInit && c.client.name == "" {
		c.client = from
	}
	if from.name == "" {
		from = c.client
	}
	r.caller = tools.Caller{Face: "mcp", Actor: c.opt.Actor, ActorKind: "agent", Session: c.opt.Session, Client: from.String()}
	if r.caller.Actor == "" {
		r.caller.Actor = from.name
	}
}

// acceptCancel cancels a tool call itself, so that the call is recorded even if
// it has not reached its handler, and leaves other requests to the library. A
// request that is unknown or answered is none of our business.
func (c *conn) acceptCancel(n *request) jsonrpc.Message {
	key, ok := parseID(object(n.params)["requestId"])
	if !ok {
		return nil
	}
	c.mu.Lock()
	r := c.requests[index(key)]
	if r != nil {
		r.canceled = true
	}
	c.mu.Unlock()
	switch {
	case r == nil:
		return nil
	case r.cancel != nil:
		r.cancel(context.Canceled)
		return nil
	}
	params, _ := json.Marshal(map[string]any{"requestId": key.Raw()})
	return &jsonrpc.Request{Method: n.method, Params: params}
}

// acceptLong answers a frame that was too long to keep.
func (c *conn) acceptLong(p *peek) {
	r := &request{method: text(p.method)}
	if len(p.name) > 0 {
		r.params = json.RawMessage(`{"name":` + string(p.name) + `}`)
	}
	if key, ok := parseID(p.id); ok {
		r.key, r.id = key, p.id
	}
	c.refuse(r, len(p.id) > 0, refusal(jsonrpc.CodeInvalidRequest, "this request is longer than %d MiB: it was not read", maxFrame>>20))
}

// reject answers a frame that is no request.
func (c *conn) reject(id json.RawMessage, err *jsonrpc.Error) {
	c.log.Warn("bad frame", "error", err.Message)
	c.send(answer(id, nil, err))
}

// refuse answers a request that the library never sees. A tools/call among them
// is recorded, which may wait for the journal: reading goes on meanwhile.
func (c *conn) refuse(r *request, isRequest bool, err *jsonrpc.Error) {
	if r.method != methodCall || !isRequest {
		c.reject(r.id, err)
		return
	}
	c.know(r)
	c.mu.Lock()
	if c.stopping {
		c.mu.Unlock()
		return
	}
	c.begin(r)
	c.mu.Unlock()
	go func() {
		defer c.finish(r)
		c.send(answer(r.id, nil, c.record(r, err)))
	}()
}

// Write sends what the library has to say. It never fails: a broken Out ends
// the session.
func (c *conn) Write(_ context.Context, msg jsonrpc.Message) error {
	resp, ok := msg.(*jsonrpc.Response)
	if !ok {
		frame, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			return fmt.Errorf("encode a message: %w", err)
		}
		c.send(append(frame, '\n'))
		return nil
	}
	c.mu.Lock()
	r := c.requests[index(resp.ID)]
	delete(c.requests, index(resp.ID)) // the client may use the id again once it has the answer
	c.mu.Unlock()
	if r == nil {
		c.log.Error("an answer to no request")
		return nil
	}
	defer c.finish(r)
	var fail *jsonrpc.Error
	if resp.Error != nil {
		fail = r.explain(resp.Error)
		if r.method == methodCall && !r.recorded {
			fail = c.record(r, fail)
		}
	}
	c.mu.Lock()
	drop := r.canceled && r.modern // that revision wants silence after a cancel
	c.mu.Unlock()
	if !drop {
		c.send(answer(r.id, resp.Result, fail))
	}
	return nil
}

// record notes a tools/call that reached no tool and adds what the registry
// says about it to the error.
func (c *conn) record(r *request, err *jsonrpc.Error) (same *jsonrpc.Error) {
	same = err // also after a panic
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic in the record of a call", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	reply := c.reg.Protocol(c.base, r.caller, r.tool, r.args, err.Message)
	if err.Data == nil && json.Valid(reply.Body) {
		err.Data = reply.Body
	}
	return same
}

// begin counts r as running. The caller holds mu. A listening client is not
// waited for: its request ends with the session.
func (c *conn) begin(r *request) {
	if r.method != methodListen {
		c.running++
	}
}

// finish ends r: its answer is written or dropped.
func (c *conn) finish(r *request) {
	if r.ticket != nil {
		r.ticket.release()
	}
	if r.cancel != nil {
		r.cancel(nil)
	}
	if r.method == methodListen {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	if c.stopping && c.running == 0 {
		close(c.idle)
	}
}

// lookup finds a request by the header it went through the library with.
func (c *conn) lookup(header string) *request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests[header]
}

// index tells the number 1 from the string "1".
func index(id jsonrpc.ID) string { return fmt.Sprintf("%T %v", id.Raw(), id.Raw()) }

// send writes one frame, which ends in a newline, whole.
func (c *conn) send(frame []byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.broken {
		return
	}
	if _, err := c.out.Write(frame); err != nil {
		c.broken = true
		c.log.Error("write output", "error", err)
		c.end(fmt.Errorf("write output: %w", err))
	}
}

// answer is the frame of a result or an error. Results come compact from the
// library; they may be long and are not encoded again.
func answer(id, result json.RawMessage, fail *jsonrpc.Error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	var b bytes.Buffer
	b.Grow(len(result) + 64)
	b.WriteString(`{"jsonrpc":"2.0","id":`)
	b.Write(id)
	if fail != nil {
		b.WriteString(`,"error":`)
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(fail); err != nil { // only Data could be no JSON, and it was checked
			panic("mcp: " + err.Error())
		}
		b.Truncate(b.Len() - 1)
	} else {
		b.WriteString(`,"result":`)
		b.Write(result)
	}
	b.WriteString("}\n")
	return b.Bytes()
}
