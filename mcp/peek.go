package mcp

import (
	"bytes"
	"encoding/json"
)

// peek watches a frame go by that is too long to keep and remembers what an
// answer to it needs: its id and method, and the name inside its params. Client
// programs write the id last as often as first, so all of the frame is watched.
// It does not check that the frame is valid JSON.
type peek struct {
	depth    int
	inString bool
	escaped  bool
	token    []byte    // last string or number at depths 1 and 2, as written
	cut      bool      // token was longer than maxToken
	key      [3]string // current key at depths 1 and 2, as written

	id, method, name json.RawMessage
}

// maxToken is the longest id, method or name, in bytes, that is remembered.
const maxToken = 256

func (p *peek) feed(data []byte) {
	for i := 0; i < len(data); i++ {
		if p.inString && !p.escaped && (p.cut || !p.shallow()) { // long texts go by fast
			n := bytes.IndexAny(data[i:], `"\\`)
			if n < 0 {
				return
			}
			i += n
		}
		b := data[i]
		if p.inString {
			p.keep(b)
			switch {
			case p.escaped:
				p.escaped = false
			case b == '\\':
				p.escaped = true
			case b == '"':
				p.inString = false
			}
			continue
		}
		switch b {
		case '"':
			p.drop()
			p.keep(b)
			p.inString = true
		case ':':
			if p.shallow() {
				p.key[p.depth] = string(p.token)
			}
			p.drop()
		case ',', '}', ']':
			p.value()
			p.drop()
			if p.shallow() {
				p.key[p.depth] = ""
			}
			if b != ',' && p.depth > 0 {
				p.depth--
			}
		case '{', '[':
			p.drop()
			p.depth++
			if p.shallow() {
				p.key[p.depth] = ""
			}
		case ' ', '\t', '\r', '\n':
		default:
			p.keep(b)
		}
	}
}

// value files a finished value under its key.
func (p *peek) value() {
	if !p.shallow() || p.cut || len(p.token) == 0 {
		return
	}
	v := json.RawMessage(append([]byte(nil), p.token...))
	switch {
	case p.depth == 1 && p.key[1] == `"id"`:
		p.id = v
	case p.depth == 1 && p.key[1] == `"method"`:
		p.method = v
	case p.depth == 2 && p.key[1] == `"params"` && p.key[2] == `"name"`:
		p.name = v
	}
}

func (p *peek) shallow() bool { return p.depth == 1 || p.depth == 2 }

func (p *peek) keep(b byte) {
	if !p.shallow() || p.cut {
		return
	}
	if len(p.token) == maxToken {
		p.drop()
		p.cut = true
		return
	}
	p.token = append(p.token, b)
}

func (p *peek) drop() { p.token, p.cut = p.token[:0], false }
