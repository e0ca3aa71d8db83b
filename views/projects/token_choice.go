package projects

import (
	"slices"
	"strings"

	"postern/views/ui"
)

// TokenChoice asks who holds which token, in two questions, and draws it. It posts client_token and upstream_token.
type TokenChoice struct {
	Provider string // label
	Client   []ui.Option
	Upstream []ui.Option
	Error    string // the two do not go together
}

func (c TokenChoice) client() ui.Group {
	return ui.Group{
		ID:      "provider-client-token",
		Name:    "client_token",
		Legend:  "Which token does your application hold?",
		Options: c.Client,
	}
}

func (c TokenChoice) upstream() ui.Group {
	return ui.Group{
		ID:      "provider-upstream-token",
		Name:    "upstream_token",
		Legend:  "Which token does the upstream get?",
		Options: c.Upstream,
		Error:   c.Error,
	}
}

// chosen reports whether one of the values is chosen, for browsers that cannot follow the choice.
func chosen(options []ui.Option, values ...string) bool {
	return slices.ContainsFunc(options, func(o ui.Option) bool { return o.Chosen && slices.Contains(values, o.Value) })
}

func words(list string) []string { return strings.Fields(list) }
