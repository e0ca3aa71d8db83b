package contract

import (
	"net/http"
	"strings"
	"time"
)

// DomainPath are the path parameters of a custom domain.
type DomainPath struct {
	ProjectPath
	Domain string `path:"domain" doc:"ID or host name. If several domains share the host name, the host name refers to the domain without a path prefix"`
}

// DomainOf returns the path parameters of a project's domain.
func DomainOf(project, domain string) DomainPath { return DomainPath{ProjectPath{project}, domain} }

// DomainAddress says which calls to a host name a custom domain handles.
type DomainAddress struct {
	Host        string   `json:"host" doc:"Host name in lowercase ASCII" example:"api.example.com"`
	PathPrefix  string   `json:"path_prefix" doc:"Path prefix that the domain matches, in whole segments, such as /orders. Empty for all paths"`
	StripPrefix bool     `json:"strip_prefix" doc:"True if the prefix is removed before rules are matched and calls are forwarded"`
	Methods     []string `json:"methods" doc:"HTTP methods that the domain matches, in alphabetical order. Empty for all methods"`
}

// Address returns the host name with the path prefix: api.example.com/orders.
func (a DomainAddress) Address() string { return a.Host + a.PathPrefix }

// Key identifies the address among those of a project: api.example.com/orders:GET,POST. It is unique within the
// project.
func (a DomainAddress) Key() string {
	if len(a.Methods) == 0 {
		return a.Address()
	}
	return a.Address() + ":" + strings.Join(a.Methods, ",")
}

// Domain is a custom domain: a host name by which callers reach an environment of a project, for all calls to it or for
// those with a path prefix and methods. All custom domains of a team that have the same host name share its proof.
type Domain struct {
	ID string `json:"id"`
	DomainAddress
	Version      string            `json:"version" doc:"Name"`
	Environment  string            `json:"environment" doc:"Name of the environment that the domain points to"`
	State        string            `json:"state" enum:"pending,verified,missing" doc:"pending: not served yet. missing: still served, but its TXT record has disappeared"`
	Record       DomainRecord      `json:"record" doc:"TXT record that proves that the team controls the domain" audit:"-"`
	Proof        *string           `json:"proof" doc:"How the domain was verified: dns or operator; null while pending"`
	VerifiedAt   *time.Time        `json:"verified_at" audit:"-"`
	CheckedAt    *time.Time        `json:"checked_at" doc:"When the record was last looked up" audit:"-"`
	MissingSince *time.Time        `json:"missing_since" doc:"When the record was first found missing; null while it exists" audit:"-"`
	Problem      *string           `json:"problem" doc:"Why the last lookup failed; null if it succeeded or if there was none"`
	Certificate  DomainCertificate `json:"certificate" doc:"TLS certificate of the domain" audit:"-"`
	Warnings     []Warning         `json:"warnings,omitempty" doc:"Settings that are allowed but may surprise you" audit:"-"`
	ETag         string            `json:"etag" doc:"Send as If-Match to update the domain" audit:"-"`
	CreatedAt    time.Time         `json:"created_at"`
}

// Tag returns the domain's ETag.
func (d Domain) Tag() string { return d.ETag }

// States of domains.
const (
	DomainPending  = "pending"  // not verified, and not served
	DomainVerified = "verified" // served
	DomainMissing  = "missing"  // served, but its TXT record has disappeared
)

// The values of Domain.Proof.
const (
	ProofDNS      = "dns"
	ProofOperator = "operator"
)

// DomainRecord is the DNS record that shows that a team controls a host name.
type DomainRecord struct {
	Name  string `json:"name" example:"_postern-challenge.api.example.com"`
	Type  string `json:"type" example:"TXT"`
	Value string `json:"value"`
}

