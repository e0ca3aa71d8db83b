package validate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
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
	document map[string]any
	modern   bool // 3.1: schemas are those of JSON Schema 2020-12
	schemas  map[string]*schema
	made     []*schema
	patterns map[string]*pattern
	noted    map[Unchecked]bool
	at       string // what is compiled, for Unchecked
	out      *Validator
}

// Compile compiles a document, JSON. It must be one that openapi.Parse accepts: what it does not
// understand is not checked, and listed by Unchecked.
func Compile(document []byte) (*Validator, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	c := &compiler{
		schemas:  map[string]*schema{},
		patterns: map[string]*pattern{},
		noted:    map[Unchecked]bool{},
		out:      &Validator{},
	}
	if err := decoder.Decode(&c.document); err != nil {
		return nil, fmt.Errorf("validate: read the document: %w", err)
	}
	c.modern = !strings.HasPrefix(text(c.document["openapi"]), "3.0")
	paths, _ := c.document["paths"].(map[string]any)
	for _, path := range sortedKeys(paths) {
		if strings.HasPrefix(path, "/") {
			c.path(path, c.resolve(paths[path]))
		}
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
		c.at = method + " " + path
		op := &Operation{Name: c.at}
		for _, p := range mergedParameters(c.list(item["parameters"]), c.list(node["parameters"])) {
			c.parameter(op, p)
		}
		if body := c.resolve(node["requestBody"]); body != nil {
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
		c.at = path
		c.note("The path cannot be matched: its parameters are next to each other.")
	}
}

// list returns the members of a list, with references resolved.
func (c *compiler) list(of any) (out []map[string]any) {
	list, _ := of.([]any)
	for _, one := range list {
		if node := c.resolve(one); node != nil {
			out = append(out, node)
		}
	}
	return out
}

// mergedParameters returns the parameters of an operation, which replace those of its path with the
// same name and place.
func mergedParameters(path, own []map[string]any) []map[string]any {
	same := func(a, b map[string]any) bool {
		return text(a["name"]) == text(b["name"]) && text(a["in"]) == text(b["in"])
	}
	out := slices.Clone(own)
	for _, p := range path {
		if !slices.ContainsFunc(own, func(o map[string]any) bool { return same(o, p) }) {
			out = append(out, p)
		}
	}
	return out
}

// note records that something at c.at is not checked.
func (c *compiler) note(format string, args ...any) {
	one := Unchecked{c.at, fmt.Sprintf(format, args...)}
	if c.noted[one] || len(c.out.unchecked) >= maxUnchecked {
		return
	}
	c.noted[one] = true
	c.out.unchecked = append(c.out.unchecked, one)
}

// maxReferences bounds a chain of references that only lead to each other.
const maxReferences = 50

// resolve returns an object of the document, or what it refers to; nil if there is none.
func (c *compiler) resolve(node any) map[string]any {
	for range maxReferences {
		object, _ := node.(map[string]any)
		ref, refers := object["$ref"].(string)
		if !refers {
			return object
		}
		node = c.lookUp(ref)
	}
	return nil
}

// lookUp returns what a pointer into the document leads to (RFC 6901, section 6); nil for nothing.
func (c *compiler) lookUp(ref string) any {
	pointer, local := strings.CutPrefix(ref, "#/")
	if !local {
		if ref == "#" {
			return c.document
		}
		return nil
	}
	var at any = c.document
	for token := range strings.SplitSeq(pointer, "/") {
		if plain, err := url.PathUnescape(token); err == nil {
			token = plain
		}
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch node := at.(type) {
		case map[string]any:
			at = node[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(node) {
				return nil
			}
			at = node[i]
		default:
			return nil
		}
	}
	return at
}

func text(of any) string {
	s, _ := of.(string)
	return s
}

func sortedKeys(of map[string]any) []string {
	keys := make([]string, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
