package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"forgeplan/tools"
)

// maxBody bounds what is read of a body, in bytes; the registry says how much
// of that is allowed.
const maxBody = 64 << 20

// readBody reads a body from a file or stdin ("-"). An empty one is a mistake,
// never an order to erase.
func (p *program) readBody(name string) (string, error) {
	in := p.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", unreadable(err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxBody+1))
	switch {
	case err != nil:
		return "", unreadable(err)
	case len(data) == 0:
		return "", tools.Fail(tools.ClassInvalidInput, "the body is empty; nothing was changed", tools.Say("Leave --file out to keep the text as it is."))
	case len(data) > maxBody:
		return "", tools.Fail(tools.ClassInvalidInput, fmt.Sprintf("the body has more than %d MiB; nothing was changed", maxBody>>20),
			tools.Say("Split the text into several artifacts and link them."))
	}
	return string(data), nil
}

func unreadable(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err // the person knows the name; a log needs no path of this machine
	}
	return tools.Fail(tools.ClassInvalidInput, fmt.Sprintf("cannot read the body: %v; nothing was changed", err),
		tools.Say("Give --file a file, or - for stdin."))
}
