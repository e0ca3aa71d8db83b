package openapi

import (
	"slices"
	"strings"
)

// stepsOfWarning are those of a warning of which the place is made.
const stepsOfWarning = 5

// isIgnored reports whether a member of a path is neither an operation that is read nor something else that a path has.
func isIgnored(name string) bool {
	switch name {
	case "$ref", "summary", "description", "servers", "parameters":
		return false
	}
	return !strings.HasPrefix(name, "x-") && (name != strings.ToLower(name) ||
		!slices.Contains(Methods, strings.ToUpper(name)))
}

// isUnmatched reports whether no call can match a path, whose parameters have no names: gateways clean the path of a
// call, and match it without its query.
func isUnmatched(path string) bool {
	if strings.ContainsAny(path, "?#") || strings.Contains(path, "{}{}") {
		return true
	}
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, segment := range segments {
		switch segment {
		case "*", "**", ".", "..":
			return true
		case "":
			if i < len(segments)-1 {
				return true
			}
		}
	}
	return false
}

// nameless returns a path without the names of its parameters. It returns false for a path that has no slash in front,
// or whose braces don't match.
func nameless(path string) (string, bool) {
	var out strings.Builder
	for rest := path; ; {
		before, after, opened := strings.Cut(rest, "{")
		out.WriteString(before)
		if !opened {
			return out.String(), strings.HasPrefix(path, "/") && !strings.Contains(before, "}")
		}
		name, more, closed := strings.Cut(after, "}")
		if !closed || strings.ContainsAny(before, "}") || strings.ContainsAny(name, "{/") {
			return "", false
		}
		out.WriteString("{}")
		rest = more
	}
}
