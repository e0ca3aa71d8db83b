// Package search has the page that finds things by their name, and that of the shortcuts.
package search

import "postern/views/ui"

// Search is the page, and the dialog that Ctrl K opens. It posts q, which can be a whole key
// and is therefore in no address, and project to /search.
type Search struct {
	Page    ui.Page
	Text    string
	Project string // name of the one from which the search was opened, "" for none
	Groups  []Group
	Said    string // how many were found
}

// Group is what was found of one kind.
type Group struct {
	ID    string
	Title string
	Found []Found
}

// Found is a page to go to.
type Found struct {
	URL   string
	Text  string
	Note  string
	State *ui.Badge // nil for none
}

// Shortcuts is the page that lists the keys.
type Shortcuts struct {
	Page ui.Page
	Rows []Shortcut
}

// Shortcut is what keys do, pressed together.
type Shortcut struct {
	Keys []string
	Text string
}
