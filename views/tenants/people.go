package tenants

import (
	"time"

	"postern/views/ui"
)

// Users lists a tenant's end users. What the viewer may not do is nil.
type Users struct {
	Page   ui.Page
	Head   Head
	Rows   []ui.UserRow
	List   ui.List
	Invite *Invite
}

// Invite posts email, name and groups (ids) to Action.
type Invite struct {
	Open   bool
	Action string
	Email  ui.Value
	Name   ui.Value
	Groups []ui.Option
	Error  string
}

// User is the page of one end user. What the viewer may not do is nil or "".
type User struct {
	Page           ui.Page
	Title          string
	State          ui.Badge
	Facts          []ui.Fact
	Identities     []Identity
	Sessions       []Session
	List           ui.List // of sessions
	EndAllAction   string  // "" where there is nothing that the viewer may end
	Consents       []Consent
	Groups         []Membership
	Join           *Join
	Change         *UserChange
	Invitation     *Invitation
	FreezeAction   string // one of these two
	UnfreezeAction string
	Delete         *ui.Confirmation
	Error          string
}

// Invitation posts app_client (an id) to Action, which creates an invitation link.
type Invitation struct {
	Action   string
	Clients  []ui.Option
	Setup    []ui.Link // without clients: the pages on which one can be created
	Link     string    // of a new one, which is shown once
	LinkGone bool      // it was shown before
}

// Identity is an end user's identity at a provider.
type Identity struct {
	Issuer, Subject string
	Since           time.Time
}

// Session is a sign-in of an end user at an app client. It posts to Action.
type Session struct {
	Application string
	Since       time.Time
	Detail      string // how, such as "with Google · Firefox on macOS"
	Action      string
}

// Consent is what an end user shares with an app client. It posts to Action.
type Consent struct {
	Application string
	Since       time.Time
	Detail      string // the scopes
	Action      string
}

// Membership is a group that an end user is in.
type Membership struct {
	ID          string
	URL         string
	Name        string
	DisplayName string
	Role        string // "" where it is through another group
	LeaveAction string
}

// Join posts group (an id) to Action.
type Join struct {
	Action string
	Groups []ui.Option
}

// UserChange posts revision, email and name to Action.
type UserChange struct {
	Action   string
	Revision string
	Email    ui.Value
	Name     ui.Value
	Error    string
}

// Signup is who may sign in to a tenant for the first time. What the viewer may not do is nil or "".
type Signup struct {
	Page       ui.Page
	Head       Head
	InviteOnly bool
	Action     string
	List       ui.List
	Approvals  []Approval
	Approve    *Approve
}

// Approval lets people sign up by their address or its domain.
type Approval struct {
	ID        string
	Value     string
	Kind      string
	Groups    string
	Since     time.Time
	EndAction string
}

// Approve posts value and groups (ids) to Action.
type Approve struct {
	Action string
	Value  ui.Value
	Groups []ui.Option
	Error  string
}
