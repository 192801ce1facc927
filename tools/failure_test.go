package tools

import "testing"

func TestFailureJSON(t *testing.T) {
	f := Fail(ClassNotFound, "no artifact <x> & y")
	want := `{"ok":false,"error":"no artifact <x> & y","error_class":"not_found","_next_action":"Call ` + "`forgeplan_list`" + `."}`
	if got := string(f.JSON("Call `forgeplan_list`.")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	f.Unrecorded = true
	want = `{"ok":false,"error":"no artifact <x> & y","error_class":"not_found","recorded":false,"_next_action":""}`
	if got := string(f.JSON("")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestFailureOutcome(t *testing.T) {
	tests := []struct {
		failure *Failure
		exit    int
		status  string
	}{
		{nil, 0, "ok"},
		{Fail(ClassInvalidInput, ""), 2, "tool_err"},
		{Fail(ClassDrift, ""), 3, "tool_err"},
		{Fail(ClassProtocol, ""), 1, "rpc_err"},
		{Fail(ClassNothingToDo, ""), 1, "tool_err"},
		{Fail(ClassInternal, ""), 1, "tool_err"},
	}
	for _, tt := range tests {
		if got := ExitCode(tt.failure); got != tt.exit {
			t.Errorf("%v: exit %d, want %d", tt.failure, got, tt.exit)
		}
		if got := tt.failure.Status(); got != tt.status {
			t.Errorf("%v: status %s, want %s", tt.failure, got, tt.status)
		}
	}
}
