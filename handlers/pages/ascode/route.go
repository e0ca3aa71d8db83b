package ascode

import (
	"net/url"
	"strings"
)

// routes are the entries of a table by route, such as /projects/:project/keys, indexed by the number of segments: a
// page with a form in every row looks up as many paths.
type routes[T any] map[int][]route[T]

type route[T any] struct {
	pattern  string
	segments []string
	of       T
}

func newRoutes[T any](table map[string]T) routes[T] {
	out := routes[T]{}
	for pattern, of := range table {
		segments := strings.Split(pattern, "/")
		out[len(segments)] = append(out[len(segments)], route[T]{pattern, segments, of})
	}
	return out
}

// match finds the route of a path. If there are several, the one with the longest part before a parameter is the path's
// own. It returns the values of the parameters, and nil for a path without a route.
func (r routes[T]) match(path string) (found *route[T], params map[string]string) {
	have := strings.Split(path, "/")
	values := make([]string, len(have))
	for i, segment := range have {
		value, err := url.PathUnescape(segment)
		if err != nil {
			return nil, nil
		}
		values[i] = value
	}
	best := -1
	for i := range r[len(have)] {
		candidate := &r[len(have)][i]
		if fixed := fixedIn(candidate.segments, have); fixed > best {
			found, best = candidate, fixed
		}
	}
	if found == nil {
		return nil, nil
	}
	params = map[string]string{}
	for i, segment := range found.segments {
		if name, ok := strings.CutPrefix(segment, ":"); ok {
			params[name] = values[i]
		}
	}
	return found, params
}

// fixedIn orders routes of a path: the earlier a segment is fixed, the more it counts. It returns -1 for a path that
// does not have the route.
func fixedIn(want, have []string) int {
	fixed := 0
	for i, segment := range want {
		fixed <<= 1
		switch {
		case strings.HasPrefix(segment, ":"):
			if have[i] == "" {
				return -1
			}
		case segment != have[i]:
			return -1
		default:
			fixed |= 1
		}
	}
	return fixed
}
