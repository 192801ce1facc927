package event

// ClockStepped notes that the clock stood before the newest event. Both times
// are wall times in ns.
type ClockStepped struct {
	Newest int64 `msgpack:"newest,omitempty"` // of the newest event then
	Now    int64 `msgpack:"now,omitempty"`    // of the clock
}

func (ClockStepped) EventName() string { return "journal.clock_stepped" }
func (ClockStepped) EventVersion() int { return 1 }
