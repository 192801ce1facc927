package journal

// arena hands out copies cut from larger pieces. bbolt keeps a stored value by
// reference until the commit, and a scanned row must outlive its page: both need
// memory of their own, and a piece for many is cheaper than one each. A piece
// lives as long as any copy cut from it.
type arena struct{ free []byte }

const (
	arenaPiece = 16 << 10 // bytes
	arenaLarge = 2 << 10  // copies from here on get their own memory
)

// clone returns a copy of b, never nil.
func (a *arena) clone(b []byte) []byte {
	n := len(b)
	if n >= arenaLarge {
		return append(make([]byte, 0, n), b...)
	}
	if len(a.free) < n || a.free == nil {
		a.free = make([]byte, arenaPiece)
	}
	c := a.free[:n:n]
	a.free = a.free[n:]
	copy(c, b)
	return c
}
