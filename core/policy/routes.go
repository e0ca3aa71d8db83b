package policy

import (
	"strings"

	"postern/core/snapshot"
)

// The routes of calls that match no template.
const (
	AnyRoute   = "/*"      // the version has no templates
	OtherRoute = "(other)" // the version has templates, and none matches
)

// Bounds on the templates of a version. Routes beyond them are not distinguished: their calls are OtherRoute.
const (
	MaxRoutes     = 1000
	maxRouteBytes = 256 // of a template, which is stored with every row of usage
)

// Routes finds the template of a call's path. A nil Routes has no templates.
type Routes struct {
	root  pathNode[string]
	count int
}

// CompileRoutes returns the templates of a version: the paths of its OpenAPI document and of its rules. It returns nil
// if there are none.
func CompileRoutes(v *snapshot.Version) *Routes {
	out := &Routes{}
	for _, path := range v.Routes {
		out.add(path)
	}
	for i := range v.Rules.List {
		out.add(v.Rules.List[i].Path)
	}
	if out.count == 0 {
		return nil
	}
	return out
}

// add adds a template unless there are too many, or one with the same paths.
func (r *Routes) add(path string) {
	if r.count >= MaxRoutes || len(path) > maxRouteBytes || !strings.HasPrefix(path, "/") ||
		strings.Count(path, "/") > maxRuleSegments {
		return
	}
	if at := r.root.place(path); *at == "" {
		*at = path
		r.count++
	}
}

// Of returns the template of a normalized path below the address of the environment, else OtherRoute or AnyRoute. If
// several match, the most specific one counts, as with rules. Of does not allocate.
func (r *Routes) Of(path string) string {
	if r == nil {
		return AnyRoute
	}
	found := OtherRoute
	r.root.find(path, true, func(name *string) bool {
		if *name != "" {
			found = *name
		}
		return *name != ""
	})
	return found
}
