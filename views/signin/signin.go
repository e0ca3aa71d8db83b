// Package signin holds the pages a person passes to get into the dashboard.
//
// It owns the pages to sign in and to sign up, here or with another issuer, the
// first-account page behind a one-time link, the page of an invitation, and the
// pages for links that no longer work. It does not own sessions, passwords or
// links (accounts).
package signin

import (
	"strconv"

	"postern/views/ui"
)

// SignIn asks for email address and password. It posts email, password and
// next to /signin.
type SignIn struct {
	Page      ui.Page
	Intro     string // why one is here, "" for the usual
	Fresh     bool   // the installation has no account yet
	Email     ui.Value
	Password  string // what is wrong with the password; never the password itself
	Next      string // path to go on to, "" for the projects list
	Error     string // what is wrong with the attempt as a whole
	Providers []Provider
	SignUpURL string // "" where no account can be made
}

func (m SignIn) intro() string {
	if m.Fresh && m.Intro == "" {
		return "No account exists yet."
	}
	if m.Intro == "" {
		return "Use your account on this installation."
	}
	return m.Intro
}

// Provider is an external identity provider to sign in with. Its button posts next to /signin/{ID}.
type Provider struct {
	ID   string
	Name string
}

// SignUp asks for a new account. It posts email, name, password and next to
// /signup.
type SignUp struct {
	Page              ui.Page
	Intro             string // what the account is for, "" for the usual
	Refusal           string // why no account can be made; the rest is empty then
	Email             ui.Value
	Name              ui.Value
	Password          string // what is wrong with the password; never the password itself
	MinPasswordLength int    // characters
	Next              string
	Error             string
	Providers         []Provider
	SignInURL         string
}

func (m SignUp) minLength() string { return strconv.Itoa(m.MinPasswordLength) }

// Leave goes on to another issuer.
type Leave struct {
	Page ui.Page
	Name string // of the issuer
	URL  string
}

// Invited is the page behind /invite/{code}.
type Invited struct {
	Page      ui.Page
	Refusal   string // why nothing can be joined; the rest is empty then
	Team      string
	Role      string
	RoleText  string // what the role may do
	Account   string // email of the signed-in account; "" without one
	Action    string // of the form that accepts
	SignInURL string
	SignUpURL string // "" where no account can be made
	Error     string
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

// Recovery asks for a new password.
type Recovery struct {
	Page              ui.Page
	Action            string // path of the one-time link itself
	Email             string // of the account
	Password          string // what is wrong with the password; never the password itself
	MinPasswordLength int    // characters
	Error             string
}

func (r Recovery) minLength() string { return strconv.Itoa(r.MinPasswordLength) }

// Forgotten asks for the address that a link for a new password is mailed to. It posts email to
// /recover.
type Forgotten struct {
	Page  ui.Page
	Mails bool // this installation sends mail; without it, an operator prints the link
	Sent  bool
	Email ui.Value
	Error string
}

// LinkOver says that a one-time link was used or has expired.
type LinkOver struct {
	Page ui.Page
	Used bool // false: it expired, or never existed
}
