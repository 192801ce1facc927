package tools

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"forgeplan/internal/event"
	"forgeplan/internal/render"

	"github.com/oklog/ulid/v2"
)

type activityIn struct {
	SinceHours float64 `json:"since_hours" above:"0" max:"720" default:"24" doc:"Hours back from now."`
	Since      string  `json:"since" doc:"Instead of since_hours: a duration such as 720h, or an RFC 3339 time."`
	Tool       string  `json:"tool" list:"commas" doc:"Comma-separated tool names."`
	Status     string  `json:"status" enum:"ok,tool_err,rpc_err" doc:"Only calls that ended so."`
	Limit      *int64  `json:"limit" short:"n" min:"1" max:"5000" doc:"The most recent N, default 500."`
	Detail     bool    `json:"detail" doc:"Adds the call's ULID, actor, session, client, argument names and sizes, targets, tokens and more."`
}

type activityOut struct {
	Entries    []render.Entry `json:"entries"`
	Scanned    int            `json:"total_scanned"`
	Returned   int            `json:"returned"`
	Warnings   []string       `json:"warnings"`
	SinceHours float64        `json:"since_hours"`
	Since      string         `json:"since,omitempty"`
}

func (o *activityOut) setWarnings(w []string) { o.Warnings = w }

func (o *activityOut) WriteText(w io.Writer, width int) {
	rows := make([][]string, len(o.Entries))
	for i, e := range o.Entries {
		end := e.Status
		if e.ErrorClass != "" {
			end += " (" + e.ErrorClass + ")"
		}
		rows[i] = []string{e.TS, e.Tool, end, e.Effect, strconv.FormatInt(e.DurationMS, 10)}
	}
	if len(rows) > 0 {
		render.Table(w, width, []string{"STARTED", "TOOL", "STATUS", "EFFECT", "MS"}, rows, 1)
	}
	fmt.Fprintf(w, "%d of %d calls in the last %s hours\n", o.Returned, o.Scanned, strconv.FormatFloat(o.SinceHours, 'f', -1, 64))
}

const (
	maxHours      = 720 // of the window
	activityLimit = 500 // entries, where no limit is given
)

// skew is how far ahead of the clock a call may be stamped before it is said.
const skew = time.Minute

var activityTool = Reading(Tool{
	Name: "forgeplan_activity", Command: "activity", Title: "What was called", Effect: Reads, Set: "core", looks: looksNowhere,
	Summary: "Lists the calls of the last hours from the journal: what did I run, what failed, what changed something?",
	Doc:     "In order of commit, the newest `limit`. Use it after an interruption and before anything destructive.",
	Example: `{"since_hours": 1}`,
}, func(c *Run, in activityIn) (activityOut, error) {
	out := activityOut{Entries: []render.Entry{}, SinceHours: in.SinceHours}
	since, err := window(c, in, &out)
	if err != nil {
		return out, err
	}
	tools, limit := names(in.Tool), activityLimit
	if in.Limit != nil {
		limit = int(*in.Limit)
	}
	type found struct {
		id   ulid.ULID
		wall time.Time
		call event.Call
	}
	var kept []found
	calls := map[string]int{}
	spent := map[string]int64{}
	ahead, matched := 0, 0
	err = c.ws.Calls(c.Ctx, since, func(id ulid.ULID, wall time.Time, call event.Call) bool {
		out.Scanned++
		if wall.After(c.Now().Add(skew)) {
			ahead++
		}
		if len(tools) > 0 && !slices.Contains(tools, call.Tool) || in.Status != "" && call.Status != in.Status {
			return true
		}
		matched++
		kept = append(kept, found{id, wall, call})
		if over := len(kept) - 2*limit; over >= 0 { // keep the newest, without growing for ever
			kept = append(kept[:0:0], kept[len(kept)-limit:]...)
		}
		return true
	})
	if err != nil {
		return out, err
	}
	if over := len(kept) - limit; over > 0 {
		kept = kept[over:]
	}
	for _, f := range kept {
		out.Entries = append(out.Entries, render.NewEntry(f.id, f.wall.UnixNano(), f.call, in.Detail))
		calls[f.call.Tool]++
		spent[f.call.Tool] += f.call.Duration
	}
	if in.Limit == nil {
		out.Entries = newestWithin(c, out.Entries)
	}
	out.Returned = len(out.Entries)
	if out.Returned < matched {
		c.Warn("%d older call(s) of the window are left out; narrow the window or raise limit", matched-out.Returned)
	}
	if ahead > 0 {
		c.Warn("clock skew: %d call(s) are stamped later than now; the order is the journal's", ahead)
	}
	for _, name := range tools {
		if calls[name] == 0 && !c.known(name) {
			c.Warn("%s", strings.Replace(c.reg.unknownTool(name).Msg, "unknown tool", "no tool is called", 1))
		}
	}
	if in.Since != "" && c.given("since_hours") {
		c.Warn("since is used; since_hours was left aside")
	}
	activityHint(c, in, &out, calls, spent)
	return out, nil
})