// DomainCertificate is the certificate that callers get for a host name over TLS.
type DomainCertificate struct {
	State   string     `json:"state" enum:"none,ordered,valid,expired,failed" doc:"none: the gateway's own certificate is used. ordered: not issued yet. failed: the last attempt failed"`
	Source  *string    `json:"source" doc:"files (from the operator) or acme; null if there is no certificate"`
	EndsAt  *time.Time `json:"ends_at"`
	Problem *string    `json:"problem" doc:"Error of the last attempt to obtain or renew it; null if there was none"`
	RetryAt *time.Time `json:"retry_at" doc:"When the next attempt starts; null if there is no problem"`
}

// States of certificates.
const (
	NoCertificate      = "none"    // TLS callers get the gateway's own certificate
	OrderedCertificate = "ordered" // the ACME server has not issued the first one yet
	ValidCertificate   = "valid"   // callers get it
	ExpiredCertificate = "expired" // callers get it, and refuse it
	FailedCertificate  = "failed"  // there is none, since the last attempt to obtain it failed
)

// The values of DomainCertificate.Source.
const (
	CertificateFromFiles = "files" // from the operator
	CertificateFromACME  = "acme"
)

// DomainList is a request for a project's domains.
type DomainList struct {
	ProjectPath
	Page
	State string `query:"state" enum:"pending,verified,missing" doc:"Only domains in this state; missing means that the TXT record has disappeared"`
	Sort  string `query:"sort" enum:"host,-host,created,-created" doc:"Sort order. A leading - means descending. Defaults to host"`
	Text  string `query:"q" flag:"search" maxLength:"200" doc:"Text to find in the host name, ignoring case"`
}

// NewDomain is a custom domain to be created.
type NewDomain struct {
	Host        string   `json:"host" example:"api.example.com"`
	PathPrefix  string   `json:"path_prefix,omitempty" doc:"Match only this path and paths below it, such as /orders. Other custom domains can share the host name"`
	StripPrefix *bool    `json:"strip_prefix,omitempty" doc:"Remove the prefix before rules are matched and calls are forwarded. Defaults to true"`
	Methods     []string `json:"methods,omitempty" flag:"method" doc:"Match only calls with these methods. HEAD and OPTIONS match only if you list them. Defaults to all methods"`
	Version     string   `json:"version,omitempty" minLength:"1" doc:"Name or ID of the version. Required if several versions have an environment with the specified name"`
	Environment string   `json:"environment,omitempty" doc:"Name or ID of the environment that the domain points to. Defaults to prod"`
}

// DomainCreation is a request for a new domain.
type DomainCreation struct {
	ProjectPath
	Body NewDomain
}

// DomainChange routes a domain to another environment, or changes which calls it matches. Its host name can't be
// changed.
type DomainChange struct {
	PathPrefix  *string   `json:"path_prefix,omitempty" doc:"Match only this path and paths below it; an empty value matches all paths" help:"Match only this path and paths below it; use \"\" for all paths"`
	StripPrefix *bool     `json:"strip_prefix,omitempty" doc:"Remove the prefix before rules are matched and calls are forwarded"`
	Methods     *[]string `json:"methods,omitempty" flag:"method" doc:"Match only calls with these methods; an empty list matches all methods" help:"Match only calls with these methods; use \"\" for all methods"`
	Version     *string   `json:"version,omitempty" minLength:"1" doc:"Name or ID of the version. Required if several versions have an environment with the specified name"`
	Environment *string   `json:"environment,omitempty" doc:"Name or ID of the environment that the domain will point to. If you change only the version, Postern uses the new version's environment with the same name"`
}

// DomainUpdate is a request to change a domain.
type DomainUpdate struct {
	DomainPath
	Condition
	Body DomainChange
}

// DomainApproval is an operator's view of a domain, which may belong to another team. It applies to all of the team's
// custom domains with the host name.
type DomainApproval struct {
	ID      string  `json:"id"`
	Host    string  `json:"host"`
	Project string  `json:"project" doc:"Name"`
	State   string  `json:"state" enum:"pending,verified,missing"`
	Proof   *string `json:"proof" doc:"How the domain was verified: dns or operator; null while pending"`
}

