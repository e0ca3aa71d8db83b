package tenants

import "postern/views/ui"

// Groups lists a tenant's groups.
type Groups struct {
	Page   ui.Page
	Head   Head
	Rows   []GroupRow
	List   ui.List
	Create *GroupForm // nil for who may not
}

// GroupRow is one group in the list.
type GroupRow struct {
	URL         string
	Name        string
	DisplayName string
	Members     string // such as 3 users, 1 app
}

// GroupForm posts name, display_name and, of one there is, revision to Action.
type GroupForm struct {
	Open        bool
	Action      string
	Revision    string
	Name        ui.Value
	DisplayName ui.Value
	Error       string
}

// Group is the page of one group. What the viewer may not do is nil or "".
type Group struct {
	Page        ui.Page
	Name        string
	DisplayName string
	Members     []Member
	List        ui.List // of the members
	Add         *AddMember
	Owners      []GroupOwner
	OwnerList   ui.List
	AddOwner    *AddOwner
	Children    []Nested
	Parents     []ui.Link
	Nest        *Nest
	Change      *GroupForm
	Delete      *ui.Confirmation
	Error       string // about a member
}

// Member is an end user in a group.
type Member struct {
	ID           string
	URL          string
	Title        string
	Email        string
	State        ui.Badge
	Role         string
	RemoveAction string
}

// AddMember posts email to Action.
type AddMember struct {
	Action string
	Email  ui.Value
	Error  string
}

// GroupOwner is an app that owns keys and is in a group.
type GroupOwner struct {
	Name         string
	HasKeys      bool
	Role         string
	RemoveAction string
}

// detail is the role, and whether a rule can admit the app at all.
func (o GroupOwner) detail() string {
	if o.HasKeys {
		return o.Role
	}
	return o.Role + ", no keys in this tenant"
}

// AddOwner posts owner to Action.
type AddOwner struct {
	Action string
	Owner  ui.Value
	Error  string
}

// Nested is a group in a group.
type Nested struct {
	URL          string
	Text         string
	RemoveAction string
}

// Nest posts child (an id) to Action.
type Nest struct {
	Action string
	Groups []ui.Option
	Error  string
}
