package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// readYAML returns a YAML document as JSON, with members in the order of the document, and its decoded value.
func readYAML(b *Budget, data []byte) ([]byte, map[string]any, error) {
	made, err := fromYAML(b, data)
	if b.Err() != nil {
		return nil, nil, b.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	root, err := ReadJSON(b, made)
	return made, root, err
}

// maxDirectives bounds the lines of a document that may be directives, such as %TAG, which the parser of YAML compares
// with each other.
const maxDirectives = 100

func fromYAML(b *Budget, data []byte) ([]byte, error) {
	if bytes.Count(data, []byte("\n%")) > maxDirectives {
		return nil, refuse("The document has more than %d YAML directives (lines that start with %%).", maxDirectives)
	}
	var root, more yaml.Node
	in := yaml.NewDecoder(&yamlReader{budget: b, rest: data})
	if err := in.Decode(&root); err != nil {
		return nil, notYAML(err)
	}
	if err := in.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, refuse("There is text after the document. Send only one YAML document, without --- after it.")
	}
	if root.Kind != yaml.DocumentNode || root.Content[0].Kind != yaml.MappingNode {
		return nil, refuse("The document isn't an object.")
	}
	w := yamlWriter{budget: b, size: int64(len(data))}
	if err := w.write(root.Content[0], 0); err != nil {
		return nil, err
	}
	return w.out.Bytes(), nil
}

var lineOf = regexp.MustCompile(`line (\d+)`)

// notYAML returns a refusal that names the line of a syntax error.
func notYAML(err error) error {
	if line := lineOf.FindStringSubmatch(err.Error()); line != nil {
		return refuse("The document is neither valid JSON nor valid YAML. Check it near line %s.", line[1])
	}
	return refuse("The document is neither valid JSON nor valid YAML.")
}

// yamlReader feeds the parser of YAML, and counts what the parser takes: about 160 bytes for each key and each value.
// It ends the parsing when the budget is used up.
type yamlReader struct {
	budget *Budget
	rest   []byte
	before byte
	values int64
}

// stepsOfSeparator are those of the values that a line, a comma or a bracket begins.
const stepsOfSeparator = 20

func (r *yamlReader) Read(to []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(to, r.rest)
	separators := 0
	for _, c := range r.rest[:n] {
		switch {
		case c == '\n', c == ',', c == '[', c == '{', c == ' ' && (r.before == '-' || r.before == '?'):
			separators++
		}
		r.before = c
	}
	r.rest = r.rest[n:]
	r.values += 2 * int64(separators)
	if !r.budget.Spend(n+stepsOfSeparator*separators) || !r.budget.Fits(Values, r.values) {
		return 0, r.budget.Err()
	}
	return n, nil
}

// yamlWriter writes the JSON of nodes.
type yamlWriter struct {
	budget *Budget
	size   int64 // of the YAML
	out    bytes.Buffer
}

func (w *yamlWriter) write(node *yaml.Node, depth int64) error {
	if depth > Nesting.Most {
		w.budget.At = fmt.Sprintf("Line %d", node.Line)
	}
	size := int64(w.out.Len()) // aliases repeat what they refer to
	if !w.budget.Spend(stepsOfValue) || !w.budget.Fits(Nesting, depth) || !w.budget.Fits(w.budget.size, size) ||
		!w.budget.Fits(Expansion, (size+w.size-1)/w.size) {
		return w.budget.Err()
	}
	switch node.Kind {
	case yaml.MappingNode:
		return w.mapping(node, depth)
	case yaml.SequenceNode:
		w.out.WriteByte('[')
		for i, child := range node.Content {
			if i > 0 {
				w.out.WriteByte(',')
			}
			if err := w.write(child, depth+1); err != nil {
				return err
			}
		}
		w.out.WriteByte(']')
		return nil
	case yaml.AliasNode:
		return w.write(node.Alias, depth+1)
	}
	return w.scalar(node)
}

func (w *yamlWriter) mapping(node *yaml.Node, depth int64) error {
	seen := map[string]bool{}
	w.out.WriteByte('{')
	for i := 0; i < len(node.Content); i += 2 {
		key := node.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			return refuse("Line %d: the name of a member isn't a string.", key.Line)
		case key.ShortTag() == "!!merge":
			return refuse("Line %d: merge keys (<<) aren't supported. Write out the members.", key.Line)
		case seen[key.Value]:
			return refuse("Line %d: the member %.100q appears twice.", key.Line, key.Value)
		}
		seen[key.Value] = true
		if i > 0 {
			w.out.WriteByte(',')
		}
		if err := w.value(key.Value); err != nil { // also a number, such as the status of an answer
			return err
		}
		w.out.WriteByte(':')
		if err := w.write(node.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	w.out.WriteByte('}')
	return nil
}

func (w *yamlWriter) scalar(node *yaml.Node) error {
	switch node.ShortTag() {
	case "!!null":
		return w.value(nil)
	case "!!int", "!!float", "!!bool":
		if json.Valid([]byte(node.Value)) { // also 1.0, which is a version
			w.out.WriteString(node.Value)
			return nil
		}
		var value any
		if node.Decode(&value) != nil || w.value(value) != nil {
			return refuse("Line %d: %.50s can't be written as JSON.", node.Line, node.Value)
		}
		return nil
	}
	return w.value(node.Value)
}

func (w *yamlWriter) value(v any) error {
	encoder := json.NewEncoder(&w.out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		if unsupported, ok := errors.AsType[*json.UnsupportedValueError](err); ok {
			return fmt.Errorf("openapi: %w", unsupported)
		}
		return err
	}
	w.out.Truncate(w.out.Len() - 1) // the line feed
	return nil
}
