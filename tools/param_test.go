package tools

import (
	"reflect"
	"slices"
	"testing"
)

func paramNames(params []Param) []string {
	var out []string
	for _, p := range params {
		out = append(out, p.Name)
	}
	return out
}

func TestParamsOf(t *testing.T) {
	one, most := 1.0, 1000.0
	type filter struct {
		Kind string `json:"kind" enum:"prd,problem|problemcard" short:"k" flag:"type,t" doc:"Kind."`
	}
	type in struct {
		ID string `json:"id" required:"true" pos:"1"`
		filter
		Limit  *int64 `json:"limit,omitempty" min:"1" max:"1000"`
		Key    string `json:"key" max:"200" text:"keep"`
		Tools  string `json:"tools" list:"commas"`
		Yes    bool   `json:"yes" face:"cli" short:"y"`
		Out    string // no tag: no parameter
		Hidden string `json:"-"`
	}
	got := ParamsOf(&in{})
	for i := range got {
		got[i].spellings = nil
	}
	want := []Param{
		{Name: "id", Type: String, Required: true, Positional: 1},
		{Name: "kind", Type: String, Doc: "Kind.", Enum: []string{"prd", "problem"}, Short: "k", Aliases: []string{"type", "t"}},
		{Name: "limit", Type: Int, Min: &one, Max: &most},
		{Name: "key", Type: String, MaxLen: 200, Keep: true},
		{Name: "tools", Type: String, Commas: true},
		{Name: "yes", Type: Bool, CLIOnly: true, Short: "y"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if p := (Param{Name: "since_hours"}); p.Flag() != "since-hours" {
		t.Errorf("flag %s", p.Flag())
	}
	if got := ParamsOf(nil); got != nil {
		t.Errorf("nil has parameters %v", got)
	}
}

func TestParamsOfPanics(t *testing.T) {
	for _, in := range []any{
		struct {
			A map[string]string `json:"a"`
		}{},
		struct {
			A int `json:"a" default:"x"`
		}{},
		struct {
			A int `json:"a" default:"0" min:"1"`
		}{},
		struct {
			A int `json:"a" min:"few"`
		}{},
		struct {
			A string `json:"a" enum:"x,y" default:"z"`
		}{},
		struct {
			A string `json:"a" pos:"0"`
		}{},
		struct {
			A []string `json:"a" list:"commas"`
		}{},
		struct {
			A bool `json:"a" max:"1"`
		}{},
		struct {
			A int `json:"a" max:"10" default:"11"`
		}{},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T accepted", in)
				}
			}()
			ParamsOf(in)
		}()
	}
}

func TestCommonParams(t *testing.T) {
	tests := []struct {
		effect Effect
		names  bool
		want   []string
	}{
		{Reads, true, nil},
		{Adds, false, []string{"dry_run", "idempotency_key"}},
		{Edits, true, []string{"dry_run", "idempotency_key", "if_version"}},
		{Destroys, true, []string{"dry_run", "idempotency_key", "if_version"}},
		{Starts, false, []string{"dry_run", "idempotency_key"}},
	}
	for _, tt := range tests {
		if got := paramNames(commonParams(tt.effect, tt.names)); !slices.Equal(got, tt.want) {
			t.Errorf("%s, %v: got %v, want %v", tt.effect, tt.names, got, tt.want)
		}
		if got := (&Tool{Effect: tt.effect}).Mutates(); got != (tt.want != nil) {
			t.Errorf("%s: mutates %v", tt.effect, got)
		}
	}
}
