// Package account holds the pages of a person's own account.
//
// It owns the pages of the password, of the places where the account is signed
// in, and of the issuers it can sign in with; it does not own sessions, passwords
// or identities (accounts).
package account

import (
	"strconv"
	"time"

	"postern/views/ui"
)

// Tab is the path of a page of the account.
type Tab string

// The tabs.
const (
	TabProfile  Tab = "/account"
	TabPassword Tab = "/account/password"
	TabSessions Tab = "/account/sessions"
	TabLinked   Tab = "/account/signins"
	TabDelete   Tab = "/account/delete"
)

// Profile changes the name and the email address.
type Profile struct {
	Page          ui.Page
	Name          ui.Value
	Email         ui.Value
	Unconfirmed   string // new address whose link has not been opened yet, "" for none
	Mails         bool   // whether a new address is confirmed by mail
	Has           bool   // a password, which a new address needs
	PasswordError string
	Error         string
}

func (m Profile) emailHint() string {
	switch {
	case m.Unconfirmed != "":
		return "A link was sent to " + m.Unconfirmed + ". Open it within an hour to confirm the address."
	case m.Mails:
		return "If you enter a new address, Postern sends a link to it. The change takes effect when you open the link."
	}
	return "You sign in with this address."
}

// Confirmation asks whether to use a new email address.
type Confirmation struct {
	Page   ui.Page
	Action string
	Email  string
	Error  string
}

// Deletion asks before the account is deleted.
type Deletion struct {
	Page          ui.Page
	Teams         []string  // that the account leaves
	Obstacle      ui.Notice // why it cannot be deleted yet, without a text if it can
	Has           bool      // a password, which has to be given
	Typed         ui.Value  // the email address
	PasswordError string
	Error         string
}

// Password changes the password, or sets the first.
type Password struct {
	Page              ui.Page
	Has               bool // whether there is one already
	MinPasswordLength int  // characters
	RevokeTokens      bool // what the box holds
	OldError          string
	NewError          string
	Error             string
}

func (m Password) minLength() string { return strconv.Itoa(m.MinPasswordLength) }

// Sessions is where the account is signed in.
type Sessions struct {
	Page     ui.Page
	List     ui.List
	Sessions []Session
}

// Session is one place.
type Session struct {
	ID        string
	Name      string // browser and system
	From      string // the address
	Seen      time.Time
	Current   bool
	EndAction string
}

// Linked is who else vouches for the account.
type Linked struct {
	Page     ui.Page
	Password bool // whether it has one
	Links    []Link
	Offers   []Offer
	Error    string
}

// Link is an identity that signs in to the account.
type Link struct {
	ID           string
	Name         string // of the issuer
	Email        string
	Seen         time.Time
	UnlinkAction string
}

// Offer is an issuer that can be linked.
type Offer struct {
	Name   string
	Action string
}
