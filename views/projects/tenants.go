package projects

import "postern/views/ui"

// Tenants is which tenants a project serves.
type Tenants struct {
	Page ui.Page
	Head Head
	List ui.List
	Rows []TenantRow
	Add  *TenantAdd // nil for who may not
}

// TenantRow is a tenant that the project serves.
type TenantRow struct {
	URL           string // of the tenant's own page
	Name          string
	DisplayName   string
	FallbackOwner string    // "" for the project's
	OtherProjects []ui.Link // the other projects that serve it
	Own           bool      // the project's own, which stays
	DetachURL     string    // "" where it cannot be
}

// TenantAdd posts tenant, the name of one there is, or name, display_name and
// fallback_owner of a new one to Action.
type TenantAdd struct {
	Open          bool
	Action        string
	Attachable    []ui.Option // those of the team that the project does not serve
	Name          ui.Value
	DisplayName   ui.Value
	FallbackOwner ui.Value
	Error         string
}

// Detach asks to confirm that a project stops serving a tenant.
type Detach struct {
	Page    ui.Page
	Tenant  string
	Project string
	Facts   []ui.Fact
	Confirm *ui.Confirmation // nil for viewers
	BackURL string
}
