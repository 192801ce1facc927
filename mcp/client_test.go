package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"forgeplan/tools"
)

// connect starts a server and the library's client of one revision.
func connect(t *testing.T, reg Registry, revision string) *sdk.ClientSession {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Serve(t.Context(), reg, Options{In: toServer, Out: fromServer, Version: "0.0.1"})
		fromServer.Close()
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "9"}, nil)
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient},
		&sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return session
}

func TestClient(t *testing.T) {
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			reg := &fakeRegistry{}
			cs := connect(t, reg, revision)
			ctx := t.Context()
			if got := cs.InitializeResult(); got.ProtocolVersion != revision || got.ServerInfo.Name != "forgeplan" || got.Instructions == "" {
				t.Errorf("initialize: %+v", got)
			}

			list, err := cs.ListTools(ctx, nil)
			if err != nil || len(list.Tools) != len(served) {
				t.Fatalf("list: %v, %v", list, err)
			}
			for _, tool := range list.Tools {
				if tool.OutputSchema != nil || tool.Description == "" || tool.Title == "" {
					t.Errorf("%s: %+v", tool.Name, tool)
				}
			}

			res, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "forgeplan_get", Arguments: json.RawMessage(`{"id":"<PRD-001> & \u2028"}`)})
			if err != nil || res.IsError {
				t.Fatalf("call: %+v, %v", res, err)
			}
			same(t, res)

			reg.handle = func(context.Context, string, json.RawMessage) tools.Reply { return failed("not_found", "no PRD-404") }
			res, err = cs.CallTool(ctx, &sdk.CallToolParams{Name: "forgeplan_get", Arguments: map[string]any{"id": "PRD-404"}})
			if err != nil || !res.IsError {
				t.Fatalf("failure: %+v, %v", res, err)
			}
			same(t, res)

			_, err = cs.CallTool(ctx, &sdk.CallToolParams{Name: "forgeplan_nope"})
			var wire *jsonrpc.Error
			if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams || !strings.Contains(wire.Message, "forgeplan_nope") {
				t.Errorf("unknown tool: %v", err)
			}

			started := make(chan struct{})
			reg.handle = func(ctx context.Context, _ string, _ json.RawMessage) tools.Reply {
				close(started)
				<-ctx.Done()
				return failed("canceled", "canceled")
			}
			short, cancel := context.WithCancel(ctx)
			go func() { <-started; cancel() }()
			if _, err := cs.CallTool(short, &sdk.CallToolParams{Name: "forgeplan_new"}); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled call: %v", err)
			}
			reg.handle = nil // no race: the next call is a mutation and starts after the cancelled one ended
			if res, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "forgeplan_new"}); err != nil || res.IsError {
				t.Errorf("a call after the cancelled one: %+v, %v", res, err)
			}
			equal(t, "records", reg.recorded(), []string{"ok forgeplan_get", "tool_err not_found forgeplan_get", "rpc_err protocol forgeplan_nope",
				"tool_err canceled forgeplan_new", "ok forgeplan_new"})
			for _, r := range reg.records {
				if r.caller.Client != "c/9" {
					t.Errorf("client %q", r.caller.Client)
				}
			}
		})
	}
}

// same checks that the text block and the structured content are one object.
func same(t *testing.T, res *sdk.CallToolResult) {
	t.Helper()
	if len(res.Content) != 1 {
		t.Fatalf("%d blocks", len(res.Content))
	}
	var text any
	if err := json.Unmarshal([]byte(res.Content[0].(*sdk.TextContent).Text), &text); err != nil {
		t.Fatal(err)
	}
	if _, object := res.StructuredContent.(map[string]any); !object || !reflect.DeepEqual(text, res.StructuredContent) {
		t.Errorf("text %v\nstructured %v", text, res.StructuredContent)
	}
}

func TestAnnotations(t *testing.T) {
	cs := connect(t, &fakeRegistry{}, "2025-11-25")
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	// read only, destructive, idempotent, open world
	want := map[string]string{
		"forgeplan_get":      "true false true false",
		"forgeplan_activity": "true false true false",
		"forgeplan_new":      "false false false false",
		"forgeplan_update":   "false false false false",
		"forgeplan_delete":   "false true false false",
		"forgeplan_init":     "false false true false",
	}
	for _, tool := range list.Tools {
		a := tool.Annotations
		if a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil {
			t.Errorf("%s: a hint is missing: %+v", tool.Name, a)
			continue
		}
		got := fmt.Sprint(a.ReadOnlyHint, *a.DestructiveHint, a.IdempotentHint, *a.OpenWorldHint)
		if got != want[tool.Name] {
			t.Errorf("%s: got %s, want %s", tool.Name, got, want[tool.Name])
		}
		if a.Title != tool.Title {
			t.Errorf("%s: title %q", tool.Name, a.Title)
		}
	}
	for _, tool := range list.Tools {
		if tool.Name == "forgeplan_get" {
			schema := tool.InputSchema.(map[string]any)
			if tool.Description != "Reads one. Whole." || schema["additionalProperties"] != false || schema["properties"].(map[string]any)["id"] == nil {
				t.Errorf("got %q %v", tool.Description, schema)
			}
		}
	}
}
