package mcp

import (
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// refusal is an error with a code and a plain sentence.
func refusal(code int64, format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// explain makes what the client reads of an error: always a code, never the
// library's texts about its own types, never the request's content.
func (r *request) explain(err error) *jsonrpc.Error {
	var wire *jsonrpc.Error
	coded := errors.As(err, &wire) && wire.Code != 0
	_, plain := err.(*jsonrpc.Error) // a whole answer, not one inside another error's text
	method := clip(r.method)
	switch {
	case coded && wire.Code == jsonrpc.CodeMethodNotFound:
		return refusal(wire.Code, "this server has no method %q in the revision of the request", method)
	case coded && wire.Code == sdk.CodeUnsupportedProtocolVersion:
		return wire // its data lists the revisions that are served
	case coded && wire.Code == jsonrpc.CodeInternalError:
		if plain {
			return wire
		}
	case !coded && r.method == methodInit && strings.Contains(err.Error(), "duplicate"):
		return refusal(jsonrpc.CodeInvalidRequest, "initialize was done before in this session")
	case !coded && r.method == methodInit:
		return refusal(jsonrpc.CodeInvalidParams, "initialize needs `params` with protocolVersion, capabilities and clientInfo")
	case !coded && strings.Contains(err.Error(), "session initialization"):
		return refusal(jsonrpc.CodeInvalidRequest, "%s came before initialize: send initialize first", method)
	case r.mistake != "":
		return refusal(jsonrpc.CodeInvalidParams, "%s", r.mistake)
	case plain && coded && strings.Contains(wire.Message, "_meta"):
		return wire // names the field that is missing or wrong
	case strings.HasPrefix(r.method, "notifications/"):
		return refusal(jsonrpc.CodeInvalidRequest, "%s is a notification: send it without an id", method)
	case coded && absent(r.params):
		return refusal(jsonrpc.CodeInvalidParams, "%s needs `params`", method)
	case coded && wire.Code == jsonrpc.CodeInvalidParams:
		return refusal(wire.Code, "the params do not fit %s", method)
	}
	return refusal(jsonrpc.CodeInternalError, "internal error in %s", method)
}
