package web

// FormatETag returns a state of an object as a strong entity tag (RFC 9110, 8.8.3).
func FormatETag(state string) string { return `"` + state + `"` }

// ParseIfMatch returns the state that an If-Match header requires (RFC 9110, 13.1.1). It returns "" for an absent
// header and for "*", which any state matches. A tag that is empty or not quoted is returned unchanged, and matches no
// state.
func ParseIfMatch(header string) string {
	if header == "*" {
		return ""
	}
	if len(header) > 2 && header[0] == '"' && header[len(header)-1] == '"' {
		return header[1 : len(header)-1]
	}
	return header
}
