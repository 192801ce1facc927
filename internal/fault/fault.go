// Package fault names the points at which a test may stop or fail the program.
//
// In the shipped program both hooks are nil and a point costs one comparison.
package fault

// Hook is called at every point when it is not nil. Only test binaries set it,
// before they start anything that could reach a point.
var Hook func(name string)

// ErrHook may answer a point with an error when it is not nil. Only test
// binaries set it.
var ErrHook func(name string) error

// Point marks the place called name, such as "journal.before-commit".
func Point(name string) {
	if Hook != nil {
		Hook(name)
	}
}

// Err marks the place called name and returns the error a test wants there,
// otherwise nil.
func Err(name string) error {
	if ErrHook != nil {
		return ErrHook(name)
	}
	return nil
}
