package mcp

import (
	"bufio"
	"bytes"
	"io"
)

// maxFrame is the longest line, in bytes without its end, that is read as a message.
const maxFrame = 16 << 20

// A line is one frame as it came: its bytes without blanks around them, or,
// when it was longer than maxFrame, only what an answer to it needs.
type line struct {
	data []byte
	long *peek
}

var bom = []byte("\xef\xbb\xbf")

// readLines hands each line of r that is not blank to send, also a last one
// without its end, until send says false or r ends (nil) or breaks. A byte
// order mark before the first line is skipped. Memory stays bounded however
// long a line is.
func readLines(r io.Reader, send func(line) bool) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var (
		buf   []byte
		long  *peek
		first = true
	)
	for {
		part, err := br.ReadSlice('\n')
		if first && len(part) > 0 {
			part, first = bytes.TrimPrefix(part, bom), false
		}
		text := part
		if err == nil {
			text = bytes.TrimRight(part, "\r\n")
		}
		if long == nil && len(buf)+len(text) > maxFrame {
			long = &peek{}
			long.feed(buf)
			buf = nil
		}
		if long != nil {
			long.feed(text)
		} else {
			buf = append(buf, text...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		ln := line{data: bytes.Trim(buf, " \t\r\n"), long: long}
		if (long != nil || len(ln.data) > 0) && !send(ln) {
			return nil
		}
		buf, long = nil, nil
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
