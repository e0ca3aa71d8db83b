package policy

import (
	"slices"
	"strings"
	"unsafe"

	"postern/core/snapshot"
)

// The routes of calls that match no template.
const (
	AnyRoute   = "/*"      // the version has no templates
	OtherRoute = "(other)" // the version has templates, and none matches
)

// Bounds on the templates of a version. Those over them are not told apart: their calls are OtherRoute.
const (
	MaxRoutes     = 1000
	maxRouteBytes = 256 // of a template, which is stored with every row of usage
)

// Routes finds the template of a call's path. A nil Routes has none.
type Routes struct {
	root  routeNode
	count int
}

// routeNode is a segment of templates.
type routeNode struct {
	literals map[string]*routeNode
	patterns []routePattern // segments with a parameter and text; the longest text first
	template *routeNode     // of any one segment
	name     string         // the template that ends here; "": none
}

// routePattern is a segment such as {name}.json or {owner}:{repository}.
type routePattern struct {
	text []string // before, between and after the parameters
	node *routeNode
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
	n := &r.root
	for segment := range strings.SplitSeq(path, "/") {
		if segment != "" {
			n = n.next(segment)
		}
	}
	if n.name == "" {
		n.name = path
		r.count++
	}
}

// next returns the node of a segment, which it adds if it is missing.
func (n *routeNode) next(segment string) *routeNode {
	text := textOf(segment)
	switch {
	case len(text) == 1:
		literal := decodeSegment(segment)
		if n.literals == nil {
			n.literals = map[string]*routeNode{}
		}
		if n.literals[literal] == nil {
			n.literals[literal] = &routeNode{}
		}
		return n.literals[literal]
	case strings.Join(text, "") == "":
		if n.template == nil {
			n.template = &routeNode{}
		}
		return n.template
	}
	for i := range n.patterns {
		if slices.Equal(n.patterns[i].text, text) {
			return n.patterns[i].node
		}
	}
	added := routePattern{text, &routeNode{}}
	n.patterns = append(n.patterns, added)
	slices.SortStableFunc(n.patterns, func(a, b routePattern) int { return b.size() - a.size() })
	return added.node
}

// textOf returns the text around the parameters of a segment, the segment alone if it has none.
func textOf(segment string) (text []string) {
	for {
		before, after, opened := strings.Cut(segment, "{")
		_, rest, closed := strings.Cut(after, "}")
		if !opened || !closed {
			return append(text, segment)
		}
		text, segment = append(text, before), rest
	}
}

func (p *routePattern) size() (n int) {
	for _, text := range p.text {
		n += len(text)
	}
	return n
}

// matches reports whether a segment has the pattern's text, and something for each parameter.
func (p *routePattern) matches(segment string) bool {
	rest, ok := strings.CutPrefix(segment, p.text[0])
	if !ok {
		return false
	}
	last := len(p.text) - 1
	for _, text := range p.text[1:last] {
		if len(rest) < 2 {
			return false
		}
		at := strings.Index(rest[1:], text) // a parameter is not empty
		if at < 0 {
			return false
		}
		rest = rest[1+at+len(text):]
	}
	return len(rest) > len(p.text[last]) && strings.HasSuffix(rest, p.text[last])
}

// Of returns the template of a normalized path below the address of the environment, else OtherRoute or AnyRoute. The
// first segment in which two templates differ decides: a literal is more specific than a pattern, and that than a
// parameter alone. A slash at the end does not count. Of does not allocate.
func (r *Routes) Of(path string) string {
	if r == nil {
		return AnyRoute
	}
	if name := r.root.find(path); name != "" {
		return name
	}
	return OtherRoute
}

func (n *routeNode) find(path string) string {
	if path == "" || path == "/" {
		return n.name
	}
	segment, rest := path[1:], ""
	if end := strings.IndexByte(segment, '/'); end >= 0 {
		segment, rest = segment[:end], segment[end:]
	}
	if n.literals == nil && n.patterns == nil {
		if n.template == nil {
			return ""
		}
		return n.template.find(rest)
	}
	if len(segment) <= maxRouteBytes && strings.IndexByte(segment, '%') >= 0 {
		return n.findEscaped(segment, rest)
	}
	return n.findSegment(segment, rest)
}

// findEscaped keeps its buffer off the stack of calls without escapes.
func (n *routeNode) findEscaped(segment, rest string) string {
	var scratch [maxRouteBytes]byte
	decoded := appendDecoded(scratch[:0], segment)
	segment = unsafe.String(unsafe.SliceData(decoded), len(decoded)) //nolint:gosec // it is only read
	return n.findSegment(segment, rest)
}

// findSegment is find for a decoded segment and the path after it.
func (n *routeNode) findSegment(segment, rest string) string {
	if next := n.literals[segment]; next != nil {
		if name := next.find(rest); name != "" {
			return name
		}
	}
	for i := range n.patterns {
		if p := &n.patterns[i]; p.matches(segment) {
			if name := p.node.find(rest); name != "" {
				return name
			}
		}
	}
	if n.template == nil {
		return ""
	}
	return n.template.find(rest)
}
