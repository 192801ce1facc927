package event

import (
	"bytes"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// Marshal writes a payload struct as a msgpack map, integers in their shortest
// form. Every field needs a tag msgpack:"name,omitempty".
func Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := msgpack.GetEncoder()
	defer msgpack.PutEncoder(enc)
	enc.Reset(&buf)
	enc.UseCompactInts(true)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// Unmarshal reads one msgpack map into a payload struct. Fields that T does not
// have are skipped. Anything else than one whole map, such as bytes after it,
// is ErrFormat. The value aliases nothing of data.
func Unmarshal[T any](data []byte) (T, error) {
	var v T
	if err := checkShape(data); err != nil {
		return v, err
	}
	if err := msgpack.Unmarshal(data, &v); err != nil {
		var zero T
		return zero, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return v, nil
}
