package tools

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

func TestSchema(t *testing.T) {
	tests := []struct {
		tool *Tool
		want string
	}{
		{sampleActivity, `{"type":"object","properties":{` +
			`"since_hours":{"type":"number","description":"Window in hours back from now.","default":24,"exclusiveMinimum":0,"maximum":720},` +
			`"tool":{"type":"string","description":"Comma-separated tool names."},` +
			`"status":{"type":"string","enum":["ok","tool_err","rpc_err"]},` +
			`"limit":{"type":"integer","default":500,"minimum":1,"maximum":5000}},"additionalProperties":false}`},
		{sampleNew, `{"type":"object","properties":{` +
			`"kind":{"type":"string","enum":["prd","note"]},"title":{"type":"string"},"body":{"type":"string"},` +
			`"tags":{"type":"array","items":{"type":"string"}},` +
			`"dry_run":{"type":"boolean","description":"Show what would happen and change nothing."},` +
			`"idempotency_key":{"type":"string","description":"A retry with the same key and arguments gets the first answer instead of a second effect.","maxLength":200}},` +
			`"required":["kind","title"],"additionalProperties":false}`},
		{&Tool{}, `{"type":"object","properties":{},"additionalProperties":false}`},
	}
	for _, tt := range tests {
		if got := string(tt.tool.Schema()); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.tool.Name, got, tt.want)
		}
	}
}

// Each schema is one that a client can use, with defaults that fit it.
func TestSchemaIsValid(t *testing.T) {
	for _, tool := range sampleTools {
		var s jsonschema.Schema
		if err := json.Unmarshal(tool.Schema(), &s); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		if _, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true}); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
}
