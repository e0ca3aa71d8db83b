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
	Host  string // with the path prefix
	Calls string // which it takes: its methods; "" for all
	Place string // version/environment
	State ui.Badge
}

// DomainAdd posts host, path_prefix, strip_prefix, methods and environment, an id, to Action.
type DomainAdd struct {
	Open         bool
	Action       string
	Host         ui.Value
	Calls        DomainCalls
	Environments []ui.Option
	Error        string
}

// DomainCalls are the fields of which calls a domain takes.
type DomainCalls struct {
	ID         string // that the ids of the fields begin with
	PathPrefix ui.Value
	Strip      bool
	Methods    ui.Group
}

// Domain is one custom domain with its TXT record.
type Domain struct {
	Page        ui.Page
	Host        string // with the path prefix
	Warnings    []string
	State       ui.Badge
	Facts       []ui.Fact
	RecordName  string
	RecordValue string
	Problem     string // "" where the last lookup found the record
	Manage      *DomainManage

	CertificateProblem string // why the last attempt to obtain a certificate failed; "" if it did not
	BackURL            string
}

// DomainManage has the forms of a custom domain. MoveAction takes the fields of DomainCalls, environment, an id, and
// revision.
type DomainManage struct {
	VerifyAction string
	VerifyText   string // of the button
	MoveAction   string
	Revision     string
	Calls        DomainCalls
	Environments []ui.Option
	Remove       ui.Confirmation
	Error        string
}
