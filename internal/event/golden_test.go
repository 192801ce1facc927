package event_test

import (
	"testing"

	"forgeplan/internal/event"
	"forgeplan/internal/event/eventtest"

	"github.com/oklog/ulid/v2"
)

func TestGolden(t *testing.T) {
	eventtest.Golden(t, "testdata", event.Events,
		event.Initialized{Project: "forgeplan", Program: "0.1.0"},
		event.ClockStepped{Newest: 1777190400123456789, Now: 1777186800000000000},
		sampleCall(),
	)
}

func sampleCall() event.Call {
	return event.Call{
		Tool: "forgeplan_update", Face: "mcp", Actor: "claude", ActorKind: "agent", Session: "01JT000000000000000000000S",
		Client: "claude/2.0", Program: "0.1.0", Attempt: id(1), Start: 1777190400000000000, Cause: id(2),
		KeyHash: hash(3), ResultLen: 512, ResultSHA: hash(4), Branch: "main", Head: "9df76d7c0ffee", OtherHead: hash(5), ArgsDigest: hash(6),
		Args: []event.ArgSize{{Name: "id", Size: 9}, {Name: "body", Size: 70000}}, Targets: []ulid.ULID{id(7), id(8)},
		Status: event.StatusToolErr, ErrorClass: "rule", Effect: event.EffectNone, Duration: 1500000,
		BytesIn: 70100, BytesOut: 300, TokensIn: 17525, TokensOut: 75, Seen: id(9), Read: []ulid.ULID{id(7)}, ReadCount: 1, Events: 2,
	}
}

func id(n byte) ulid.ULID {
	return ulid.ULID{0: 0x01, 1: 0x9d, 2: 0xc7, 15: n}
}

func hash(n byte) (h event.Hash) {
	for i := range h {
		h[i] = n
	}
	return h
}
