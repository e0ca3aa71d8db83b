// Package team holds the pages about teams and the people in them.
//
// It owns the list of one's teams and the page of one team with its members and
// invitations; it does not own who may do what (access), which the models say by
// leaving the form out.
package team

import (
	"time"

	"postern/views/ui"
)

// List is every team of an account.
type List struct {
	Page  ui.Page
	List  ui.List
	Teams []Card
	Name  ui.Value // of the form that creates one
	Error string
}

// Card is one team in the list.
type Card struct {
	URL  string
	Name string
	Role ui.Badge
}

// Team is the page of one team. What the viewer may not do is not there.
type Team struct {
	Page        ui.Page
	Name        string
	Role        ui.Badge
	Members     []Member
	List        ui.List // of the members
	Error       string  // about a member
	Rename      *Rename
	Invitations *Invitations
	Leave       ui.Confirmation
	Erase       *ui.Confirmation // for owners
	Kept        string           // why it cannot be deleted yet, for owners
}

// roles are those that another member can be given; nil where there is no other.
func (t Team) roles() []ui.Option {
	for _, m := range t.Members {
		if m.RoleAction != "" && !m.Self {
			return m.Roles
		}
	}
	return nil
}

// Member is a row of the people. Without RoleAction it cannot be changed.
type Member struct {
	ID           string // of the account
	Name         string
	Email        string
	Role         string
	Joined       time.Time
	Self         bool
	Revision     string
	Roles        []ui.Option
	RoleAction   string
	RemoveAction string
}

// Rename changes the team's name.
type Rename struct {
	Action   string
	Revision string
	Name     ui.Value
	Error    string
}

// Invitations is the open ones and the form of another.
type Invitations struct {
	List        ui.List
	Action      string
	Roles       []ui.Option
	ProvesEmail bool // whether an invitation can be bound to an address
	Mails       bool // one with an address is mailed there
	Email       ui.Value
	Error       string
	Link        string // of the invitation that was just created, shown this once
	LinkGone    bool   // it has been shown before
	Rows        []Invitation
}

// Invitation is one that can still be accepted.
type Invitation struct {
	ID           string
	For          string
	Role         string
	Ends         time.Time
	RevokeAction string
}