// window is the time the entries start at.
func window(c *Run, in activityIn, out *activityOut) (time.Time, error) {
	hours := in.SinceHours
	if s := strings.TrimSpace(in.Since); s != "" {
		if at, err := time.Parse(time.RFC3339, s); err == nil {
			hours = c.Now().Sub(at).Hours()
		} else if d, err := parseDuration(s); err == nil {
			hours = d.Hours()
		} else {
			return time.Time{}, Fail(ClassInvalidInput, "`since` must be a duration such as 2h or 3d, or an RFC 3339 time",
				Say("The last day: "), Call("forgeplan_activity", "since_hours", 24))
		}
		switch {
		case hours <= 0:
			return time.Time{}, Fail(ClassInvalidInput, "`since` must lie in the past", Say("The last day: "), Call("forgeplan_activity", "since_hours", 24))
		case hours > maxHours:
			c.Warn("`since` reaches back 720 hours at most; 720 is used")
			hours = maxHours
		}
	}
	out.SinceHours = float64(int64(hours*1000+0.5)) / 1000
	return c.Now().Add(-time.Duration(hours * float64(time.Hour))), nil
}

// parseDuration reads 90m, 2h or 3d.
func parseDuration(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		return time.Duration(n * 24 * float64(time.Hour)), err
	}
	return time.ParseDuration(s)
}

func names(list string) []string {
	var out []string
	for _, s := range strings.Split(list, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// newestWithin keeps as many of the newest entries as fit an answer.
func newestWithin(c *Run, entries []render.Entry) []render.Entry {
	size := replyReserve
	for i := len(entries) - 1; i >= 0; i-- {
		line, err := render.JSON(entries[i])
		if err != nil {
			return entries
		}
		if size += len(line) + 1; size > replyBudget {
			c.Warn("only the newest %d entries are given to keep the answer under 80 KB; pass limit for more", len(entries)-1-i)
			return entries[i+1:]
		}
	}
	return entries
}

func activityHint(c *Run, in activityIn, out *activityOut, calls map[string]int, spent map[string]int64) {
	if out.Returned == 0 {
		if out.SinceHours < maxHours {
			args := []any{"since_hours", maxHours}
			if in.Tool != "" {
				args = append(args, "tool", in.Tool)
			}
			if in.Status != "" {
				args = append(args, "status", in.Status)
			}
			c.Next(Say("0 entries in window. Widen it: "), Call("forgeplan_activity", args...))
		} else {
			c.Next(Say("0 entries in window. See what there is: "), Call("forgeplan_list"))
		}
		return
	}
	busiest := ""
	for name := range calls {
		if busiest == "" || calls[name] > calls[busiest] || calls[name] == calls[busiest] && (spent[name] > spent[busiest] ||
			spent[name] == spent[busiest] && name < busiest) {
			busiest = name
		}
	}
	c.Next(Say("%s entries in window. Busiest tool: `%s`. Its calls alone: ", out.Returned, busiest),
		Call("forgeplan_activity", "tool", busiest, "since_hours", out.SinceHours))
}
