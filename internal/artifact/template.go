package artifact

import "strings"

// section is a heading of a new body, and the question its text answers.
type section struct{ heading, prompt string }

// sections are the templates, by kind. A prompt stands under its heading in
// italics until somebody writes over it; it then is what tells a stub.
var sections = map[Kind][]section{
	"prd": {
		{"Problem", "Who is held up by what, how often, and what does it cost them?"},
		{"Goals", "What is true when this has worked, and how will we see it?"},
		{"Non-Goals", "What might a reader expect here that we will not do?"},
		{"Target Users", "Who will use it, and what do they know already?"},
		{"Functional Requirements", "What can each user do that they could not do before?"},
		{"Related Artifacts", "Which decisions does this rest on, and which wait for it?"},
	},
	"epic": {
		{"Vision", "What does the world look like when all of this is done?"},
		{"Outcomes", "Which few results would make it worth the effort?"},
		{"Children", "Which artifacts carry the parts of the work?"},
		{"Phases", "In which order do the parts come, and why in that one?"},
		{"Progress", "What is done, and what is next?"},
	},
	"spec": {
		{"Summary", "What is specified here, in three sentences?"},
		{"Contracts", "Which inputs, outputs and errors does each side promise?"},
		{"Related Artifacts", "Which decision asked for this contract?"},
	},
	"rfc": {
		{"Summary", "What is proposed, in three sentences?"},
		{"Motivation", "What goes wrong today, and for whom?"},
		{"Options Considered", "Which other ways are there, and what speaks for them?"},
		{"Proposed Direction", "How does the chosen way work?"},
		{"Implementation Phases", "Which steps leave the system working after each of them?"},
		{"Risks", "What could make this a mistake, and how would we notice?"},
	},
	"adr": {
		{"Context", "Which forces made a decision necessary?"},
		{"Decision", "What do we do from now on?"},
		{"Consequences", "What gets easier, what gets harder, and for whom?"},
		{"Invariants", "What must stay true for this decision to hold?"},
		{"Rollback", "How do we get out of it, and until when?"},
		{"Affected Files", "Which parts of the code does it bind?"},
	},
	"problem": {
		{"Problem", "What happens, and what should happen instead?"},
		{"Impact", "Who is hurt, how badly, and since when?"},
		{"Constraints", "What must a solution leave alone?"},
		{"Related Artifacts", "Where was this seen before?"},
	},
	"solution": {
		{"Problem", "Which problem is answered, and how far?"},
		{"Options", "Which answers were compared, and by what?"},
		{"Recommendation", "Which one do we take, and what decides it?"},
		{"Related Artifacts", "Which decision follows from this?"},
	},
	"evidence": {
		{"Claim", "Which statement does this support, weaken or refute?"},
		{"Method", "How was it found, so that somebody else can repeat it?"},
		{"Result", "What came out, in numbers where there are any?"},
		{"Structured Fields", "Which verdict and congruence level follow from it?"},
	},
	"note": {
		{"Note", "What should be remembered, and why?"},
	},
	"refresh": {
		{"Reason", "Why is the old decision looked at again?"},
		{"Findings", "What has changed since, and what has not?"},
		{"Decision", "Does it stand, change, or fall?"},
	},
}

// Skeleton is the body of a new artifact: its title and the headings of its
// kind, each with the question that its text answers.
func Skeleton(k Kind, title string) string {
	var b strings.Builder
	b.WriteString("# " + title + "\n")
	for _, s := range sections[k] {
		b.WriteString("\n## " + s.heading + "\n\n" + marker(s.prompt) + "\n")
	}
	return b.String()
}

func marker(prompt string) string { return "_" + prompt + "_" }

// StubThreshold is from how many StubMarkers on a body counts as a stub.
const StubThreshold = 3

// StubMarkers counts the different prompts of the templates, of whatever kind,
// that stand in a body as lines of their own.
func StubMarkers(body string) int {
	seen := map[string]bool{}
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "_") && isMarker(line) {
			seen[line] = true
		}
	}
	return len(seen)
}

func isMarker(line string) bool {
	for _, list := range sections {
		for _, s := range list {
			if line == marker(s.prompt) {
				return true
			}
		}
	}
	return false
}
