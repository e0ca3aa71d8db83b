package projects

import "postern/views/ui"

// Domains is the custom host names of a project.
type Domains struct {
	Page ui.Page
	Head Head
	List ui.List
	Rows []DomainRow
	Add  *DomainAdd // nil for viewers
	Note string     // on why there is no form, "" where there is one
}

// DomainRow is a host name, where it leads, and whether it is served.
type DomainRow struct {
	URL   string // of its page
	Host  string
	Place string // version/environment
	State ui.Badge
}

// DomainAdd posts host and environment, an id, to Action.
type DomainAdd struct {
	Open         bool
	Action       string
	Host         ui.Value
	Environments []ui.Option
	Error        string
}

// Domain is one host name with its TXT record.
type Domain struct {
	Page        ui.Page
	Host        string
	State       ui.Badge
	Facts       []ui.Fact
	RecordName  string
	RecordValue string
	Problem     string // "" where the last lookup found the record
	Manage      *DomainManage

	CertificateProblem string // why the last attempt to obtain a certificate failed; "" if it did not
	BackURL            string
}

// DomainManage has the forms of a host name. MoveAction takes environment, an id, and
// revision.
type DomainManage struct {
	VerifyAction string
	VerifyText   string // of the button
	MoveAction   string
	Revision     string
	Environments []ui.Option
	Remove       ui.Confirmation
	Error        string
}
