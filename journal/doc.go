// Package journal keeps opaque records in a durable order: it knows no
// artifact, tool or view.
//
// A journal is one bbolt file. Records stand in two lanes, changes and calls,
// keyed by ULID; to a reader they are one journal merged by key. Each lane is a
// hash chain over its stored bytes. Beside the lanes lie bodies, kept results, a
// few meta values and the tables of projections, all written in the transaction
// of the records they belong to. docs/format.md is normative for the bytes.
//
// The caller serialises processes by a lock of its own and opens the file for
// one operation at a time. bbolt panics or faults on damaged pages; every access
// here is guarded, and damage comes out as a *DamageError. After one, close the
// handle: the file can be opened again by the same process.
package journal
