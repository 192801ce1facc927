//go:build !linux && !darwin

package atomicfile

import (
	"errors"
	"os"
)

// exchange cannot be had here: errors.ErrUnsupported.
func exchange(*os.Root, string, string) error { return errors.ErrUnsupported }
