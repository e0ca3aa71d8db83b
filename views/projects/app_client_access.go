package projects

import "postern/views/ui"

// ClientAccess posts revision, grant_types and api_scopes to Action: how an app client gets
// tokens, and for what.
type ClientAccess struct {
	Action    string
	Revision  string
	Grants    []ui.Option
	Grant     string // what is wrong with the choice
	Scopes    ui.Value
	Declared  []ui.Fact // API scopes that it can be allowed, with their descriptions
	ScopesURL string    // of the project's API scopes
	Error     string
}

func (m ClientAccess) grants() ui.Group {
	return ui.Group{
		ID:      "client-grants",
		Name:    "grant_types",
		Legend:  "Grant types",
		Options: m.Grants,
		Error:   m.Grant,
	}
}

// ClientFreeze posts to Action, which freezes or unfreezes the app client.
type ClientFreeze struct {
	Action string
	Frozen bool
}

func (m ClientFreeze) title() string {
	if m.Frozen {
		return "Unfreeze"
	}
	return "Freeze"
}

// ClientKeys lists the published signing keys of an app client, and posts to Action, which
// adds one.
type ClientKeys struct {
	Action string
	Rows   []SigningKeyRow // without states
	Error  string
}
