package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// maxDepth bounds how deep a document is nested.
const maxDepth = 100

// fromYAML returns a YAML document as JSON, with members in the order of the document.
func fromYAML(data []byte) ([]byte, error) {
	var root, more yaml.Node
	in := yaml.NewDecoder(bytes.NewReader(data))
	if err := in.Decode(&root); err != nil {
		return nil, refuse("The document is neither JSON nor valid YAML: %s.", err)
	}
	if err := in.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, refuse("Something follows the document: send one YAML document, without --- behind it.")
	}
	if root.Kind != yaml.DocumentNode || root.Content[0].Kind != yaml.MappingNode {
		return nil, refuse("The document is no object.")
	}
	var w yamlWriter
	if err := w.write(root.Content[0], 0); err != nil {
		return nil, err
	}
	return w.out.Bytes(), nil
}

// yamlWriter writes the JSON of nodes.
type yamlWriter struct{ out bytes.Buffer }

func (w *yamlWriter) write(node *yaml.Node, depth int) error {
	switch {
	case depth > maxDepth:
		return refuse("Line %d: the document is nested more than %d deep.", node.Line, maxDepth)
	case w.out.Len() > MaxSize: // aliases repeat what they stand for
		return refuse("The document has more than 5 MB as JSON.")
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

func (w *yamlWriter) mapping(node *yaml.Node, depth int) error {
	seen := map[string]bool{}
	w.out.WriteByte('{')
	for i := 0; i < len(node.Content); i += 2 {
		key := node.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			return refuse("Line %d: the name of a member is no text.", key.Line)
		case key.ShortTag() == "!!merge":
			return refuse("Line %d: merge keys (<<) are not supported; write the members out.", key.Line)
		case seen[key.Value]:
			return refuse("Line %d: the member %.100q stands twice.", key.Line, key.Value)
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
		var value any
		if err := node.Decode(&value); err != nil {
			return refuse("Line %d: %s.", node.Line, err)
		}
		if err := w.value(value); err != nil {
			return refuse("Line %d: %.50s has no JSON form.", node.Line, node.Value)
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
