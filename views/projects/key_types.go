package projects

import "postern/views/ui"

// KeyTypes lists a project's key types and creates more of them.
type KeyTypes struct {
	Page     ui.Page
	Warnings []string     // about those that rules refuse
	Create   *KeyTypeForm // nil for viewers
	Rows     []KeyTypeRow
	BackURL  string // of the project
}

// KeyTypeRow is a key type in the list.
type KeyTypeRow struct {
	Name     string
	URL      string // of its page
	KeysURL  string // lists the keys of the type
	Scopes   string
	Lifetime string // such as 90 days
	Limits   string // such as 10 per second
	BuiltIn  bool
}

// KeyType is a key type with what can be done to it.
type KeyType struct {
	Page    ui.Page
	Name    string
	Facts   []ui.Fact
	KeysURL string
	Edit    *KeyTypeForm // nil for one that is built in, which cannot be changed
	Delete  *ui.Confirmation
	Error   string
	BackURL string // of the list
}

// KeyTypeForm posts name (when it makes one), revision (when it changes one), scopes,
// expires_in and limits_ with each window to Action.
type KeyTypeForm struct {
	Open     bool
	Action   string
	Revision string
	Name     ui.Value
	Scopes   ui.Value
	Days     ui.Value
	Windows  []ui.Limit
	Error    string
}

// id is that of a field: a dialog over the form that creates a key type has the one that changes it.
func (m KeyTypeForm) id(field string) string {
	if m.Revision != "" {
		return "changed-type-" + field
	}
	return "type-" + field
}
