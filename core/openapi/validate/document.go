package validate

import (
	"fmt"
	"slices"
	"strings"

	"postern/core/openapi"
	"postern/core/openapi/tree"
)

// Validator checks requests against a document. It is safe for concurrent use.
type Validator struct {
	root      pathNode
	unchecked []Unchecked
}

// Unchecked is something of a document that requests are not checked against.
type Unchecked struct{ At, Reason string }

// maxUnchecked bounds what Unchecked lists.
const maxUnchecked = 200

// Unchecked returns what of the document requests are not checked against.
func (v *Validator) Unchecked() []Unchecked { return v.unchecked }

// compiler compiles one document.
type compiler struct {
	budget   *openapi.Budget
	document tree.Document
	modern   bool // 3.1: schemas are those of JSON Schema 2020-12
	schemas  map[string]*schema
	made     []*schema
	patterns map[string]*pattern
	noted    map[Unchecked]bool
	out      *Validator
}

// Compile compiles a document, JSON. It must be one that openapi.Parse accepts: what it does not
// understand is not checked, and listed by Unchecked. A document whose patterns are too large is refused with an
// *openapi.Error.
func Compile(document []byte) (*Validator, error) {
	read, err := tree.Read(document)
	if err != nil {
		return nil, fmt.Errorf("validate: read the document: %w", err)
	}
	c := &compiler{
		budget:   openapi.NewBudget(),
		document: read,
		schemas:  map[string]*schema{},
		patterns: map[string]*pattern{},
		noted:    map[Unchecked]bool{},
		out:      &Validator{},
	}
	c.modern = !strings.HasPrefix(tree.Text(c.document.Root["openapi"]), "3.0")
	paths, _ := c.document.Root["paths"].(map[string]any)
	for _, path := range tree.Keys(paths) {
		if strings.HasPrefix(path, "/") {
			c.path(path, c.document.Resolve(paths[path]))
		}
	}
	if err := c.budget.Err(); err != nil {
		return nil, err
	}
	for _, s := range c.made {
		s.settle()
	}
	slices.SortFunc(c.out.unchecked, func(a, b Unchecked) int { return strings.Compare(a.At, b.At) })
	return c.out, nil
}

// methods are the members of a path that are operations.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

func (c *compiler) path(path string, item map[string]any) {
	operations := map[string]*Operation{}
	for _, method := range methods {
		node, there := item[strings.ToLower(method)].(map[string]any)
		if !there {
			continue
		}
		c.budget.At = method + " " + path
		op := &Operation{Name: c.budget.At}
		for _, p := range mergedParameters(c.document.List(item["parameters"]), c.document.List(node["parameters"])) {
			c.parameter(op, p)
		}
		if body := c.document.Resolve(node["requestBody"]); body != nil {
			op.body = c.body(body)
		}
		operations[method] = op
	}
	if len(operations) == 0 {
		return
	}
	if operations["HEAD"] == nil {
		operations["HEAD"] = operations["GET"]
	}
	if !c.out.root.add(path, operations) {
		c.budget.At = path
		c.note("The path cannot be matched: its parameters are next to each other.")
	}
}

// mergedParameters returns the parameters of an operation, which replace those of its path with the
// same name and place.
func mergedParameters(path, own []map[string]any) []map[string]any {
	same := func(a, b map[string]any) bool {
		return tree.Text(a["name"]) == tree.Text(b["name"]) && tree.Text(a["in"]) == tree.Text(b["in"])
	}
	out := slices.Clone(own)
	for _, p := range path {
		if !slices.ContainsFunc(own, func(o map[string]any) bool { return same(o, p) }) {
			out = append(out, p)
		}
	}
	return out
}

// note records that something at c.budget.At is not checked.
func (c *compiler) note(format string, args ...any) {
	one := Unchecked{c.budget.At, fmt.Sprintf(format, args...)}
	if c.noted[one] || len(c.out.unchecked) >= maxUnchecked {
		return
	}
	c.noted[one] = true
	c.out.unchecked = append(c.out.unchecked, one)
}
