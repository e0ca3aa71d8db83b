package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Domain is a custom host name of an environment.
type Domain struct {
	ID           string            `json:"id"`
	Host         string            `json:"host"` // lower-case ASCII
	Version      string            `json:"version"`
	Environment  string            `json:"environment"`
	State        string            `json:"state"` // pending, verified or missing
	Record       DomainRecord      `json:"record"`
	Proof        *string           `json:"proof"` // dns or operator; nil while pending
	VerifiedAt   *time.Time        `json:"verified_at"`
	CheckedAt    *time.Time        `json:"checked_at"`
	MissingSince *time.Time        `json:"missing_since"`
	Problem      *string           `json:"problem"` // why the last lookup found no proof
	Certificate  DomainCertificate `json:"certificate"`
	ETag         string            `json:"etag"` // for If-Match
	CreatedAt    time.Time         `json:"created_at"`
}

// DomainRecord is the DNS record that shows the ownership of a host name.
type DomainRecord struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

// DomainCertificate is the certificate that callers by TLS get for a host name.
type DomainCertificate struct {
	State   string     `json:"state"`  // none, ordered, valid, expired or failed
	Source  *string    `json:"source"` // files or acme; nil for none
	EndsAt  *time.Time `json:"ends_at"`
	Problem *string    `json:"problem"`  // why the last attempt to obtain or renew it failed
	RetryAt *time.Time `json:"retry_at"` // when it is tried again
}

// NewDomain describes a new host name of an environment.
type NewDomain struct {
	Host        string `json:"host"`
	Version     string `json:"version,omitempty"` // name or id; "" where the environment's name is enough
	Environment string `json:"environment"`       // name or id
}

// DomainApproval is what an operator is shown of a host name of any team.
type DomainApproval struct {
	ID      string  `json:"id"`
	Host    string  `json:"host"`
	Project string  `json:"project"` // name
	State   string  `json:"state"`
	Proof   *string `json:"proof"`
}

// Domains iterates over the host names of a project.
func (c *Client) Domains(ctx context.Context, project string, options ...ListOptions) iter.Seq2[Domain, error] {
	return pagesOf[Domain](ctx, c, queryOf(options), "api", "v1", "projects", project, "domains")
}

// Domain returns a host name of a project, named by itself or its id.
func (c *Client) Domain(ctx context.Context, project, domain string) (Domain, error) {
	return call[Domain](ctx, c, http.MethodGet, nil, "api", "v1", "projects", project, "domains", domain)
}

// CreateDomain adds a host name to an environment. It is served once it is verified.
func (c *Client) CreateDomain(ctx context.Context, project string, in NewDomain) (Domain, error) {
	return call[Domain](ctx, c, http.MethodPost, in, "api", "v1", "projects", project, "domains")
}

// MoveDomain leads a host name to another environment of its project.
func (c *Client) MoveDomain(ctx context.Context, project, domain, version, environment string) (Domain, error) {
	in := map[string]string{"environment": environment}
	if version != "" {
		in["version"] = version
	}
	return call[Domain](ctx, c, http.MethodPatch, in, "api", "v1", "projects", project, "domains", domain)
}

// VerifyDomain verifies a host name by its TXT record.
func (c *Client) VerifyDomain(ctx context.Context, project, domain string) (Domain, error) {
	return call[Domain](ctx, c, http.MethodPost, nil, "api", "v1", "projects", project, "domains", domain, "verify")
}

// DeleteDomain removes a host name. It is no longer served.
func (c *Client) DeleteDomain(ctx context.Context, project, domain string) error {
	return c.remove(ctx, "api", "v1", "projects", project, "domains", domain)
}

// ApproveDomain verifies a host name of any team without a TXT record. Only operators can.
func (c *Client) ApproveDomain(ctx context.Context, project, domain string) (DomainApproval, error) {
	return call[DomainApproval](
		ctx, c, http.MethodPut, nil, "api", "v1", "projects", project, "domains", domain, "approval",
	)
}

// DisapproveDomain ends the verification of a host name of any team. Only operators can.
func (c *Client) DisapproveDomain(ctx context.Context, project, domain string) (DomainApproval, error) {
	return call[DomainApproval](
		ctx, c, http.MethodDelete, nil, "api", "v1", "projects", project, "domains", domain, "approval",
	)
}
