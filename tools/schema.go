package tools

import (
	"bytes"
	"encoding/json"
)

// property is one parameter in JSON schema, in the order the keys are written.
type property struct {
	Type        string    `json:"type"`
	Description string    `json:"description,omitempty"`
	Enum        []string  `json:"enum,omitempty"`
	Default     any       `json:"default,omitempty"`
	Minimum     *float64  `json:"minimum,omitempty"`
	Above       *float64  `json:"exclusiveMinimum,omitempty"`
	Maximum     *float64  `json:"maximum,omitempty"`
	MaxLength   int       `json:"maxLength,omitempty"`
	Items       *property `json:"items,omitempty"`
}

// Schema is the JSON schema of the tool's arguments, compact, parameters in their order: the same bytes at every call. Parameters of the
// command line alone are not in it.
func (t *Tool) Schema() json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	var required []string
	n := 0
	for i := range t.Params {
		p := &t.Params[i]
		if p.CLIOnly {
			continue
		}
		if n++; n > 1 {
			b.WriteByte(',')
		}
		b.Write(compact(p.Name))
		b.WriteByte(':')
		b.Write(compact(p.property()))
		if p.Required {
			required = append(required, p.Name)
		}
	}
	b.WriteByte('}')
	if required != nil {
		b.WriteString(`,"required":`)
		b.Write(compact(required))
	}
	b.WriteString(`,"additionalProperties":false}`)
	return b.Bytes()
}

func (p *Param) property() property {
	s := property{Description: p.Doc, Default: p.Default, Minimum: p.Min, Above: p.Above, Maximum: p.Max, MaxLength: p.MaxLen}
	if !p.Commas { // several words in one string fit no enum; the description names them
		s.Enum = p.Enum
	}
	switch p.Type {
	case Int:
		s.Type = "integer"
	case Number:
		s.Type = "number"
	case Bool:
		s.Type = "boolean"
	case Strings:
		s.Type = "array"
		s.Items = &property{Type: "string", Enum: p.Enum}
		s.Enum = nil
	default:
		s.Type = "string"
	}
	return s
}
