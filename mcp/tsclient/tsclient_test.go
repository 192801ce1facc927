// Package tsclient drives the built program with the official TypeScript client
// of MCP, as most programs embed it. Nothing is installed into the tree.
package tsclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

const (
	installing = 2 * time.Minute
	session    = 30 * time.Second
	closing    = 2 * time.Second // the client ends the input and kills the server after this
)

// TestPins: the client is the one dependency, in one exact version, and the lock
// names no host: the registry is whatever npm is set to.
func TestPins(t *testing.T) {
	var pkg struct {
		Dependencies map[string]string
		Dev          map[string]string `json:"devDependencies"`
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	for name, into := range map[string]any{"package.json": &pkg, "package-lock.json": &lock} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if at := regexp.MustCompile(`"resolved"|\w+://[^"]*`).Find(data); at != nil {
			t.Errorf("%s names a host: %s", name, at)
		}
	}
	version := pkg.Dependencies[sdk]
	if len(pkg.Dependencies) != 1 || len(pkg.Dev) != 0 || !regexp.MustCompile(`^1\.\d+\.\d+$`).MatchString(version) {
		t.Errorf("dependencies %v and %v, want %s alone in an exact version", pkg.Dependencies, pkg.Dev, sdk)
	}
	if got := lock.Packages["node_modules/"+sdk].Version; got != version {
		t.Errorf("the lock has %s of the client, package.json %s", got, version)
	}
	for name, p := range lock.Packages {
		if name != "" && p.Integrity == "" {
			t.Errorf("%s is locked without a hash", name)
		}
	}
	if _, err := os.Stat("node_modules"); err == nil {
		t.Error("node_modules stands in the tree")
	}
}

const sdk = "@modelcontextprotocol/sdk"

// step is one call of the session and what must come back.
type step struct {
	Tool  string         `json:"tool"`
	Args  map[string]any `json:"args"`
	check func(t *testing.T, a answer)
}

// answer is a line of the client.
type answer struct {
	Result *struct {
		Content    []struct{ Type, Text string }
		Structured map[string]any `json:"structuredContent"`
		IsError    bool
	}
	Error *struct {
		Code    int
		Message string
	}
}

// ok: the call was done, and these keys of its answer have these values.
func ok(want map[string]any) func(*testing.T, answer) {
	return func(t *testing.T, a answer) {
		if a.Result == nil || a.Result.IsError {
			t.Fatalf("refused")
		}
		has(t, a, want)
	}
}

// refused: the model reads why; nothing is thrown.
func refused(class string, words ...string) func(*testing.T, answer) {
	return func(t *testing.T, a answer) {
		if a.Result == nil || !a.Result.IsError {
			t.Fatalf("want a result with isError")
		}
		has(t, a, map[string]any{"ok": false, "error_class": class})
		text, _ := a.Result.Structured["error"].(string)
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("error %q does not say %q", text, w)
			}
		}
	}
}

// thrown: the request never reached a tool.
func thrown(code int) func(*testing.T, answer) {
	return func(t *testing.T, a answer) {
		if a.Error == nil || a.Error.Code != code {
			t.Fatalf("want it thrown out with code %d", code)
		}
	}
}

func has(t *testing.T, a answer, want map[string]any) {
	t.Helper()
	for key, v := range want {
		if got := a.Result.Structured[key]; !reflect.DeepEqual(got, v) {
			t.Errorf("%s is %v, want %v", key, got, v)
		}
	}
}

