package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"runtime/debug"
)

// guard runs one access to bbolt and turns its panic into a *DamageError. bbolt
// panics where a page is not what its parent says, indexes wildly where a page
// holds garbage, and faults where a page lies beyond the end of the file.
//
// The last needs debug.SetPanicOnFault on the goroutine, see onFault.
func guard(file string, access func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &DamageError{File: file, What: fmt.Sprintf("a page is damaged: %.200v", p)}
		}
	}()
	access()
	return nil
}

// onFault makes memory faults of this goroutine panics until the returned
// function is called.
func onFault() (restore func()) {
	was := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(was) }
}

// isFault reports whether a recovered value is a fault on a mapped page rather
// than a mistake of the program (a nil pointer has no address here).
func isFault(p any) bool {
	_, ok := p.(interface {
		error
		Addr() uintptr
	})
	return ok
}

// meta is what the two copies of bbolt's first page hold.
type meta struct {
	pageSize              int64
	root, freelist, pages uint64 // page numbers; pages is one above the highest in use
	tx                    uint64 // number of the transaction that wrote it
}

const (
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	metaFlag    = 0x04
	metaOffset  = 16 // behind the page header
	metaSize    = 64
)

// readMeta reads the meta page number index at off. flaw says what is wrong with
// it, "" when nothing is; err is the system's. The layout is bbolt's, in the
// machine's byte order.
func readMeta(r io.ReaderAt, off int64, index uint64) (m meta, flaw string, err error) {
	var page [metaOffset + metaSize]byte
	if _, err := r.ReadAt(page[:], off); errors.Is(err, io.EOF) {
		return meta{}, "is cut off", nil
	} else if err != nil {
		return meta{}, "", err
	}
	ne, b := binary.NativeEndian, page[metaOffset:]
	sum := fnv.New64a()
	sum.Write(b[:metaSize-8])
	m = meta{
		pageSize: int64(ne.Uint32(b[8:])),
		root:     ne.Uint64(b[16:]),
		freelist: ne.Uint64(b[32:]),
		pages:    ne.Uint64(b[40:]),
		tx:       ne.Uint64(b[48:]),
	}
	switch {
	case ne.Uint32(b) != metaMagic:
		flaw = "is overwritten"
	case ne.Uint32(b[4:]) != metaVersion:
		flaw = "has an unknown version"
	case ne.Uint64(b[metaSize-8:]) != sum.Sum64():
		flaw = "fails its checksum"
	case ne.Uint64(page[:]) != index || ne.Uint16(page[8:]) != metaFlag || m.tx%2 != index:
		flaw = "is out of place"
	case m.pageSize < 1<<10 || m.pageSize > 1<<24 || m.pageSize&(m.pageSize-1) != 0:
		flaw = "has an impossible page size"
	case m.root >= m.pages || m.freelist >= m.pages:
		// Also catches "no freelist stored", a mode this package never uses and
		// in which bbolt scans the file on a goroutine that nobody can guard.
		flaw = "points beyond the pages in use"
	}
	return m, flaw, nil
}

// checkFile says what makes a file of that size unfit to be opened, "" when
// nothing does; err is the system's. bbolt goes on with the older meta page when
// one is bad, which would show an older state as if it were the newest; we do not.
func checkFile(r io.ReaderAt, size int64) (flaw string, err error) {
	m0, flaw0, err := readMeta(r, 0, 0)
	if err != nil {
		return "", err
	}
	second := int64(pageSize)
	if flaw0 == "" {
		second = m0.pageSize
	}
	m1, flaw1, err := readMeta(r, second, 1)
	if err != nil {
		return "", err
	}
	switch {
	case flaw0 != "" && flaw1 != "":
		return "not a journal, or its beginning is overwritten: meta page 0 " + flaw0 + ", meta page 1 " + flaw1, nil
	case flaw0 != "":
		return "meta page 0 " + flaw0 + ", so the newest state cannot be told", nil
	case flaw1 != "":
		return "meta page 1 " + flaw1 + ", so the newest state cannot be told", nil
	case m0.pageSize != m1.pageSize:
		return "the meta pages disagree on the page size", nil
	}
	newest := m0
	if m1.tx > m0.tx {
		newest = m1
	}
	if have := uint64(size / newest.pageSize); have < newest.pages {
		return fmt.Sprintf("the file is cut short: %d of %d pages are there", have, newest.pages), nil
	}
	return "", nil
}
