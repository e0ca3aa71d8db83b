package projects

import "postern/views/ui"

// Keys is the section on API keys, with the form that makes one: it posts
// owner, key_type, environment ("" is all), expires_on (YYYY-MM-DD, "" is the
// type's default) and description to Action.
type Keys struct {
	Action string
	Rows   []KeyRow
	Total  string // such as "12,480 keys", "" while there are none
	Create KeyForm

	OlderURL string // the next page of the table, "" on the last
}

// KeyForm is what the form holds.
type KeyForm struct {
	Open         bool // shown at once, such as when a value is wrong
	Owner        ui.Value
	Types        []ui.Option
	Environments []ui.Option
	Expires      ui.Value
	Description  ui.Value
	TypeError    string
	EnvError     string
	Error        string
}

// KeyRow is one key in the table.
type KeyRow struct {
	ID          string
	URL         string // of the key's page
	Owner       string
	Type        string
	Environment string
	State       ui.Badge
	Created     string
	Expires     string
	Display     string // prefix, dots, last four characters
}

// Key is one key with what can be done to it.
type Key struct {
	Page    ui.Page
	Owner   string
	Display string
	State   ui.Badge
	Facts   []ui.Fact
	BackURL string
	Error   string

	HistoryURL     string  // of the audit log
	Rotate         *Rotate // nil when the state does not allow it, as with the others
	FreezeAction   string
	UnfreezeAction string
	Revoke         *Revoke
}

// Rotate posts grace_seconds to Action.
type Rotate struct {
	Action string
	Grace  []ui.Option
	Error  string
}

// Revoke posts confirm (true) to Action.
type Revoke struct {
	Action string
	Error  string
}

// Shown is a new secret, on the only page that ever shows it.
type Shown struct {
	Page    ui.Page
	Heading string // "Key created" or "Key rotated"
	Text    string // such as until when the old secret works
	Key     string
	Facts   []ui.Fact
	Curl    string
	BackURL string
}
