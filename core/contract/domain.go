package contract

import (
	"net/http"
	"time"
)

// DomainPath are the path parameters of a custom domain.
type DomainPath struct {
	ProjectPath
	Domain string `path:"domain" doc:"Host name or id"`
}

// DomainOf returns the path parameters of a project's domain.
func DomainOf(project, domain string) DomainPath { return DomainPath{ProjectPath{project}, domain} }

// Domain is a custom domain: a host name by which callers reach an environment of a project.
type Domain struct {
	ID           string            `json:"id"`
	Host         string            `json:"host" doc:"In lower-case ASCII" example:"api.example.com"`
	Version      string            `json:"version" doc:"Name"`
	Environment  string            `json:"environment" doc:"Name of the environment that the host name leads to"`
	State        string            `json:"state" enum:"pending,verified,missing" doc:"pending: not served yet. missing: served, but its TXT record has disappeared"`
	Record       DomainRecord      `json:"record" doc:"TXT record that shows that the team controls the name" audit:"-"`
	Proof        *string           `json:"proof" doc:"dns or operator; null while pending"`
	VerifiedAt   *time.Time        `json:"verified_at" audit:"-"`
	CheckedAt    *time.Time        `json:"checked_at" doc:"When the record was last looked up" audit:"-"`
	MissingSince *time.Time        `json:"missing_since" doc:"When the record was first not found; null while it is there" audit:"-"`
	Problem      *string           `json:"problem" doc:"Why the last lookup found no proof; null: it did, or there was none"`
	Certificate  DomainCertificate `json:"certificate" doc:"What callers by TLS get for the host name" audit:"-"`
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

// DomainCertificate is the certificate that callers by TLS get for a host name.
type DomainCertificate struct {
	State   string     `json:"state" enum:"none,ordered,valid,expired,failed" doc:"none: the gateway presents its own certificate. ordered: the ACME server has not issued the first one yet. failed: there is none, and the last attempt failed"`
	Source  *string    `json:"source" doc:"files (of the operator) or acme; null for none"`
	EndsAt  *time.Time `json:"ends_at"`
	Problem *string    `json:"problem" doc:"Why the last attempt to obtain or renew it failed; null: it did not"`
	RetryAt *time.Time `json:"retry_at" doc:"When it is tried again; null without a problem"`
}

// States of certificates.
const (
	NoCertificate      = "none"    // the gateway presents its own to callers by TLS
	OrderedCertificate = "ordered" // the ACME server has not issued the first one yet
	ValidCertificate   = "valid"   // callers get it
	ExpiredCertificate = "expired" // callers get it, and refuse it
	FailedCertificate  = "failed"  // there is none, since the last attempt to obtain it failed
)

// The values of DomainCertificate.Source.
const (
	CertificateFromFiles = "files" // of the operator
	CertificateFromACME  = "acme"
)

// DomainList is a request for a project's domains.
type DomainList struct {
	ProjectPath
	Page
	State string `query:"state" enum:"pending,verified,missing" doc:"Only domains in this state; missing: the TXT record has disappeared"`
	Sort  string `query:"sort" enum:"host,-host,created,-created" doc:"Order; - begins at the end; default: host"`
	Text  string `query:"q" flag:"search" maxLength:"200" doc:"Part of the host name, ignoring case"`
}

// NewDomain is a custom domain to be created.
type NewDomain struct {
	Host        string `json:"host" example:"api.example.com"`
	Version     string `json:"version,omitempty" minLength:"1" doc:"Name or id; needed where several versions have an environment of that name"`
	Environment string `json:"environment,omitempty" doc:"Name or id of the environment that the host name leads to; default: prod"`
}

// DomainCreation is a request for a new domain.
type DomainCreation struct {
	ProjectPath
	Body NewDomain
}

// DomainChange leads a domain to another environment.
type DomainChange struct {
	Version     *string `json:"version,omitempty" minLength:"1" doc:"Name or id; needed where several versions have an environment of that name"`
	Environment *string `json:"environment,omitempty" doc:"Name or id of the environment that the host name leads to from now on; default: the one with the same name"`
}

// DomainUpdate is a request to change a domain.
type DomainUpdate struct {
	DomainPath
	Condition
	Body DomainChange
}

// DomainApproval is what an operator sees of a domain that may be another team's.
type DomainApproval struct {
	ID      string  `json:"id"`
	Host    string  `json:"host"`
	Project string  `json:"project" doc:"Name"`
	State   string  `json:"state" enum:"pending,verified,missing"`
	Proof   *string `json:"proof" doc:"dns or operator; null while pending"`
}

const (
	domains = project + "/domains"
	domain  = domains + "/{domain}"
)

// The operations on custom domains.
var (
	ListDomains = Op[DomainList, List[Domain]]{Operation{
		ID: "list-domains", Method: http.MethodGet, Path: domains, Summary: "List a project's custom domains",
		Command: "domains list PROJECT", Permission: ReadProjects,
		Doc: "Lists the custom domains of the project's environments, newest first.",
	}}
	CreateDomain = Op[DomainCreation, Domain]{Operation{
		ID: "create-domain", Method: http.MethodPost, Path: domains, Status: http.StatusCreated,
		Summary: "Add a custom domain to an environment", Command: "domains create PROJECT HOST",
		Example:    "domains create shop api.example.com --version 2.0.0 --environment prod",
		Permission: ChangeDomains,
		Doc: "The answer has the TXT record that proves that the domain is yours. Add it at your DNS provider, " +
			"then verify the domain.",
	}}
	GetDomain = Op[DomainPath, Domain]{Operation{
		ID: "get-domain", Method: http.MethodGet, Path: domain, Summary: "Get a custom domain",
		Command: "domains show PROJECT DOMAIN", Permission: ReadProjects,
		Doc: "Has the state of the domain, its TXT record and its certificate.",
	}}
	UpdateDomain = Op[DomainUpdate, Domain]{Operation{
		ID: "update-domain", Method: http.MethodPatch, Path: domain, Permission: ChangeDomains,
		Summary: "Lead a custom domain to another environment", Command: "domains update PROJECT DOMAIN",
		Example: "domains update shop api.example.com --version 2.0.0",
		Doc:     "Calls to the domain go to the other environment within a second.",
	}}
	VerifyDomain = Op[DomainPath, Domain]{Operation{
		ID: "verify-domain", Method: http.MethodPost, Path: domain + "/verify", Permission: ChangeDomains,
		Summary: "Verify a custom domain by its TXT record", Command: "domains verify PROJECT DOMAIN",
		Example: "domains verify shop api.example.com",
		Doc:     "Looks the TXT record up now. A domain that is verified is served within a second.",
	}}
	DeleteDomain = Op[DomainPath, None]{Operation{
		ID: "delete-domain", Method: http.MethodDelete, Path: domain, Status: http.StatusNoContent,
		Summary: "Delete a custom domain; calls to it get 404", Command: "domains delete PROJECT DOMAIN",
		Permission: ChangeDomains,
		Doc:        "The gateway no longer answers at the domain. Its certificate is deleted.",
	}}
	ApproveDomain = Op[DomainPath, DomainApproval]{Operation{
		ID: "approve-domain", Method: http.MethodPut, Path: domain + "/approval", Permission: ApproveDomains,
		Summary: "Verify a custom domain without a TXT record (operators)", Command: "domains approve PROJECT DOMAIN",
		Example: "domains approve shop api.corp.example",
		Doc:     "For operators of the installation: the domain counts as verified without a TXT record.",
	}}
	DisapproveDomain = Op[DomainPath, DomainApproval]{Operation{
		ID: "disapprove-domain", Method: http.MethodDelete, Path: domain + "/approval", Permission: ApproveDomains,
		Summary: "End the verification of a custom domain (operators)",
		Doc:     "For operators of the installation: the domain is not served until its TXT record is found.",
	}}
)

var domainOperations = []Described{
	ListDomains, CreateDomain, GetDomain, UpdateDomain, VerifyDomain, DeleteDomain, ApproveDomain, DisapproveDomain,
}
