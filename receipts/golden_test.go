package receipts_test

import (
	"testing"

	"forgeplan/internal/event/eventtest"
	"forgeplan/receipts"

	"github.com/oklog/ulid/v2"
)

func TestGolden(t *testing.T) {
	eventtest.Golden(t, "../internal/event/testdata", receipts.Events,
		receipts.Consumed{Receipt: ulid.ULID{0: 0x01, 1: 0x9d, 2: 0xc7, 15: 1}, ReceiptID: "trash-2026-04-26T10-14-22-001", By: "undo"})
}
