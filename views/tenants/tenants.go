// Package tenants holds the pages about tenants and their people.
//
// It owns a team's list of tenants and the pages of one: its settings, users,
// groups and who may come in. It does not own which tenants a project serves
// (views/projects) nor who may do what, which the models say by leaving a form out.
package tenants

import (
	"time"

	"postern/views/ui"
)

// List is every tenant of a team and of its projects.
type List struct {
	Page   ui.Page
	Rows   []Row
	List   ui.List
	Create *Create // nil for who may not
}

// Row is one tenant in the list.
type Row struct {
	URL           string
	Name          string
	DisplayName   string
	FallbackOwner string // "" for the project's
	Created       time.Time
	Projects      []ui.Link
}

// Create posts team, name, display_name and fallback_owner to Action.
type Create struct {
	Open          bool
	Action        string
	Team          string // id
	Name          ui.Value
	DisplayName   ui.Value
	FallbackOwner ui.Value
	Error         string
}

// Head names the tenant above its pages.
type Head struct {
	Name        string
	DisplayName string
	Tabs        []ui.Tab
}

// Settings is what can be set of a tenant. What the viewer may not do is nil.
type Settings struct {
	Page     ui.Page
	Head     Head
	Facts    []ui.Fact
	Projects []ui.Link // that serve it
	Attach   *Attach   // nil for those who may not, and of a project's own tenant
	Change   *Change
	CORS     ui.CORS          // without an action for viewers
	Delete   *ui.Confirmation // nil for those who may not, and of a project's own tenant
}

// Attach posts project to Action.
type Attach struct {
	Action     string
	Projects   []ui.Option // that don't serve the tenant yet
	Truncated  bool        // there are more
	NewProject string      // the page that creates one, if the team doesn't have any
	Error      string
}

// Change posts revision, display_name and fallback_owner to Action.
type Change struct {
	Action        string
	Revision      string
	DisplayName   ui.Value
	FallbackOwner ui.Value
	Error         string
}
