package ui

import "cmp"

// ConfirmationView is the content of a page that confirms a removal.
type ConfirmationView struct {
	Page    Page
	Title   string // such as "Remove Ana from the team"
	Facts   []Fact // which one it is
	Confirm Confirmation
	BackURL string
	Back    string // label of the link to it; "" for Cancel
}

func (m ConfirmationView) back() string { return cmp.Or(m.Back, "Cancel") }
