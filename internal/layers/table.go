// Package layers says who may import whom, as a table, and checks a tree of
// sources against it. Only its test runs it.
package layers

// module is the path that imports of our own folders begin with.
const module = "forgeplan"

// Folder is one row: what a folder is for, and what it may import.
//
// A path that ends in "/..." stands for all folders below it. Whoever may
// import a library may import every package of it.
type Folder struct {
	Path  string
	Job   string
	Ours  []string // folders of ours
	Libs  []string // modules of others
	Tests []string // what its tests may import besides; "..." is any folder of ours
	Pure  bool     // asks no file, network, process or flag: see impure
}

// Modules of others, by the names the rows use.
const (
	bbolt       = "go.etcd.io/bbolt"
	cobra       = "github.com/spf13/cobra"
	goldmark    = "github.com/yuin/goldmark"
	jsonschema  = "github.com/google/jsonschema-go"
	levenshtein = "github.com/agnivade/levenshtein"
	msgpack     = "github.com/vmihailenco/msgpack/v5"
	pflag       = "github.com/spf13/pflag"
	pretty      = "github.com/jedib0t/go-pretty/v6"
	rapid       = "pgregory.net/rapid"
	sdk         = "github.com/modelcontextprotocol/go-sdk"
	slug        = "github.com/gosimple/slug"
	sys         = "golang.org/x/sys"
	term        = "golang.org/x/term"
	testscript  = "github.com/rogpeppe/go-internal"
	udiff       = "github.com/aymanbagabas/go-udiff"
	ulid        = "github.com/oklog/ulid/v2"
	yaml        = "go.yaml.in/yaml/v3"
)

// Folders is the table, from the bottom up. A folder that is not in it may not
// exist.
var Folders = []Folder{
	{Path: "internal/fault", Job: "named points where a test stops or fails the program"},
	{Path: "internal/filelock", Job: "the kernel lock between processes", Libs: []string{sys}},
	{Path: "internal/atomicfile", Job: "whole files, old or new after a crash", Ours: []string{"internal/fault"}, Libs: []string{sys}},

	{Path: "journal", Job: "durable order of opaque records", Ours: []string{"internal/fault"}, Libs: []string{bbolt, msgpack, ulid, sys}},
	{Path: "internal/event", Job: "names and bytes of facts", Libs: []string{msgpack, ulid}, Pure: true},
	{Path: "internal/event/eventtest", Job: "golden files of events, for tests", Ours: []string{"internal/event"}},
	{Path: "internal/artifact", Job: "what is allowed, and what follows", Ours: []string{"internal/event"}, Libs: []string{ulid}, Pure: true},
	{Path: "projection", Job: "pure folds and their tables", Ours: []string{"internal/event", "internal/artifact"}, Libs: []string{msgpack, ulid}, Pure: true},
	{Path: "receipts", Job: "what may be reversed, and by which events", Ours: []string{"internal/event", "internal/artifact", "projection"}, Libs: []string{msgpack, ulid}, Pure: true},
	{
		Path: "internal/analysis/...", Job: "answers about a set of artifacts", Ours: []string{"internal/artifact", "internal/analysis/..."}, Libs: []string{goldmark, ulid}, Pure: true,
		Tests: []string{"internal/event"},
	},
	{Path: "internal/render", Job: "bytes for people", Ours: []string{"internal/event", "internal/artifact"}, Libs: []string{goldmark, pretty, slug, udiff, ulid, yaml}, Pure: true},

	{
		Path: "internal/workspace", Job: "one call, one transaction",
		Ours: []string{
			"internal/fault", "internal/filelock", "internal/atomicfile", "journal", "internal/event", "internal/artifact",
			"projection", "receipts", "internal/analysis/...", "internal/render",
		},
		Libs:  []string{msgpack, ulid, yaml, sys},
		Tests: []string{"..."},
	},
	{
		Path: "tools", Job: "use cases, one file a tool",
		Ours: []string{
			"internal/filelock", "internal/event", "internal/artifact", "projection", "receipts", "internal/analysis/...",
			"internal/render", "internal/workspace",
		},
		Libs:  []string{jsonschema, levenshtein, udiff, ulid},
		Tests: []string{"..."},
	},
	{Path: "mcp", Job: "protocol face: it moves JSON", Ours: []string{"tools"}, Libs: []string{sdk, jsonschema}, Tests: []string{"..."}},
	{Path: "mcp/tsclient", Job: "the built program against the official TypeScript client"},
	{
		Path: "cmd/forgeplan", Job: "command-line face",
		Ours:  []string{"tools", "mcp", "internal/workspace", "internal/render"},
		Libs:  []string{cobra, pflag, pretty, term, ulid},
		Tests: []string{"..."},
	},

	{Path: "docs", Job: "pages, and the test that holds them against the sources", Tests: []string{"..."}},
	{Path: "internal/testws", Job: "workspaces for tests, checked after each", Ours: []string{"..."}, Libs: []string{ulid}},
	{Path: "internal/demo", Job: "a story told with the real program", Libs: []string{sdk, term}, Tests: []string{"..."}},
	{Path: "internal/bench", Job: "measurements, and what they are held against", Ours: []string{"..."}, Libs: []string{bbolt, msgpack, ulid}},
	{Path: "internal/layers", Job: "this table and its test"},
}

