package mcp

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"forgeplan/tools"
)

// newServer makes the library's server with the tools of list. The list never
// changes while it runs.
func newServer(c *conn, list []*tools.Tool, opt Options) *sdk.Server {
	srv := sdk.NewServer(
		&sdk.Implementation{Name: "forgeplan", Title: "Forgeplan", Version: opt.Version},
		&sdk.ServerOptions{
			Instructions: strings.TrimSpace(instructions),
			Logger:       opt.Log,
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		})
	for _, t := range list {
		srv.AddTool(&sdk.Tool{
			Name:        t.Name,
			Title:       t.Title,
			Description: strings.TrimSpace(t.Summary + " " + t.Doc),
			InputSchema: t.Schema(),
			Annotations: annotations(t),
		}, c.call)
	}
	return srv
}

// annotations are all set always: clients take an absent hint for the worst.
// No tool reaches beyond the workspace.
func annotations(t *tools.Tool) *sdk.ToolAnnotations {
	var (
		destructive = t.Effect == tools.Destroys
		openWorld   = false
	)
	return &sdk.ToolAnnotations{
		Title:           t.Title,
		ReadOnlyHint:    t.Effect == tools.Reads,
		IdempotentHint:  t.Effect == tools.Reads || t.Effect == tools.Starts, // a client may repeat such calls by itself
		DestructiveHint: &destructive,
		OpenWorldHint:   &openWorld,
	}
}

// call hands a request to the registry when its turn has come. What comes back
// as an error was not recorded yet; Write does it.
func (c *conn) call(ctx context.Context, req *sdk.CallToolRequest) (_ *sdk.CallToolResult, err error) {
	k := c.lookup(req.Extra.Header.Get(callHeader))
	if k == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error: the request was lost"}
	}
	defer context.AfterFunc(ctx, func() { k.cancel(context.Cause(ctx)) })()
	k.ticket.wait(k.ctx)

	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic in a call", "tool", k.tool, "panic", p, "stack", string(debug.Stack()))
			k.recorded = false
			err = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error in " + k.tool}
		}
	}()
	k.recorded = true
	reply := c.reg.Call(k.ctx, k.caller, k.tool, k.args)
	if !json.Valid(reply.Body) {
		c.log.Error("a tool's answer is not JSON", "tool", k.tool)
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error in " + k.tool}
	}
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.TextContent{Text: string(reply.Body)}},
		StructuredContent: json.RawMessage(reply.Body),
		IsError:           reply.Failure != nil,
	}, nil
}
