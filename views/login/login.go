// Package login holds the pages on which the people of a customer sign in: the
// hosted login of an app client, in the client's colours.
//
// It owns the choice of a provider, the question whether somebody agrees, and what
// is said when a login fails. It does not own the dashboard's own sign-in
// (views/signin) nor what happens between the pages (login). They need no script.
package login

import "strconv"

// Shell is what every page needs.
type Shell struct {
	Title   string // of the document
	App     string // what the client calls itself; "" before it is known
	Welcome string
	LogoURL string
	Brand   string // path of a style sheet with the client's colour, "" for none
	Theme   string // "light", "dark", or "" for the system's
}

// Choose offers the providers.
type Choose struct {
	Shell  Shell
	Error  string // why the last attempt failed
	Offers []Offer
}

// Offer is one provider.
type Offer struct {
	Type  string
	Label string
	URL   string
}

// Consent asks somebody who is here for the first time.
type Consent struct {
	Shell    Shell
	Action   string // where both answers are posted
	Attempt  string
	Ticket   string // opaque, posted with the answer
	Name     string
	Email    string
	Provider string
	Site     string // whom the answer goes to
	Shares   []string
}

// Problem is a login that failed.
type Problem struct {
	Shell     Shell
	Status    int // HTTP
	Text      string
	Back      string // address of the application, "" where it is not known
	RequestID string
}

func (p Problem) status() string { return strconv.Itoa(p.Status) }

func (s Shell) heading() string {
	if s.App == "" {
		return "Sign in"
	}
	return "Sign in to " + s.App
}

// who is how a person is greeted: a provider may tell neither name nor address.
func (c Consent) who() string {
	switch {
	case c.Name != "" && c.Email != "":
		return c.Name + " (" + c.Email + ")"
	case c.Name != "":
		return c.Name
	case c.Email != "":
		return c.Email
	}
	return "somebody whom " + c.Provider + " knows"
}
