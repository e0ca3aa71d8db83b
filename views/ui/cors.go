package ui

import (
	"slices"
	"strings"

	"postern/core/contract"
)

// CORS posts revision and the members of a contract.CORS to Action, with an element of a list on each line.
type CORS struct {
	contract.SavedCORS // as it is, or as posted

	Action        string
	Hint          string   // what the settings are about
	Apps          string   // whose app clients AppOrigins is about
	Overrides     []Link   // tenants with settings of their own
	MoreOverrides int      // how many have besides these
	AllMethods    []string // that can be chosen; each is, until some are
	Age           string   // MaxAge as posted
	Error         string

	Wrong map[string]string // mistakes, by the name of the field
}

// lines is a field with an element on each line.
func (m CORS) lines(name string, list []string) Value {
	return Value{Text: strings.Join(list, "\n"), Error: m.Wrong[name]}
}

func (m CORS) methods() []Option {
	var out []Option
	for _, method := range m.AllMethods {
		chosen := len(m.Methods) == 0 || slices.Contains(m.Methods, method)
		out = append(out, Option{Value: method, Title: method, Chosen: chosen})
	}
	return out
}

// open reports whether the details are shown at once.
func (m CORS) open() bool {
	return len(m.Headers)+len(m.ExposedHeaders) > 0 || m.Age != "" || m.Wrong["methods"] != ""
}
