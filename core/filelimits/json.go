package filelimits

// Counts are how much of each thing a JSON text has.
type Counts struct {
	Values  int64 // members' values, elements, objects and lists; one more than there are in an empty object or list
	Objects int64 // and lists
	Depth   int64 // of the deepest object or list
}

// Count counts a JSON text by the characters that open and separate values, without parsing it: a text that is not
// JSON is left to its parser. It takes no memory.
func Count(text []byte) (c Counts) {
	depth := int64(0)
	quoted := false
	for i := 0; i < len(text); i++ {
		at := text[i]
		switch {
		case quoted && at == '\\':
			i++
		case at == '"':
			quoted = !quoted
		case quoted:
		case at == ',':
			c.Values++
		case at == '{', at == '[':
			c.Values++
			c.Objects++
			depth++
			c.Depth = max(c.Depth, depth)
		case at == '}', at == ']':
			depth--
		}
	}
	return c
}

// Exceeded returns the first of the limits that a JSON text is beyond, nil for none. They are of values, objects or
// nesting.
func (c Counts) Exceeded(values, objects, nesting *Limit) *Limit {
	switch {
	case c.Depth > nesting.Most:
		return nesting
	case c.Objects > objects.Most:
		return objects
	case c.Values > values.Most:
		return values
	}
	return nil
}
