package ascode

import (
	"net/url"
	"strings"
)

// Match finds the route of a path among those of a table, as in /projects/:project/keys. Of
// several, that with the longest part before a parameter is the path's own. It returns the
// values of the parameters.
func Match[T any](routes map[string]T, path string) (route string, params map[string]string) {
	best := -1
	for candidate := range routes {
		if found, fixed := matchOne(candidate, path); found != nil && fixed > best {
			route, params, best = candidate, found, fixed
		}
	}
	return route, params
}

// matchOne returns nil params if the path does not have the route. fixed orders routes: the
// earlier a segment is fixed, the more it counts.
func matchOne(route, path string) (params map[string]string, fixed int) {
	want, have := strings.Split(route, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return nil, 0
	}
	params = map[string]string{}
	for i, segment := range want {
		fixed <<= 1
		name, isParam := strings.CutPrefix(segment, ":")
		value, err := url.PathUnescape(have[i])
		switch {
		case err != nil || value == "" && isParam:
			return nil, 0
		case isParam:
			params[name] = value
		case segment != have[i]:
			return nil, 0
		default:
			fixed |= 1
		}
	}
	return params, fixed
}
