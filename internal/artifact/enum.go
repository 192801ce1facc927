package artifact

import (
	"slices"
	"strings"
)

// Normal brings a name from a closed list into its stored spelling: lower case,
// _ for -, no blanks around it.
func Normal(s string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "-", "_")
}

// parseEnum finds s in a closed list, whatever its case, with - for _ or space
// around it.
func parseEnum[T ~string](field, s string, allowed []T) (T, error) {
	if word := T(Normal(s)); slices.Contains(allowed, word) {
		return word, nil
	}
	var names []string
	for _, a := range allowed {
		names = append(names, string(a))
	}
	return "", &InputError{Field: field, Msg: "invalid " + field + " " + quote(s) + "; use one of " + strings.Join(names, ", ")}
}
