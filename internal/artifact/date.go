package artifact

import "time"

// CheckDate reports whether s can be a valid_until: YYYY-MM-DD or an RFC 3339
// time. It is kept as written. The error is an *InputError.
func CheckDate(s string) error {
	if _, ok := Expiry(s); !ok {
		return &InputError{Field: "valid_until", Msg: "invalid date " + quote(s) + "; use YYYY-MM-DD or a time such as 2026-03-01T12:00:00Z"}
	}
	return nil
}

// Expiry is the moment from which something is no longer valid: for a date the
// end of that day, UTC, for a time that time. A time without a zone, as older
// files have it, is UTC.
func Expiry(s string) (time.Time, bool) {
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		return day.AddDate(0, 0, 1), true
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if at, err := time.Parse(layout, s); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}
