package conformance

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// asValues writes JSON and forms in one way, and forgets how bodies are framed.
func asValues(out *outcome) {
	if text, ok := canonical(out.ContentType, out.Body); ok {
		out.Body, out.Framing = text, ""
		out.Answer.Del("Content-Length")
	}
	ofSeen(out, func(s *seen) {
		if text, ok := canonical(s.Headers.Get("Content-Type"), s.Body); ok {
			s.Body = text
		}
		unframed(s)
	})
}

// canonical returns JSON with its members in order, and forms with their arguments in order.
func canonical(contentType, text string) (string, bool) {
	if strings.Contains(contentType, "application/x-www-form-urlencoded") {
		args := strings.Split(text, "&")
		slices.SortStableFunc(args, func(a, b string) int {
			a, _, _ = strings.Cut(a, "=")
			b, _, _ = strings.Cut(b, "=")
			return strings.Compare(a, b)
		})
		return strings.Join(args, "&"), true
	}
	from, out := json.NewDecoder(strings.NewReader(text)), any(nil)
	if !strings.Contains(strings.ToLower(contentType), "json") || from.Decode(&out) != nil || from.More() {
		return "", false
	}
	var buf bytes.Buffer
	to := json.NewEncoder(&buf)
	to.SetEscapeHTML(false)
	if to.Encode(out) != nil {
		return "", false
	}
	return buf.String(), true
}
