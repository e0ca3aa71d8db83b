package projects

import (
	"cmp"

	"postern/views/ui"
)

// APIScopes lists what app clients can ask for at a project: its scopes and its audience.
type APIScopes struct {
	Page     ui.Page
	Rows     []APIScopeRow
	Create   *APIScopeForm // nil for viewers
	Audience APIAudience
	BackURL  string // of the project's login
}

// APIScopeRow is a scope in the list.
type APIScopeRow struct {
	Name        string
	Description string
	URL         string // of its page
}

// APIScopeForm posts name and description to Action.
type APIScopeForm struct {
	Open        bool
	Action      string
	Name        ui.Value
	Description ui.Value
	Error       string
}

// APIAudience posts revision and audience to Action, which is "" for viewers.
type APIAudience struct {
	Action   string
	Revision string
	Audience ui.Value
	Error    string
}

// APIScope is a scope with what can be done to it. What the viewer may not do is nil.
type APIScope struct {
	Page        ui.Page
	Name        string
	Description string
	Clients     []ui.Link // app clients that may ask for it
	MoreClients string    // such as "and 3 more", "" for none
	Edit        *APIScopeEdit
	Remove      *ui.Confirmation
	BackURL     string // of the list
}

// APIScopeEdit posts revision and description to Action.
type APIScopeEdit struct {
	Action      string
	Revision    string
	Description ui.Value
	Error       string
}

func descriptionField(id string, value ui.Value) ui.Field {
	return ui.Field{
		ID:           id,
		Name:         "description",
		Label:        "Description",
		Value:        value,
		Autocomplete: "off",
		Placeholder:  "see your orders",
		Hint:         "Completes the sentence “The application will be able to …” on the consent page.",
	}
}

func (m APIAudience) text() string { return cmp.Or(m.Audience.Text, "none") }
