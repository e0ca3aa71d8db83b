package policy

import (
	"cmp"
	"slices"
	"strings"
	"unsafe"
)

// pathNode is a segment of path templates. T is the data of a template.
type pathNode[T any] struct {
	literals map[string]*pathNode[T]
	patterns []pathPattern[T] // segments with a parameter and text; the most specific first
	template *pathNode[T]     // of any one segment
	end      T                // of the template that ends here
	subtree  T                // of the template for this path and all below
}

// pathPattern is a segment such as {name}.json or {owner}:{repository}.
type pathPattern[T any] struct {
	text []string // before, between and after the parameters
	node *pathNode[T]
}

// place returns where a template ends. It adds the nodes that are missing.
func (n *pathNode[T]) place(path string) *T {
	for segment := range pathSegments(path) {
		if _, subtree := subtreeName(segment); subtree {
			return &n.subtree
		}
		n = n.next(segment)
	}
	return &n.end
}

// next returns the node of a segment.
func (n *pathNode[T]) next(segment string) *pathNode[T] {
	text, _ := splitSegment(segment)
	switch {
	case len(text) == 1:
		if n.literals == nil {
			n.literals = map[string]*pathNode[T]{}
		}
		if n.literals[text[0]] == nil {
			n.literals[text[0]] = &pathNode[T]{}
		}
		return n.literals[text[0]]
	case strings.Join(text, "") == "":
		if n.template == nil {
			n.template = &pathNode[T]{}
		}
		return n.template
	}
	for i := range n.patterns {
		if slices.Equal(n.patterns[i].text, text) {
			return n.patterns[i].node
		}
	}
	added := pathPattern[T]{text, &pathNode[T]{}}
	n.patterns = append(n.patterns, added)
	slices.SortStableFunc(n.patterns, func(a, b pathPattern[T]) int { return b.compare(a.text) })
	return added.node
}

// compare is positive for the more specific pattern: the one with the longer text in front, then the
// one with the longer text at its end, then the one with more text between.
func (p *pathPattern[T]) compare(text []string) int {
	last := func(text []string) string { return text[len(text)-1] }
	return cmp.Or(
		len(p.text[0])-len(text[0]),
		len(last(p.text))-len(last(text)),
		len(strings.Join(p.text, ""))-len(strings.Join(text, "")),
	)
}

// matches reports whether a segment has the pattern's text, and something for each parameter.
func (p *pathPattern[T]) matches(segment string) bool {
	rest, ok := strings.CutPrefix(segment, p.text[0])
	if !ok {
		return false
	}
	last := len(p.text) - 1
	if last > 1 && len(segment) > maxRulePath {
		return false // paths of rules have one parameter a segment: it is one of a document, for usage alone
	}
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

// find calls accept with what is known of the templates that match a normalized path, the most
// specific first, until it returns true. The first segment in which two templates differ decides: a
// literal comes before a pattern, that before a parameter alone, and that before a subtree. A slash at
// the end does not count. With escaped the segments of the path are decoded once. Each node is visited
// at most once, and nothing is allocated.
func (n *pathNode[T]) find(path string, escaped bool, accept func(*T) bool) bool {
	if path == "" || path == "/" {
		return accept(&n.end) || accept(&n.subtree)
	}
	segment, rest := path[1:], ""
	if end := strings.IndexByte(segment, '/'); end >= 0 {
		segment, rest = segment[:end], segment[end:]
	}
	if n.literals != nil || n.patterns != nil {
		if escaped && strings.IndexByte(segment, '%') >= 0 {
			if n.findEscaped(segment, rest, accept) {
				return true
			}
		} else if n.findSegment(segment, rest, escaped, accept) {
			return true
		}
	}
	return n.template != nil && n.template.find(rest, escaped, accept) || accept(&n.subtree)
}

// findEscaped keeps its buffer off the stack of calls without escapes.
func (n *pathNode[T]) findEscaped(segment, rest string, accept func(*T) bool) bool {
	var scratch [256]byte
	decoded := appendDecoded(scratch[:0], segment)
	segment = unsafe.String(unsafe.SliceData(decoded), len(decoded)) //nolint:gosec // it is only read
	return n.findSegment(segment, rest, true, accept)
}

// findSegment looks below the nodes whose text a decoded segment has.
func (n *pathNode[T]) findSegment(segment, rest string, escaped bool, accept func(*T) bool) bool {
	if next := n.literals[segment]; next != nil && next.find(rest, escaped, accept) {
		return true
	}
	for i := range n.patterns {
		if p := &n.patterns[i]; p.matches(segment) && p.node.find(rest, escaped, accept) {
			return true
		}
	}
	return false
}

// pathSegments yields the segments of a template that are not empty.
func pathSegments(path string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for segment := range strings.SplitSeq(path, "/") {
			if segment != "" && !yield(segment) {
				return
			}
		}
	}
}

// subtreeName returns the name of the last segment of a template for a whole subtree, {name...} or **
// without a name. It returns false for other segments.
func subtreeName(segment string) (name string, subtree bool) {
	if segment == "**" {
		return "", true
	}
	name, suffixed := strings.CutSuffix(segment, "...}")
	name, prefixed := strings.CutPrefix(name, "{")
	return name, suffixed && prefixed && !strings.ContainsAny(name, "{}")
}

// splitSegment returns the decoded text around the parameters of a segment, and their names. Text has
// one entry more than names.
func splitSegment(segment string) (text, names []string) {
	for {
		before, after, opened := strings.Cut(segment, "{")
		name, rest, closed := strings.Cut(after, "}")
		if !opened || !closed {
			return append(text, decodeSegment(segment)), names
		}
		text, names, segment = append(text, decodeSegment(before)), append(names, name), rest
	}
}
