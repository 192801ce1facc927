// Command forgeplan is the command-line face: flags in, text or JSON out. What
// the commands do is in package tools.
package main

import (
	"os"
)

func main() { os.Exit(run(system(os.Args[1:]))) }