const (
	domains = project + "/domains"
	domain  = domains + "/{domain}"
)

// The operations on custom domains.
var (
	ListDomains = &Op[DomainList, List[Domain]]{Operation{
		ID: "list-domains", Method: http.MethodGet, Path: domains, Summary: "List a project's custom domains",
		Command: "domains list PROJECT",
		Example: "domains list shop --state pending", Permission: ReadProjects,
		Doc: "Lists the custom domains of the project's environments, in alphabetical order.",
	}}
	CreateDomain = &Op[DomainCreation, Domain]{Operation{
		ID: "create-domain", Method: http.MethodPost, Path: domains, Status: http.StatusCreated,
		Summary: "Add a custom domain to an environment", Command: "domains create PROJECT HOST",
		Example:    "domains create shop api.example.com --version 2.0.0 --environment prod",
		Permission: ChangeDomains,
		Doc: "The response includes the TXT record that proves that you control the domain. Add the record at your " +
			"DNS provider, and then verify the domain. A team's custom domains can share a host name if they have " +
			"different path prefixes or methods. They also share the TXT record, so the new domain is verified if " +
			"the host name already is.",
	}}
	GetDomain = &Op[DomainPath, Domain]{Operation{
		ID: "get-domain", Method: http.MethodGet, Path: domain, Summary: "Get a custom domain",
		Command: "domains show PROJECT DOMAIN", Permission: ReadProjects,
		Doc: "Returns the domain's state, TXT record and certificate.",
	}}
	UpdateDomain = &Op[DomainUpdate, Domain]{Operation{
		ID: "update-domain", Method: http.MethodPatch, Path: domain, Permission: ChangeDomains,
		Summary: "Update a custom domain", Command: "domains update PROJECT DOMAIN",
		Example: "domains update shop api.example.com --version 2.0.0",
		Doc: "Points the domain to another environment, or changes which calls it matches. The change takes effect " +
			"within a second.",
	}}
	VerifyDomain = &Op[DomainPath, Domain]{Operation{
		ID: "verify-domain", Method: http.MethodPost, Path: domain + "/verify", Permission: ChangeDomains,
		Summary: "Verify a custom domain with its TXT record", Command: "domains verify PROJECT DOMAIN",
		Example: "domains verify shop api.example.com",
		Doc: "Looks up the TXT record immediately. Once verified, the domain is served within a second, and so are " +
			"the team's other custom domains with the same host name.",
	}}
	DeleteDomain = &Op[DomainPath, None]{Operation{
		ID: "delete-domain", Method: http.MethodDelete, Deletes: "custom domain",
		Path: domain, Status: http.StatusNoContent,
		Summary: "Delete a custom domain", Command: "domains delete PROJECT DOMAIN",
		Permission: ChangeDomains,
		Doc: "Calls to the domain get 404, unless another custom domain with the same host name matches them. The " +
			"certificate is deleted with the last custom domain that uses the host name.",
	}}
	ApproveDomain = &Op[DomainPath, DomainApproval]{Operation{
		ID: "approve-domain", Method: http.MethodPut, Path: domain + "/approval", Permission: ApproveDomains,
		Summary: "Verify a custom domain without a TXT record (operators only)",
		Command: "domains approve PROJECT DOMAIN",
		Example: "domains approve shop api.corp.example",
		Doc: "Marks the domain's host name as verified. Use it for names that aren't in public DNS. Works for " +
			"domains of any team.",
	}}
	DisapproveDomain = &Op[DomainPath, DomainApproval]{Operation{
		ID: "disapprove-domain", Method: http.MethodDelete, Path: domain + "/approval", Permission: ApproveDomains,
		Summary: "Withdraw the verification of a custom domain (operators only)",
		Doc:     "The domain isn't served until its TXT record is found.",
	}}
)

var domainOperations = []Described{
	ListDomains, CreateDomain, GetDomain, UpdateDomain, VerifyDomain, DeleteDomain, ApproveDomain, DisapproveDomain,
}
