package projects

import "postern/views/ui"

// Users lists the end users of the tenants that a project serves.
type Users struct {
	Page      ui.Page
	Head      Head
	List      ui.List
	Rows      []ui.UserRow
	TenantURL string // of the list of the only tenant's users; "" with several
	Unlisted  bool   // there are more tenants than the filter offers
	Offered   int    // how many it offers at most

	AsksTenant bool // no tenant is chosen, which is required if Unlisted is set
}

// tenantsURL is the URL of the tenants that the project serves.
func (h Head) tenantsURL() string { return "/projects/" + h.Name + "/tenants" }
