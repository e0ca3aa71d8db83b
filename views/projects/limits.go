package projects

import "postern/views/ui"

// Limits posts revision and one field for each row and window, such as key.minute,
// to Action; an empty one is no limit.
type Limits struct {
	Action   string
	Revision string
	Windows  []string // titles of the columns
	Rows     []LimitRow
	Error    string
}

// LimitRow is what is counted by itself.
type LimitRow struct {
	ID    string
	Title string // such as "Each key"
	Text  string // which calls it counts
	Cells []LimitCell
}

// LimitCell is how many calls one window admits.
type LimitCell struct {
	ID     string
	Name   string // in the form
	Window string
	Calls  ui.Value
}

// mistakes are the cells with something wrong.
func (r LimitRow) mistakes() (wrong []LimitCell) {
	for _, c := range r.Cells {
		if c.Calls.Error != "" {
			wrong = append(wrong, c)
		}
	}
	return wrong
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
