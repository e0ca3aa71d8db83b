package projects

import "postern/views/ui"

// Limits posts revision and the fields of its rows to Action. With do it is not saved: the page
// shows the form with what that asks for.
type Limits struct {
	Action   string
	Revision string
	Rows     []LimitRow
	Presets  []ui.Option // usual limits; Value is that of do
	Error    string
}

// LimitRow posts limit_calls, limit_window and limit_of.
type LimitRow struct {
	ID       string
	Number   string // place in the form, from 1
	Calls    string
	Windows  []ui.Option
	Subjects []ui.Option // whose calls are counted
	New      bool        // it was added a moment ago, and gets the focus
	Error    string
}

// Product posts revision, in_product (a name, "" for none) and new_product to Action.
type Product struct {
	Action   string
	Revision string
	Choices  []ui.Option
	Choice   string // what is wrong with it
	New      ui.Value
	Error    string
}

// Ranges posts revision, ip_allow and ip_deny, each one address range a line, to
// Action.
type Ranges struct {
	Action   string
	Revision string
	Allow    ui.Value
	Deny     ui.Value
	Error    string
}
