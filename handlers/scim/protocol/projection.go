package protocol

import (
	"encoding/json"
	"slices"
	"strings"
)

// Projection selects the attributes of a resource in a response (RFC 7644, 3.9). The zero
// value selects those that are returned by default, which is all.
type Projection struct {
	only, without []string // in lowercase, without the schema's prefix
}

// always has the attributes whose "returned" is always (RFC 7643, 7 and 3.1), and schemas,
// without which nothing else in a resource has a meaning.
var always = []string{"schemas", "id"}

// maxAttributes bounds a list of attributes; the two schemas have twenty.
const maxAttributes = 100

// ParseProjection parses the parameters attributes and excludedAttributes, which exclude
// each other. Names are matched in any case, with or without the schema's prefix; unknown
// ones select nothing.
func ParseProjection(attributes, excluded []string) (Projection, error) {
	p := Projection{only: names(attributes), without: names(excluded)}
	if len(p.only) > 0 && len(p.without) > 0 {
		return p, invalid("invalidValue", "Use attributes or excludedAttributes, not both.")
	}
	if len(p.only) > maxAttributes || len(p.without) > maxAttributes {
		return p, invalid("invalidValue", "Use at most 100 attributes.")
	}
	return p, nil
}

func names(list []string) (out []string) {
	for _, text := range list {
		for name := range strings.SplitSeq(text, ",") {
			if name = bare(name); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}

// Includes reports whether a response has a top-level attribute, or a part of it.
func (p Projection) Includes(attribute string) bool {
	attribute = strings.ToLower(attribute)
	if slices.Contains(always, attribute) {
		return true
	}
	if len(p.only) == 0 {
		return !slices.Contains(p.without, attribute)
	}
	return slices.ContainsFunc(p.only, func(name string) bool {
		return name == attribute || strings.HasPrefix(name, attribute+".")
	})
}

// Apply returns a resource with the selected attributes. A complex attribute of which
// nothing is left is removed.
func (p Projection) Apply(resource any) (any, error) {
	if len(p.only) == 0 && len(p.without) == 0 {
		return resource, nil
	}
	raw, err := json.Marshal(resource)
	if err != nil {
		return nil, err
	}
	var members map[string]any
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	for name, value := range members {
		if !p.Includes(name) {
			delete(members, name)
			continue
		}
		if members[name] = p.part(strings.ToLower(name), value); members[name] == nil {
			delete(members, name)
		}
	}
	return members, nil
}

// part returns the selected sub-attributes of an attribute, nil for none.
func (p Projection) part(attribute string, value any) any {
	if slices.Contains(p.only, attribute) || slices.Contains(always, attribute) {
		return value
	}
	switch value := value.(type) {
	case []any:
		var left []any
		for _, one := range value {
			if one = p.part(attribute, one); one != nil {
				left = append(left, one)
			}
		}
		if left == nil {
			return nil
		}
		return left
	case map[string]any:
		for name := range value {
			full := attribute + "." + strings.ToLower(name)
			if slices.Contains(p.without, full) || len(p.only) > 0 && !slices.Contains(p.only, full) {
				delete(value, name)
			}
		}
		if len(value) == 0 {
			return nil
		}
	}
	return value
}
