package configfile

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"

	"postern/core/filelimits"
)

// maxDirectives bounds the lines that may be directives, such as %TAG, which the parser compares with each other.
const maxDirectives = 100

var lineOf = regexp.MustCompile(`line (\d+)`)

// fromYAML returns the document of a YAML text.
func fromYAML(text []byte) (Value, error) {
	separators, err := countYAML(text)
	if err != nil {
		return Value{}, err
	}
	var root, more yaml.Node
	in := yaml.NewDecoder(bytes.NewReader(text))
	err = in.Decode(&root)
	if errors.Is(err, io.EOF) {
		return Value{}, Refuse(0, "The file is empty.")
	}
	if err != nil {
		line := 0
		if found := lineOf.FindStringSubmatch(err.Error()); found != nil { // the rest of the message can have values
			line, _ = strconv.Atoi(found[1])
		}
		return Value{}, Refuse(line, "The file isn't valid YAML at this line. Check the indentation and quotes.")
	}
	if err := in.Decode(&more); !errors.Is(err, io.EOF) {
		return Value{}, Refuse(more.Line, "The file contains a second document after ---. Import it as a separate "+
			"file.")
	}
	r := yamlReader{
		left: filelimits.GatewayValues.Most, tooMany: filelimits.GatewayValues,
		text: filelimits.GatewayText.Most, tooLong: filelimits.GatewayText,
	}
	if most := filelimits.GatewayAliases.Most*separators + 10_000; most < r.left {
		r.left, r.tooMany = most, filelimits.GatewayAliases
	}
	if most := filelimits.GatewayAliases.Most*int64(len(text)) + 1<<20; most < r.text {
		r.text, r.tooLong = most, filelimits.GatewayAliases
	}
	return r.value(root.Content[0], 0)
}

// countYAML returns an error if a text would cost its parser too much, and otherwise about how many values it has.
func countYAML(text []byte) (int64, error) {
	if bytes.Count(text, []byte("\n%")) > maxDirectives {
		return 0, Refuse(0, "The file has more than %d YAML directives (lines that start with %%).", maxDirectives)
	}
	separators, depth, deepest := int64(0), int64(0), int64(0)
	for i, c := range text {
		switch c {
		case '\n', ',':
			separators++
		case '[', '{':
			separators++
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth = max(depth-1, 0)
		case ' ':
			if i > 0 && (text[i-1] == '-' || text[i-1] == '?') {
				separators++
			}
		}
	}
	switch {
	case deepest > 1000: // also counts brackets in texts, of which there are few
		return 0, Beyond(filelimits.GatewayNesting)
	case separators > filelimits.GatewayValues.Most:
		return 0, Beyond(filelimits.GatewayValues)
	}
	return separators, nil
}

// yamlReader turns nodes into values. Aliases repeat what they refer to, so all values are counted.
type yamlReader struct {
	left int64 // values
	text int64 // bytes of texts and of the names of members

	tooMany, tooLong *filelimits.Limit // that left and text are from
}

func (r *yamlReader) value(node *yaml.Node, depth int64) (Value, error) {
	if depth > filelimits.GatewayNesting.Most {
		return Value{}, Beyond(filelimits.GatewayNesting)
	}
	if r.left--; r.left < 0 {
		return Value{}, Beyond(r.tooMany)
	}
	if r.text -= int64(len(node.Value)); r.text < 0 {
		return Value{}, Beyond(r.tooLong)
	}
	v := Value{Line: node.Line}
	switch node.Kind {
	case yaml.AliasNode:
		out, err := r.value(node.Alias, depth+1)
		out.Line = node.Line
		return out, err
	case yaml.SequenceNode:
		v.Kind = List
		v.Items = make([]Value, 0, len(node.Content))
		for _, child := range node.Content {
			item, err := r.value(child, depth+1)
			if err != nil {
				return Value{}, err
			}
			v.Items = append(v.Items, item)
		}
		return v, nil
	case yaml.MappingNode:
		return r.mapping(node, depth)
	}
	v.Text = node.Value
	switch node.ShortTag() {
	case "!!null":
		v.Kind, v.Text = Null, ""
	case "!!int", "!!float":
		v.Kind = Number
	case "!!bool":
		v.Kind = Bool
	default:
		v.Kind = Text
		if node.Style == 0 && isBool(node.Value) {
			v.Kind = Bool
		}
	}
	return v, nil
}

// isBool reports whether a text without quotes is a truth value of YAML 1.1, which Kong reads.
func isBool(text string) bool {
	switch text {
	case "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF":
		return true
	}
	return false
}

func (r *yamlReader) mapping(node *yaml.Node, depth int64) (Value, error) {
	v := Value{Kind: Object, Line: node.Line, Members: make([]Member, 0, len(node.Content)/2)}
	seen := make(map[string]int, len(node.Content)/2)
	var merged []Value
	for i := 0; i < len(node.Content); i += 2 {
		key := node.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return Value{}, Refuse(key.Line, "The name of a member isn't a string. Put it in quotes.")
		}
		value, err := r.value(node.Content[i+1], depth+1)
		if err != nil {
			return Value{}, err
		}
		if key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if int64(len(key.Value)) > filelimits.GatewayName.Most {
			return Value{}, longName(node.Content[i].Line)
		}
		r.text -= int64(len(key.Value))
		if first, twice := seen[key.Value]; twice {
			return Value{}, twiceError(node.Content[i].Line, key.Value, first)
		}
		seen[key.Value] = node.Content[i].Line
		v.Members = append(v.Members, Member{key.Value, value})
	}
	if len(merged) > 0 {
		set := make(map[string]bool, len(v.Members))
		for _, m := range v.Members {
			set[m.Name] = true
		}
		for _, from := range merged {
			v = v.merge(from, set)
		}
	}
	return v, nil
}

// merge adds the members of a merge key (<<) that aren't set.
func (v Value) merge(from Value, set map[string]bool) Value {
	if from.Kind == List {
		for _, one := range from.Items {
			v = v.merge(one, set)
		}
		return v
	}
	for _, m := range from.Members {
		if !set[m.Name] {
			set[m.Name] = true
			v.Members = append(v.Members, m)
		}
	}
	return v
}

// twiceError names a member that comes twice. Gateways take the last one silently, so half of what the file says would
// be lost. The name of a member isn't a secret, but can be any text.
func twiceError(line int, name string, first int) error {
	return &Error{Line: line, Code: CodeDuplicate, Detail: "The member " + strconv.Quote(name[:min(len(name), 64)]) +
		" already appears on line " + strconv.Itoa(first) + ". Remove one of them: only the last one would be used."}
}
