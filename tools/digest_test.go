package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
)

func TestDigestVectors(t *testing.T) {
	tests := []struct {
		tool      *Tool
		raw, want string
	}{
		{sampleActivity, `{}`, "44136fa355b3"},
		{sampleActivity, ``, "44136fa355b3"},
		{sampleActivity, `null`, "44136fa355b3"},
		{sampleActivity, `{"since_hours":1}`, "7831c6959623"},
		{sampleActivity, `{"since_hours":"1.0","limit":500,"tool":null,"status":""}`, "7831c6959623"},
		{sampleGet, `{"id":"PRD-042"}`, "aba13070415c"},
		{sampleDelete, `{"dry_run":true,"idempotency_key":"k1","id":"PRD-042"}`, "aba13070415c"},
	}
	for _, tt := range tests {
		got, f := tt.tool.Repair(json.RawMessage(tt.raw))
		if f != nil {
			t.Errorf("%s refused: %s", tt.raw, f.Msg)
		} else if d := hex.EncodeToString(got.Digest[:6]); d != tt.want {
			t.Errorf("%s: digest %s, want %s", tt.raw, d, tt.want)
		}
	}
}

// The digest is of JSON that anybody can write again: sorted keys, no blanks, no escapes for markup.
func TestDigestBytes(t *testing.T) {
	got, f := sampleNew.Repair(json.RawMessage(`{"title":"<a> & ж", "tags":"x, y", "kind":"NOTE"}`))
	if f != nil {
		t.Fatal(f)
	}
	if want := sha256.Sum256([]byte(`{"kind":"note","tags":["x","y"],"title":"<a> & ж"}`)); got.Digest != want {
		t.Errorf("got %x, want %x", got.Digest, want)
	}
}

func TestDigestOfUnrepairable(t *testing.T) {
	for _, raw := range []string{`{"since_hours": "24h"}`, `{"colour":"red"}`, `[]`, `{`} {
		got, f := sampleActivity.Repair(json.RawMessage(raw))
		if f == nil {
			t.Errorf("%s accepted", raw)
		} else if want := sha256.Sum256([]byte(raw)); got.Digest != want {
			t.Errorf("%s: digest %x, want that of the bytes", raw, got.Digest)
		}
	}
}

// Minus zero is zero in the digest too.
func TestDigestOfMinusZero(t *testing.T) {
	tool := &Tool{Params: ParamsOf(struct {
		N float64 `json:"n"`
	}{})}
	got, f := tool.Repair(json.RawMessage(`{"n":-0.0}`))
	if want := sha256.Sum256([]byte(`{"n":0}`)); f != nil || got.Digest != want {
		t.Errorf("got %x, %v", got.Digest, f)
	}
}
