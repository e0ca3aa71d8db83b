// Package tokens holds the pages on an account's access tokens.
//
// It owns the list with the form that creates one, and the page that shows a new
// token once. It does not own what scopes cover (access) nor the life of a token
// (the rules package tokens).
package tokens

import (
	"time"

	"postern/views/ui"
)

// List is the page of all tokens. Its form posts name, scopes and expires_at
// (YYYY-MM-DD, "" is 90 days) to the page's own URL.
type List struct {
	Page   ui.Page
	List   ui.List
	Rows   []Row
	Create Form
}

// Form is what the form holds.
type Form struct {
	Open        bool // shown at once, such as when a value is wrong
	Name        ui.Value
	Scopes      []ui.Option
	ScopesError string
	Expires     ui.Value
	Error       string
}

// Row is one token.
type Row struct {
	Name     string
	Display  string // what it can be recognized by
	Kind     string // in words
	Scopes   string
	Created  time.Time
	Expires  time.Time
	LastUsed time.Time
	UsedFrom string // IP address, "" if not known
	Revoke   string // the page that asks whether to revoke it
}

// Revoke asks whether a token is to be revoked.
type Revoke struct {
	Page    ui.Page
	Name    string
	Facts   []ui.Fact
	Confirm ui.Confirmation
	BackURL string
}

// Shown is the page of a new token.
type Shown struct {
	Page    ui.Page
	Heading string
	Token   string // "" after the first time
	Facts   []ui.Fact
}

func (f Form) scopes() ui.Group {
	return ui.Group{ID: "scope", Name: "scopes", Legend: "Scopes", Options: f.Scopes, Error: f.ScopesError,
		Hint: "The actions that the token allows, within your role on each team."}
}
