package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"postern/core/openapi"
	"postern/core/openapi/tree"
)

// Validator checks requests against a document. It is safe for concurrent use.
type Validator struct {
	root      pathNode
	none      bool // no request matches
	unchecked []Unchecked
}

// MatchNone returns a validator that no request matches, for a document that cannot be compiled.
func MatchNone() *Validator { return &Validator{none: true} }

// Unchecked is something of a document that requests are not checked against.
type Unchecked struct{ At, Reason string }

// Bounds on what Unchecked lists.
const (
	maxUnchecked = 200
	maxPlace     = 300 // bytes
	maxReason    = 500
)

// Unchecked returns what of the document requests are not checked against.
func (v *Validator) Unchecked() []Unchecked { return v.unchecked }

// compiler compiles one document.
type compiler struct {
	*openapi.Budget

	document tree.Document
	modern   bool // 3.1: schemas are those of JSON Schema 2020-12
	schemas  map[string]*schema
	pending  []referred
	made     []*schema
	patterns map[string]*pattern
	loose    map[string]string // by the name of a parameter in the query
	noted    map[Unchecked]bool
	more     bool     // there is more to note than fits
	scratch  []byte   // a canonical text
	inside   []string // reference tokens of the schema that is read, below At
	out      *Validator
}

// Compile compiles a document that openapi.Parse has accepted, within what is left of its budget: what it does not
// understand is not checked, and listed by Unchecked. A refusal is an *openapi.Error.
func Compile(b *openapi.Budget, document tree.Document) (*Validator, error) {
	c := &compiler{
		Budget:   b,
		document: document,
		schemas:  map[string]*schema{},
		patterns: map[string]*pattern{},
		loose:    map[string]string{},
		noted:    map[Unchecked]bool{},
		out:      &Validator{},
	}
	c.modern = !strings.HasPrefix(tree.Scalar(c.document.Root["openapi"]), "3.0")
	paths, _ := c.document.Root["paths"].(map[string]any)
	var operations []*Operation
	for path, item := range c.Members(paths) {
		if strings.HasPrefix(path, "/") {
			operations = append(operations, c.path(path, c.Resolve(c.document, item))...)
		}
	}
	c.out.root.sort()
	c.finish()
	for _, s := range c.made {
		s.settle(0)
	}
	for _, op := range operations {
		c.At = op.Name
		op.parameters = slices.DeleteFunc(op.parameters, c.isObject)
		op.bracketed, op.inQuery = bracketed(op.parameters), c.inQuery(op.parameters)
	}
	c.At = ""
	slices.SortFunc(c.out.unchecked, func(a, b Unchecked) int {
		return cmp.Or(strings.Compare(a.At, b.At), strings.Compare(a.Reason, b.Reason))
	})
	if c.more {
		c.out.unchecked = append(c.out.unchecked, Unchecked{Reason: fmt.Sprintf("Only the first %d unchecked parts "+
			"are listed.", maxUnchecked)})
	}
	return c.out, c.Err()
}

// CompileJSON is Compile for a document as JSON.
func CompileJSON(b *openapi.Budget, document []byte) (*Validator, error) {
	root, err := openapi.ReadJSON(b, document)
	if err != nil {
		return nil, fmt.Errorf("validate: read the document: %w", err)
	}
	return Compile(b, tree.Document{Root: root})
}

// methods are the members of a path that are operations.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// About how many bytes parts of a validator take, without their texts.
const (
	perOperation = 200
	perParameter = 120
	perMedia     = 48
	perSegment   = 250
	perPiece     = 80 // a parameter of a path, and the text after it
	perSchema    = 600
	perMember    = 100
	perValue     = 50
	perItem      = 8  // a pointer to a schema
	perName      = 16 // that a list refers to
)

// stepsOfPiece are those of a parameter of a path: it is compared while the paths are sorted.
const stepsOfPiece = 10

// path returns the operations of a path.
func (c *compiler) path(path string, item map[string]any) (all []*Operation) {
	operations := map[string]*Operation{}
	for _, method := range methods {
		node, there := item[strings.ToLower(method)].(map[string]any)
		if !there {
			continue
		}
		c.At = method + " " + path
		op := &Operation{Name: c.At}
		all = append(all, op)
		for _, p := range mergedParameters(c.list(item["parameters"]), c.list(node["parameters"])) {
			c.parameter(op, p)
		}
		if body := c.Resolve(c.document, node["requestBody"]); body != nil {
			op.body = c.body(body)
		}
		c.Take(openapi.Memory, int64(perOperation+len(op.Name)+perParameter*len(op.parameters)))
		operations[method] = op
	}
	segments, pieces := strings.Count(path, "/"), strings.Count(path, "{")
	memory := perSegment*segments + perPiece*pieces
	if len(operations) == 0 || !c.Spend(segments+stepsOfPiece*pieces+len(path)/bytesOfStep) ||
		!c.Take(openapi.Memory, int64(memory)) {
		return all
	}
	names, ok := c.out.root.add(path, operations)
	if !ok {
		c.At = path
		c.note("The path can't be matched, because its parameters are next to each other.")
	}
	for _, op := range operations {
		op.names = names
	}
	return all
}

// list returns the objects in a list, with references resolved.
func (c *compiler) list(of any) (out []map[string]any) {
	list, _ := of.([]any)
	for _, one := range c.Each(list) {
		if node := c.Resolve(c.document, one); c.Spend(1) && node != nil {
			out = append(out, node)
		}
	}
	return out
}

// mergedParameters returns the parameters of an operation, which replace those of its path with the
// same name and place.
func mergedParameters(path, own []map[string]any) []map[string]any {
	type parameter struct{ in, name string }
	of := func(p map[string]any) parameter { return parameter{tree.Text(p["in"]), tree.Text(p["name"])} }
	replaced := make(map[parameter]bool, len(own))
	for _, p := range own {
		replaced[of(p)] = true
	}
	out := slices.Clone(own)
	for _, p := range path {
		if !replaced[of(p)] {
			out = append(out, p)
		}
	}
	return out
}

// stepsOfNote are those of a note without its place.
const stepsOfNote = 10

// note records that a part of the document isn't checked.
func (c *compiler) note(format string, args ...any) {
	if c.more || !c.Spend(stepsOfNote+len(c.inside)) {
		return
	}
	one := Unchecked{c.place(), cut(fmt.Sprintf(format, args...), maxReason)}
	switch {
	case c.noted[one]:
	case len(c.out.unchecked) == maxUnchecked:
		c.more = true
	default:
		c.noted[one] = true
		c.out.unchecked = append(c.out.unchecked, one)
	}
}

// place returns where in the document the compiler is, such as "PUT /orders: body/properties/price".
func (c *compiler) place() string {
	out := cut(c.At, maxPlace)
	for i, token := range c.inside {
		separator := "/"
		if i == 0 && !strings.HasPrefix(out, "#") {
			separator = ": "
		}
		out = cut(out+separator+escape(cut(token, maxPlace)), maxPlace)
	}
	return out
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}
