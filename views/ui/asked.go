package ui

import "cmp"

// Asked is what a page says about something before it is taken away.
type Asked struct {
	Page    Page
	Title   string // such as "Remove Ana from the team"
	Facts   []Fact // which one it is
	Confirm Confirmation
	BackURL string
	Back    string // label of the link to it; "" for Cancel
}

func (m Asked) back() string { return cmp.Or(m.Back, "Cancel") }
