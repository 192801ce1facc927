package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"
)

// story is one telling, in one folder.
type story struct {
	teller
	bin      string        // the forgeplan program
	folder   string        // of the project; made here
	after    time.Duration // how long the call runs before the kill
	answered []string      // tools whose calls were answered, in order
}

// args are the arguments of a call, in the order in which they are shown.
type args struct {
	Kind       string  `json:"kind,omitempty"`
	Title      string  `json:"title,omitempty"`
	Source     string  `json:"source,omitempty"`
	Target     string  `json:"target,omitempty"`
	Relation   string  `json:"relation,omitempty"`
	Body       string  `json:"body,omitempty"`
	Key        string  `json:"idempotency_key,omitempty"`
	ID         string  `json:"id,omitempty"`
	SinceHours float64 `json:"since_hours,omitempty"`
	Full       bool    `json:"full,omitempty"`
}

// measurements is a long text, so that writing it takes a moment.
var measurements = "# Passkeys on the phones we support\n\n" + strings.Repeat("| phone | system | signed in | seconds |\n", 20_000)

// shown is how arguments look in the story: a long body is only named.
func shown(a args) string {
	long := len(a.Body) > 100
	if long {
		a.Body = "…"
	}
	text, _ := json.Marshal(a)
	if long {
		return strings.Replace(string(text), `"…"`, fmt.Sprintf(`"… %d KiB …"`, len(measurements)>>10), 1)
	}
	return string(text)
}

// ask makes a call, and shows it with the named keys of its answer.
func (s *story) ask(ctx context.Context, a *agent, tool string, in args, keys ...string) (map[string]json.RawMessage, error) {
	s.say("> %s %s", tool, shown(in))
	answer, err := a.call(ctx, tool, in)
	if err != nil {
		return nil, err
	}
	s.answered = append(s.answered, tool)
	var parts []string
	for _, k := range keys {
		v, ok := answer[k]
		if !ok {
			return nil, fmt.Errorf("%s: no %s in the answer", tool, k)
		}
		parts = append(parts, fmt.Sprintf("%q:%s", k, v))
	}
	if len(parts) > 0 {
		s.say("< {%s, …}", strings.Join(parts, ", "))
	}
	return answer, nil
}

// shell runs a command of the program and shows what it prints.
func (s *story) shell(command string) error {
	s.say("$ forgeplan %s", command)
	out, err := s.command(strings.Fields(command)...).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		s.say("%s", line)
	}
	if err != nil {
		return fmt.Errorf("forgeplan %s: %w", command, err)
	}
	return nil
}

