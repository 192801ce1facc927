package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"forgeplan/tools"
)

const (
	methodCall   = "tools/call"
	methodListen = "subscriptions/listen"
	methodInit   = "initialize"
	methodCancel = "notifications/cancelled"

	modernRevision = "2026-07-28" // from here on each request names its revision and client
)

// A request is one call of any method, from its receipt until its answer is
// written or dropped.
type request struct {
	id     json.RawMessage // as sent, echoed in the answer; null where it cannot be
	key    jsonrpc.ID      // the same for the library
	method string
	params json.RawMessage // as sent, may be empty
	modern bool            // of revision 2026-07-28 or later

	// Of tools/call only.
	tool    string // as sent; empty when it is missing or no string
	args    json.RawMessage
	mistake string // what is wrong with the request, empty when nothing is
	caller  tools.Caller
	ticket  *ticket
	ctx     context.Context
	cancel  context.CancelCauseFunc

	recorded bool // the registry answers for it; handed from handler to Write with the answer
	canceled bool // by the client; guarded by conn.mu
}

// parseID accepts what MCP allows, a string or a whole number, and makes the
// library's form of it. Whole numbers that do not fit a float64 keep their
// digits as a string there, since the library would round them.
func parseID(raw json.RawMessage) (jsonrpc.ID, bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil && raw[0] == '"' {
		id, _ := jsonrpc.MakeID(s)
		return id, true
	}
	if strings.Trim(string(raw), "0123456789") != "" && strings.Trim(string(raw[1:]), "0123456789") != "" {
		return jsonrpc.ID{}, false
	}
	var n int64
	if json.Unmarshal(raw, &n) != nil || int64(float64(n)) != n || n > 1<<53 || n < -1<<53 {
		id, _ := jsonrpc.MakeID(string(raw))
		return id, true
	}
	id, _ := jsonrpc.MakeID(float64(n))
	return id, true
}

// object is a JSON object with its keys exactly as written, nil when raw is
// none.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// text is the string in raw, empty when it is none.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// absent reports a value that is missing or null, which are the same to us.
func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// read fills what the params say: revision, client, and for tools/call the tool
// and its arguments. known reports whether a tool of that name is served.
func (r *request) read(known func(string) bool) (client string) {
	params := object(r.params)
	meta := object(params["_meta"])
	r.modern = text(meta[sdk.MetaKeyProtocolVersion]) >= modernRevision
	client = clientName(meta[sdk.MetaKeyClientInfo])
	if r.method == methodInit {
		client = clientName(params["clientInfo"])
	}
	if r.method != methodCall {
		return client
	}
	r.tool, r.args = text(params["name"]), params["arguments"]
	switch {
	case absent(r.params):
		r.mistake = "tools/call needs `params`: an object with `name` and `arguments`"
	case params == nil:
		r.mistake = "`params` of tools/call must be an object with `name` and `arguments`"
	case absent(params["name"]):
		r.mistake = "tools/call needs `name`: the name of a tool"
	case params["name"][0] != '"':
		r.mistake = "`name` must be a string: the name of a tool"
	case !known(r.tool):
		r.mistake = fmt.Sprintf("unknown tool %q: tools/list names the tools", clip(r.tool))
	case !absent(params["_meta"]) && meta == nil:
		r.mistake = "`_meta` must be an object"
	}
	if params == nil && !absent(r.params) {
		r.args = r.params
	}
	if absent(r.args) {
		r.args = json.RawMessage("{}")
	}
	return client
}

// clientName makes "name/version" of an implementation's JSON, empty where it
// has no name.
func clientName(raw json.RawMessage) string {
	info := object(raw)
	name, version := clip(text(info["name"])), clip(text(info["version"]))
	if name == "" || version == "" {
		return name
	}
	return name + "/" + version
}

// clip makes a text of others safe to repeat: one line of at most 80
// characters, all of them printable.
func clip(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if !unicode.IsPrint(r) {
			continue
		}
		if n++; n > 80 {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}
