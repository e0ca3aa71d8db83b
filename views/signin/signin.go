// Package signin holds the pages a person passes to get into the dashboard.
//
// It owns the sign-in page, the first-account page behind a one-time link, and
// the page for a link that no longer works. It does not own sessions, passwords
// or links (accounts).
package signin

import (
	"strconv"

	"postern/views/ui"
)

// SignIn asks for e-mail address and password. It posts email, password and
// next to /signin.
type SignIn struct {
	Page     ui.Page
	Email    ui.Value
	Password string // what is wrong with the password; never the password itself
	Next     string // path to go on to, "" for the projects list
	Error    string // what is wrong with the attempt as a whole
}

// Welcome makes the first local account behind a one-time link. It posts email,
// name and password to Action.
type Welcome struct {
	Page              ui.Page
	Action            string // path of the one-time link itself
	Email             ui.Value
	Name              ui.Value
	Password          string // what is wrong with the password; never the password itself
	MinPasswordLength int    // characters
	Error             string
}

func (w Welcome) minLength() string { return strconv.Itoa(w.MinPasswordLength) }

// LinkOver says that a one-time link was used or has expired.
type LinkOver struct {
	Page ui.Page
	Used bool // false: it expired, or never existed
}
