package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// allowance is a line of the list: tests whose name begins so may be skipped.
type allowance struct{ prefix, why string }

// parseAllowed reads lines "folder.TestName reason", and comments with #.
func parseAllowed(in io.Reader) (list []allowance, err error) {
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		prefix, why, _ := strings.Cut(line, " ")
		why = strings.TrimSpace(why)
		if !strings.Contains(prefix, ".Test") || why == "" {
			return nil, fmt.Errorf("line %d: want folder.TestName and a reason, got %q", n, line)
		}
		list = append(list, allowance{prefix, why})
	}
	return list, lines.Err()
}

func allows(list []allowance, test string) (why string, ok bool) {
	for _, a := range list {
		if strings.HasPrefix(test, a.prefix) {
			return a.why, true
		}
	}
	return "", false
}
