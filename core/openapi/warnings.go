package openapi

import (
	"fmt"
	"strings"

	"postern/core/contract"
)

// flaw is a construct that is wrong or has no effect, and leaves no doubt about routes, parameters and request bodies.
// Its places follow the text.
type flaw struct{ code, text string }

var (
	flawInfo = &flaw{"openapi_info", "The title or the version of the API is missing"}

	flawUnquoted = &flaw{
		"openapi_unquoted",
		"An unquoted value was read as a number. Use quotes, because 1.10 without quotes can be read as 1.1",
	}
	flawServer     = &flaw{"openapi_server", "A server is ignored because it isn't an object with a url"}
	flawReferences = &flaw{
		"openapi_dangling_reference",
		"A reference doesn't resolve, so its target isn't checked",
	}
	flawResponse  = &flaw{"openapi_response", "A response is ignored because it isn't an object or a reference to one"}
	flawItems     = &flaw{"openapi_no_items", "An array has no items keyword, so it accepts any items"}
	flawRequired  = &flaw{"openapi_required_twice", "A list of required members contains a name twice"}
	flawComponent = &flaw{
		"openapi_component_name",
		"The name of a component contains characters other than A to Z, a to z, 0 to 9, \".\", \"-\" and \"_\"",
	}
	flawPathItems = &flaw{"openapi_path_items", "The field components.pathItems requires OpenAPI 3.1"}
	flawKeyword   = &flaw{
		"openapi_unknown_keyword", "A schema has an unknown keyword, which has no effect",
	}
	flawMember = &flaw{
		"openapi_unknown_member",
		"A member of a path is ignored because it isn't get, head, post, put, patch, delete or options, in lowercase",
	}
	flawUnmatched = &flaw{
		"openapi_unmatched_path",
		"No call matches a path that has a query, a fragment, a wildcard, parameters next to each other, or a " +
			"segment that is empty, \".\" or \"..\"",
	}
	flawAlike = &flaw{
		"openapi_alike",
		"A path differs from another path only in parameter names. The gateway can't tell them apart, so only the " +
			"other path is listed",
	}
	flawParameterTwice = &flaw{"openapi_parameter_twice", "A parameter appears twice with the same description"}
	flawSecurity       = &flaw{
		"openapi_security",
		"Security is ignored because it isn't a list of objects with a list of scopes for each scheme",
	}
)

// flawOwnServer is a separate flaw for each server.
const flawOwnServer = "openapi_own_server"

// Bounds on what warnings list.
const (
	maxPlaces   = 20
	maxServers  = 20
	maxOfServer = 5   // places of a server
	maxPlace    = 200 // bytes
)

// places are the first of those that have a flaw, and how many there are.
type places struct {
	first []string
	all   int
}

func (p *places) add(place string, most int) {
	if p.all++; len(p.first) < most {
		p.first = append(p.first, cut(place))
	}
}

func (p *places) String() string {
	text := strings.Join(p.first, ", ")
	if more := p.all - len(p.first); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// notes are the flaws of a document, in the order in which they were found.
type notes struct {
	order   []*flaw
	found   map[*flaw]*places
	servers []string // of paths and operations
	of      map[string]*places
	more    int // servers that are not listed
}

func (n *notes) add(of *flaw, place string) {
	if n.found == nil {
		n.found = map[*flaw]*places{}
	}
	if n.found[of] == nil {
		n.found[of] = &places{}
		n.order = append(n.order, of)
	}
	n.found[of].add(place, maxPlaces)
}

// lists reports whether another place of a flaw is listed, and not only counted.
func (n *notes) lists(of *flaw) bool { return n.found[of] == nil || n.found[of].all < maxPlaces }

// server notes the server of a path or an operation.
func (n *notes) server(url, place string) {
	if n.of == nil {
		n.of = map[string]*places{}
	}
	switch known := n.of[url]; {
	case known != nil:
		known.add(place, maxOfServer)
	case len(n.servers) == maxServers:
		n.more++
	default:
		n.servers, n.of[url] = append(n.servers, url), &places{}
		n.of[url].add(place, maxOfServer)
	}
}

func (n *notes) list() (out []contract.Warning) {
	for _, of := range n.order {
		out = append(out, contract.Warning{Code: of.code, Detail: of.text + ": " + n.found[of].String() + "."})
	}
	for _, url := range n.servers {
		out = append(out, contract.Warning{Code: flawOwnServer, Detail: fmt.Sprintf("The document has a separate "+
			"server, %s, for: %s. Calls to these operations go to the environment's target. Add an environment with "+
			"the target %s for them.", url, n.of[url], url)})
	}
	if n.more > 0 {
		out = append(out, contract.Warning{Code: flawOwnServer, Detail: fmt.Sprintf("%d more paths or operations "+
			"have separate servers. Calls to them also go to the environment's target.", n.more)})
	}
	return out
}

func (r *reader) warn(of *flaw, place string) { r.notes.add(of, place) }

// UnresolvedRef says that a reference is not to a part of the document.
func UnresolvedRef(ref string) string {
	if strings.HasPrefix(ref, "#") {
		return fmt.Sprintf("the reference %q doesn't resolve", cut(ref))
	}
	return "it refers to another file, " + cut(ref) + ", which isn't read. Bundle the files into one document"
}

// unresolvedRef says so of a node that is a reference, for behind what it must be.
func (r *reader) unresolvedRef(node any) string {
	object, _ := node.(map[string]any)
	if ref, refers := object["$ref"].(string); refers {
		return ": " + UnresolvedRef(ref)
	}
	return ""
}

// cut returns a text that is short enough to be shown.
func cut(text string) string {
	if len(text) <= maxPlace {
		return text
	}
	return strings.ToValidUTF8(text[:maxPlace-len("…")], "") + "…"
}