// tell tells the whole story. Every claim in it is checked on the way.
func (s *story) tell(ctx context.Context) error {
	s.hide = append(s.hide, s.folder, "<folder>")
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	s.say("# An agent's server is killed in the middle of its work")
	s.say("")
	s.say("  > what the agent asks   < what the server answers (… stands for keys left out)   $ a shell")
	for _, part := range []func(context.Context) error{s.work, s.resume, s.rebuild} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// work: three decisions, their links, and the kill.
func (s *story) work(ctx context.Context) error {
	s.part("1. The agent writes down three decisions and links them")
	if err := s.shell("init"); err != nil {
		return err
	}
	s.answered = append(s.answered, "forgeplan_init")
	a, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer a.session.Close()
	for _, in := range []args{
		{Kind: "prd", Title: "Sign in without a password"},
		{Kind: "rfc", Title: "Passkeys through WebAuthn"},
		{Kind: "adr", Title: "Keep no password hashes"},
	} {
		if _, err := s.ask(ctx, a, "forgeplan_new", in, "id", "changed", "call"); err != nil {
			return err
		}
	}
	for _, in := range []args{
		{Source: "RFC-001", Target: "PRD-001", Relation: "refines"},
		{Source: "ADR-001", Target: "RFC-001", Relation: "based_on"},
	} {
		if _, err := s.ask(ctx, a, "forgeplan_link", in, "source", "version", "changed"); err != nil {
			return err
		}
	}

	s.part("2. kill -9, while the server works on the next call")
	s.say("> forgeplan_new %s", shown(evidence))
	if err := s.killDuring(ctx, a, "forgeplan_new", evidence); err != nil {
		return err
	}
	s.say("$ kill -9 <the server>")
	s.say("< (no answer, the connection is gone)")
	return nil
}

var evidence = args{Kind: "evidence", Title: "Every phone we support signs in", Body: measurements, Key: "evidence-phones"}

// resume: a new session finds out what was done, and repeats the last call.
func (s *story) resume(ctx context.Context) error {
	s.part("3. A new session, which remembers nothing, asks what was done")
	a, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer a.session.Close()
	before := slices.Clone(s.answered)
	answer, err := s.ask(ctx, a, "forgeplan_activity", args{SinceHours: 1})
	if err != nil {
		return err
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(answer["entries"], &entries); err != nil {
		return fmt.Errorf("read the entries: %w", err)
	}
	var found []string
	s.say("< {\"entries\":[")
	for i, raw := range entries {
		var e struct{ Tool, Status, Effect string }
		if err := json.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("read an entry: %w", err)
		}
		if e.Status != "ok" || e.Effect != "changed" {
			return fmt.Errorf("entry %s: not what was done", raw)
		}
		found = append(found, e.Tool)
		if i < len(before) {
			s.say("    %s,", raw)
		}
	}
	there := len(found) == len(before)+1
	if there {
		before = append(before, "forgeplan_new")
	}
	if !slices.Equal(found, before) {
		return fmt.Errorf("the journal has %v, answered were %v", found, before)
	}
	if there {
		s.either("    "+string(entries[len(entries)-1]), unknown)
	} else {
		s.either("    (nothing more)", unknown)
	}
	s.say("  ], …}")
	s.say("")
	s.say("Every call that was answered is there. The one that was not:")
	whole, err := s.evidence(ctx, a)
	if err != nil {
		return err
	}
	if whole != there {
		return fmt.Errorf("the call is in the journal: %v, its artifact: %v", there, whole)
	}
	if there {
		s.either("it was done just before the kill, and is there, whole.", outcome)
	} else {
		s.either("the kill came first, and nothing of it is there.", outcome)
	}

	s.say("")
	s.say("The agent need not find out. It repeats the call with the same key:")
	s.say("")
	answer, err = s.ask(ctx, a, "forgeplan_new", evidence, "id", "changed")
	if err != nil {
		return err
	}
	if _, replayed := answer["replayed"]; replayed != there {
		return fmt.Errorf("the call was done before: %v, its answer is a kept one: %v", there, replayed)
	}
	_, err = s.ask(ctx, a, "forgeplan_link", args{Source: "EVID-001", Target: "PRD-001", Relation: "informs"}, "source", "version", "changed")
	return err
}

const (
	unknown = "    <the call without an answer: whole, or not at all>"
	outcome = "<it is there, whole, or nothing of it is there>"
)

// evidence reports whether the artifact of the killed call is there. An error if
// there is only a part of it.
func (s *story) evidence(ctx context.Context, a *agent) (bool, error) {
	answer, err := a.call(ctx, "forgeplan_get", args{ID: "EVID-001", Full: true})
	if string(answer["error_class"]) == `"not_found"` {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var body string
	if err := json.Unmarshal(answer["body"], &body); err != nil {
		return false, fmt.Errorf("read the body: %w", err)
	}
	if body != measurements {
		return false, errors.New("only a part of the killed call is there")
	}
	return true, nil
}

// rebuild: what people read is deleted and comes back.
func (s *story) rebuild(context.Context) error {
	s.part("4. Every Markdown file and every log is deleted, and comes back")
	before, err := s.files()
	if err != nil {
		return err
	}
	for _, f := range before {
		s.say("%s  %s", f.sum, f.name)
	}
	s.say("")
	gone := []string{"prds", "rfcs", "adrs", "evidence", "logs"}
	s.say("$ cd .forgeplan && rm -r %s && cd ..", strings.Join(gone, " "))
	for _, name := range gone {
		if err := os.RemoveAll(filepath.Join(s.folder, ".forgeplan", name)); err != nil {
			return fmt.Errorf("delete: %w", err)
		}
	}
	if left, err := s.files(); err != nil || len(left) > 0 {
		return fmt.Errorf("still there: %v %v", left, err)
	}
	if err := s.shell("replay"); err != nil {
		return err
	}
	after, err := s.files()
	if err != nil {
		return err
	}
	s.say("")
	for i, f := range after {
		if i >= len(before) || before[i] != f {
			return fmt.Errorf("%s is not what it was", f.name)
		}
		s.say("%s  %s  equal", f.sum, f.name)
	}
	if len(after) != len(before) {
		return fmt.Errorf("%d files of %d came back", len(after), len(before))
	}
	s.say("")
	return s.shell("verify")
}

// file is one thing that people read, with its SHA-256.
type file struct{ name, sum string }

// files lists the Markdown files, and the logs as one, since they are cut by day.
func (s *story) files() ([]file, error) {
	root := filepath.Join(s.folder, ".forgeplan")
	names, err := filepath.Glob(filepath.Join(root, "*", "*.md"))
	if err != nil {
		return nil, err
	}
	logs, err := filepath.Glob(filepath.Join(root, "logs", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	sort.Strings(logs)
	var out []file
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return nil, err
		}
		out = append(out, file{filepath.ToSlash(rel), sum(data)})
	}
	var log []byte
	for _, name := range logs {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		log = append(log, data...)
	}
	if len(logs) > 0 {
		out = append(out, file{"logs/*.jsonl", sum(log)})
	}
	return out, nil
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