// told checks the entries of an activity answer: "tool status" in order.
func told(want ...string) func(*testing.T, answer) {
	return func(t *testing.T, a answer) {
		ok(nil)(t, a)
		var got []string
		entries, _ := a.Result.Structured["entries"].([]any)
		for _, e := range entries {
			e, _ := e.(map[string]any)
			got = append(got, fmt.Sprint(e["tool"], " ", e["status"]))
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("entries\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

var steps = []step{
	{"forgeplan_init", nil, ok(map[string]any{"changed": true})},
	{"forgeplan_new", map[string]any{"kind": "prd", "title": "Sign in without a password"}, ok(map[string]any{"id": "PRD-001", "changed": true})},
	{"forgeplan_new", map[string]any{"kind": "rfc", "title": "Passkeys: «WebAuthn» & <friends> 🔑"}, ok(map[string]any{"id": "RFC-001"})},
	{"forgeplan_new", map[string]any{"kind": "adr", "title": "Keep no password hashes", "body": "# Why\n\nThey leak.\n"}, ok(map[string]any{"id": "ADR-001"})},
	{"forgeplan_link", map[string]any{"source": "RFC-001", "target": "PRD-001", "relation": "refines"}, ok(map[string]any{"changed": true})},
	{"forgeplan_link", map[string]any{"source": "ADR-001", "target": "RFC-001", "relation": "based_on"}, ok(map[string]any{"changed": true})},
	{"forgeplan_list", map[string]any{"kind": "RFC", "limit": "5"}, ok(map[string]any{"count": 1.0, "returned": 1.0, "warnings": []any{}})},
	{"forgeplan_get", map[string]any{"id": "adr-1"}, ok(map[string]any{"id": "ADR-001", "body": "# Why\n\nThey leak.\n"})},
	{"forgeplan_get", map[string]any{"id": "rfc-001"}, ok(map[string]any{"title": "Passkeys: «WebAuthn» & <friends> 🔑"})},
	{"forgeplan_erase_everything", nil, thrown(-32602)},
	{"forgeplan_list", map[string]any{"type": "prd", "colour": "red"}, refused("invalid_input", "`colour`")},
	{"forgeplan_list", map[string]any{"limit": "many"}, refused("invalid_input", "`limit`")},
	{"forgeplan_get", map[string]any{"id": "PRD-099"}, refused("not_found", "PRD-099")},
	{"forgeplan_activity", map[string]any{"since_hours": "24", "limit": 3.0}, told(
		"forgeplan_list tool_err", "forgeplan_list tool_err", "forgeplan_get tool_err")},
	{"forgeplan_activity", map[string]any{"since_hours": "1"}, told(
		"forgeplan_init ok", "forgeplan_new ok", "forgeplan_new ok", "forgeplan_new ok", "forgeplan_link ok", "forgeplan_link ok",
		"forgeplan_list ok", "forgeplan_get ok", "forgeplan_get ok", "forgeplan_erase_everything rpc_err",
		"forgeplan_list tool_err", "forgeplan_list tool_err", "forgeplan_get tool_err", "forgeplan_activity ok")},
}

func TestSession(t *testing.T) {
	if testing.Short() {
		t.Skip("installs an npm package")
	}
	client := install(t)
	project := t.TempDir()
	bin := filepath.Join(t.TempDir(), "forgeplan")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	build := exec.Command("go", "build", "-o", bin, "forgeplan/cmd/forgeplan")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}

	in, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), session)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "client.mjs", bin, "serve")
	cmd.Dir = client
	cmd.Stdin = bytes.NewReader(in)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "FORGEPLAN_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "FORGEPLAN_WORKSPACE="+project)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("client: %v\n%s%s", err, out, stderr.Bytes())
	}
	if stderr.Len() > 0 {
		t.Errorf("the server or the client complains:\n%s", stderr.Bytes())
	}
	lines := json.NewDecoder(bytes.NewReader(out))

	var hello struct {
		Server struct{ Name, Version string }
		Tools  []struct {
			Name, Description string
			InputSchema       map[string]any
		}
		Instructions string
		Capabilities map[string]any
	}
	if err := lines.Decode(&hello); err != nil {
		t.Fatal(err)
	}
	if hello.Server.Name != "forgeplan" || hello.Server.Version == "" || hello.Instructions == "" || hello.Capabilities["tools"] == nil {
		t.Errorf("greeting: %+v", hello)
	}
	offered := map[string]bool{}
	for _, tool := range hello.Tools {
		offered[tool.Name] = true
		if tool.Description == "" || tool.InputSchema["type"] != "object" {
			t.Errorf("tool %+v", tool)
		}
	}
	for i, s := range steps {
		t.Run(fmt.Sprintf("%02d %s", i+1, s.Tool), func(t *testing.T) {
			var raw json.RawMessage
			var a answer
			if err := lines.Decode(&raw); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, &a); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if t.Failed() {
					t.Logf("answer: %s", raw)
				}
			}()
			if a.Error == nil && !offered[s.Tool] {
				t.Errorf("tools/list does not offer it")
			}
			if r := a.Result; r != nil {
				var text map[string]any
				if len(r.Content) != 1 || r.Content[0].Type != "text" || json.Unmarshal([]byte(r.Content[0].Text), &text) != nil {
					t.Fatal("want one text block that is JSON")
				}
				if !reflect.DeepEqual(text, r.Structured) || len(text) == 0 {
					t.Error("the text block and the structured content differ")
				}
			}
			s.check(t, a)
		})
	}

	var end struct {
		ClosedMS int `json:"closed_ms"`
		Gone     bool
	}
	if err := lines.Decode(&end); err != nil {
		t.Fatal(err)
	}
	if took := time.Duration(end.ClosedMS) * time.Millisecond; !end.Gone || took >= closing {
		t.Errorf("closed after %v, process gone: %v; want it gone within %v", took, end.Gone, closing)
	}
	verify := exec.Command(bin, "--workspace", project, "verify")
	if out, err := verify.CombinedOutput(); err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
}

// install puts the client into a folder outside of the tree. Without Node or
// without a network there is nothing to test with.
func install(t *testing.T) (dir string) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s here: the TypeScript client cannot be run", program)
		}
	}
	dir = t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "client.mjs"} {
		from, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		to, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(to, from); err != nil {
			t.Fatal(err)
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), installing)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return dir
	case ctx.Err() != nil || noNetwork.Match(out):
		t.Skipf("npm cannot reach its registry: the TypeScript client cannot be installed: %v\n%s", err, out)
	}
	t.Fatalf("npm ci: %v\n%s", err, out)
	return ""
}

var noNetwork = regexp.MustCompile(`ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED`)
