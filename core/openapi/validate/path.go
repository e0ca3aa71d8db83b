package validate

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// pathNode is a node of the tree of path templates. Its depth is that of its segment.
type pathNode struct {
	literals   map[string]*pathNode
	templated  []templatedEdge      // the most specific first
	edges      map[string]*pathNode // of templated by shape; nil once it is sorted
	operations map[string]*Operation
}

// templatedEdge is a segment with parameters, such as {id} or {id}.json.
type templatedEdge struct {
	pieces []piece
	node   *pathNode
}

// piece is a literal text, or a parameter between two of them.
type piece struct {
	text      string // of a parameter its name
	parameter bool
}

// add adds a template. Another one that differs only in the names of its parameters may have other methods. It returns
// the names, and false if a segment has two parameters with nothing between them.
func (n *pathNode) add(template string, operations map[string]*Operation) (names []string, ok bool) {
	for segment := range strings.SplitSeq(strings.TrimPrefix(template, "/"), "/") {
		pieces, ok := piecesOf(segment)
		if !ok {
			return nil, false
		}
		for _, one := range pieces {
			if one.parameter {
				names = append(names, one.text)
			}
		}
		n = n.child(segment, pieces)
	}
	if n.operations == nil {
		n.operations = map[string]*Operation{}
	}
	for method, op := range operations {
		if first := n.operations[method]; first != nil {
			op.alike, first.alike = first.alike, op
		} else {
			n.operations[method] = op
		}
	}
	return names, true
}

// nameless returns a segment without the names of its parameters.
func nameless(segment string) string {
	var out strings.Builder
	for {
		before, after, opened := strings.Cut(segment, "{")
		out.WriteString(before)
		if !opened {
			return out.String()
		}
		out.WriteString("{}")
		_, segment, _ = strings.Cut(after, "}")
	}
}

func (n *pathNode) child(segment string, pieces []piece) *pathNode {
	if len(pieces) == 0 || len(pieces) == 1 && !pieces[0].parameter {
		literal := unescape(segment)
		if n.literals[literal] == nil {
			if n.literals == nil {
				n.literals = map[string]*pathNode{}
			}
			n.literals[literal] = &pathNode{}
		}
		return n.literals[literal]
	}
	of := nameless(segment)
	if known := n.edges[of]; known != nil {
		return known
	}
	if n.edges == nil {
		n.edges = map[string]*pathNode{}
	}
	node := &pathNode{}
	n.edges[of] = node
	n.templated = append(n.templated, templatedEdge{pieces, node})
	return node
}

// sort ends the adding of templates to a tree.
func (n *pathNode) sort() {
	for rest := []*pathNode{n}; len(rest) > 0; {
		at := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		at.edges = nil
		slices.SortStableFunc(at.templated, func(a, b templatedEdge) int { return compareEdges(b.pieces, a.pieces) })
		for _, child := range at.literals {
			rest = append(rest, child)
		}
		for _, edge := range at.templated {
			rest = append(rest, edge.node)
		}
	}
}

// compareEdges is positive if the first is more specific: by the text in front, then by that at the end, then by all
// text, as among rules (policy.RuleShape).
func compareEdges(a, b []piece) int {
	fixed := func(p piece) int {
		if p.parameter {
			return 0
		}
		return len(p.text)
	}
	return cmp.Or(fixed(a[0])-fixed(b[0]), fixed(a[len(a)-1])-fixed(b[len(b)-1]), literalSize(a)-literalSize(b))
}

// literalSize is how many bytes of a segment are fixed.
func literalSize(pieces []piece) (size int) {
	for _, p := range pieces {
		if !p.parameter {
			size += len(p.text)
		}
	}
	return size
}

func piecesOf(segment string) (out []piece, ok bool) {
	for segment != "" {
		open := strings.IndexByte(segment, '{')
		end := strings.IndexByte(segment, '}')
		switch {
		case open < 0 || end < open:
			return append(out, piece{text: unescape(segment)}), true
		case open > 0:
			out = append(out, piece{text: unescape(segment[:open])})
		case len(out) > 0 && out[len(out)-1].parameter:
			return nil, false
		}
		out = append(out, piece{segment[open+1 : end], true})
		segment = segment[end+1:]
	}
	return out, true
}

// maxCompared bounds the bytes of a path that are compared with templates to find the one of a call, in all.
const maxCompared = 4 << 20

// search looks for the operation of a method and path.
type search struct {
	method   string
	compared int // bytes
}

// find returns the operation of a path, which has no leading slash, and the values of its parameters: of the templates
// that have the method, that of the most specific one, as among rules. Each node is visited once at most: its depth is
// that of a segment.
func (s *search) find(n *pathNode, path string, values []string) (*Operation, []string) {
	segment, rest, more := strings.Cut(path, "/")
	segment = unescape(segment)
	next := func(child *pathNode, values []string) (*Operation, []string) {
		if more {
			return s.find(child, rest, values)
		}
		return operationOf(child.operations, s.method), values
	}
	if child := n.literals[segment]; child != nil {
		if found, with := next(child, values); found != nil {
			return found, with
		}
	}
	for i := range n.templated {
		edge := &n.templated[i]
		if s.compared += 1 + len(segment)*len(edge.pieces)/2; s.compared > maxCompared {
			return nil, nil
		}
		mine, ok := match(edge.pieces, segment, values[:len(values):len(values)])
		if !ok {
			continue
		}
		if found, with := next(edge.node, mine); found != nil {
			return found, with
		}
	}
	return nil, nil
}

// operationOf returns the operation of a method, for HEAD that of GET where there is none.
func operationOf(operations map[string]*Operation, method string) *Operation {
	if op := operations[method]; op != nil || method != http.MethodHead {
		return op
	}
	return operations[http.MethodGet]
}

// match cuts a segment at the fixed texts between its parameters, each of which has at least one byte.
func match(pieces []piece, segment string, values []string) ([]string, bool) {
	for i, p := range pieces {
		if !p.parameter {
			rest, ok := strings.CutPrefix(segment, p.text)
			if !ok {
				return nil, false
			}
			segment = rest
			continue
		}
		size := len(segment)
		switch {
		case i == len(pieces)-1:
		case i == len(pieces)-2: // the last text is at the end
			size = max(0, size-len(pieces[i+1].text))
		default:
			if size = strings.Index(segment, pieces[i+1].text); size < 0 {
				return nil, false
			}
		}
		if size == 0 {
			return nil, false
		}
		values = append(values, segment[:size])
		segment = segment[size:]
	}
	return values, segment == ""
}

// unescape decodes a segment. An invalid escape is kept.
func unescape(segment string) string {
	if strings.IndexByte(segment, '%') < 0 {
		return segment
	}
	if plain, err := url.PathUnescape(segment); err == nil {
		return plain
	}
	return segment
}
