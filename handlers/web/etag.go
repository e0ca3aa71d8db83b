package web

func FormatETag(tag string) string { return `"` + tag + `"` }

// ParseIfMatch reads If-Match; "*" and nothing mean any state will do. A tag that
// is empty or not quoted is none of ours and stays as it is, to match nothing.
func ParseIfMatch(header string) string {
	if header == "*" {
		return ""
	}
	if len(header) > 2 && header[0] == '"' && header[len(header)-1] == '"' {
		return header[1 : len(header)-1]
	}
	return header
}
