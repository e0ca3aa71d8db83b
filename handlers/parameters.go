package handlers

import (
	"net/url"
	"slices"
)

// once reads parameters, of which none may be sent twice (RFC 6749, 3.1).
type once struct {
	values   url.Values
	repeated bool
}

func readOnce(values url.Values) *once {
	return &once{
		values:   values,
		repeated: slices.ContainsFunc(names(values), func(name string) bool { return len(values[name]) > 1 }),
	}
}

func names(values url.Values) []string {
	list := make([]string, 0, len(values))
	for name := range values {
		list = append(list, name)
	}
	return list
}

func (o *once) get(name string) string { return o.values.Get(name) }
