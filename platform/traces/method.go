package traces

import "net/http"

// otherMethod replaces methods that callers invent, whose number is unlimited.
const otherMethod = "_OTHER"

// Method returns a request's method as spans have it, and how their names begin, both of which have few values
// (semantic conventions for HTTP spans).
func Method(method string) (recorded, name string) {
	for _, known := range [...]string{
		http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead,
		http.MethodOptions,
	} {
		if method == known {
			return known, known
		}
	}
	return otherMethod, "HTTP"
}
