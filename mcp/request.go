package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
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
// library's form of it. A whole number that the library would round, since it
// goes through float64 there, becomes the string of its digits.
func parseID(raw json.RawMessage) (jsonrpc.ID, bool) {
	var id any
	digits := strings.TrimPrefix(string(raw), "-")
	switch {
	case !json.Valid(raw):
		return jsonrpc.ID{}, false
	case raw[0] == '"':
		id = text(raw)
	case strings.Trim(digits, "0123456789") != "":
		return jsonrpc.ID{}, false
	default:
		id = string(raw)
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil && -exact <= n && n <= exact {
			id = float64(n)
		}
	}
	key, err := jsonrpc.MakeID(id)
	return key, err == nil
}

// exact is the bound up to which a float64 holds every whole number.
const exact = 1 << 53

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
// and its arguments. It returns the client they name. known reports whether a tool of that name is served.
func (r *request) read(known func(string) bool) client {
	params := object(r.params)
	meta := object(params["_meta"])
	r.modern = text(meta[sdk.MetaKeyProtocolVersion]) >= modernRevision
	from := parseClient(meta[sdk.MetaKeyClientInfo])
	if r.method == methodInit {
		from = parseClient(params["clientInfo"])
	}
	if r.method != methodCall {
		return from
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
	return from
}

// client is the program at the other end, in its own words.
type client struct{ name, version string }

func parseClient(raw json.RawMessage) client {
	info := object(raw)
	return client{clip(text(info["name"])), clip(text(info["version"]))}
}

// String is "name/version", or what there is of it.
func (c client) String() string {
	if c.name == "" || c.version == "" {
		return c.name
	}
	return c.name + "/" + c.version
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