// anyTest is what tests of every folder may import.
var anyTest = []string{"internal/fault", "internal/event/eventtest", "internal/testws", rapid, testscript, udiff, sdk, jsonschema, ulid}

// Debts are imports that stand against the table for now, as "folder → import":
// why, and what ends them. One that is no longer owed fails the test too.
var Debts = map[string]string{
	"tools → journal": "classes of error are told apart by the journal's own errors; workspace should hand these on",
}

// impure are the packages of the standard library that pure folders may not
// import, with all below them.
var impure = []string{"flag", "log", "net", "os", "path/filepath", "runtime/debug", "syscall", "testing"}

// Reserved is something of which only few folders may make use, tests aside.
type Reserved struct {
	What    string            // a package, or "package.Name" of one
	Folders map[string]string // folder: why
}

// clock, chance and others: who may use them.
var (
	clock = map[string]string{
		"internal/workspace": "the one place where tools and faces get the time",
		"internal/demo":      "limits its own run and measures it",
		"internal/bench":     "measures",
	}
	chance = map[string]string{
		"internal/workspace": "entropy of ULIDs",
		"internal/testws":    "entropy of test workspaces, from a fixed seed",
		"internal/bench":     "data of a fixed seed",
	}
	terminal = map[string]string{
		"cmd/forgeplan":  "a face",
		"internal/demo":  "a program of its own",
		"internal/bench": "a program of its own",
	}
	nobody = map[string]string{}
)

// Uses are the reserved things.
var Uses = []Reserved{
	{"time.Now", clock},
	{"time.Since", clock},
	{"time.Until", clock},
	{ulid + ".Now", clock},
	{ulid + ".Make", nobody}, // clock and chance of its own
	{ulid + ".MustNewDefault", nobody},
	{ulid + ".DefaultEntropy", nobody},
	{"crypto/rand", chance},
	{"math/rand", chance},
	{"math/rand/v2", chance},

	{"os.Stdin", terminal},
	{"os.Stdout", terminal},
	{"os.Stderr", terminal},
	{"flag", map[string]string{
		"internal/demo":            "a program of its own",
		"internal/bench":           "a program of its own",
		"internal/event/eventtest": "the -update flag of golden tests",
	}},
	{"log", nobody},
	{"os/exec", map[string]string{
		"cmd/forgeplan": "starts the person's editor, without the lock",
		"internal/demo": "starts the program it shows",
	}},
	{"net", map[string]string{}},
	{"net/http", map[string]string{"mcp": "the header type of the SDK's requests; no connection is made"}},
	{"unsafe", nobody},
	{"C", nobody}, // the program is static
	{"plugin", nobody},
}
