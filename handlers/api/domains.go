package api

import (
	"context"
	"time"

	"postern/handlers/web"
	"postern/service/domains"
)

// DomainRef is the path parameters of a host name.
type DomainRef struct {
	ProjectRef
	Domain string `path:"domain" doc:"Host name or id"`
}

type domainOutput struct {
	ID           string            `json:"id"`
	Host         string            `json:"host" doc:"In lower-case ASCII" example:"api.example.com"`
	Version      string            `json:"version" doc:"Name"`
	Environment  string            `json:"environment" doc:"Name of the environment that the host name leads to"`
	State        domains.State     `json:"state" enum:"pending,verified,missing" doc:"pending: not served yet. missing: served, but its TXT record has disappeared"`
	Record       recordOutput      `json:"record" doc:"TXT record that shows that the team controls the name"`
	Proof        *string           `json:"proof" doc:"dns or operator; null while pending"`
	VerifiedAt   *time.Time        `json:"verified_at"`
	CheckedAt    *time.Time        `json:"checked_at" doc:"When the record was last looked up"`
	MissingSince *time.Time        `json:"missing_since" doc:"When the record was first not found; null while it is there"`
	Problem      *string           `json:"problem" doc:"Why the last lookup found no proof; null: it did, or there was none"`
	Certificate  certificateOutput `json:"certificate" doc:"What callers by TLS get for the host name"`
	ETag         string            `json:"etag" doc:"Send as If-Match to move the host name"`
	CreatedAt    time.Time         `json:"created_at"`
}

type certificateOutput struct {
	State   domains.CertificateState `json:"state" enum:"none,ordered,valid,expired,failed" doc:"none: the gateway presents its own certificate. ordered: the ACME server has not issued the first one yet. failed: there is none, and the last attempt failed"`
	Source  *string                  `json:"source" doc:"files (of the operator) or acme; null for none"`
	EndsAt  *time.Time               `json:"ends_at"`
	Problem *string                  `json:"problem" doc:"Why the last attempt to obtain or renew it failed; null: it did not"`
	RetryAt *time.Time               `json:"retry_at" doc:"When it is tried again; null without a problem"`
}

func showCertificate(c domains.Certificate) certificateOutput {
	return certificateOutput{
		State:   c.State,
		Source:  orNull(c.Source),
		EndsAt:  c.EndsAt,
		Problem: orNull(c.Problem),
		RetryAt: c.RetryAt,
	}
}

type recordOutput struct {
	Name  string `json:"name" example:"_postern-challenge.api.example.com"`
	Type  string `json:"type" example:"TXT"`
	Value string `json:"value"`
}

func showDomain(d domains.Domain) domainOutput {
	return domainOutput{
		ID:           d.ID,
		Host:         d.Host,
		Version:      d.Version,
		Environment:  d.Environment,
		State:        d.State,
		Record:       recordOutput{Name: d.Record.Name, Type: "TXT", Value: d.Record.Value},
		Proof:        orNull(d.Proof),
		VerifiedAt:   d.VerifiedAt,
		CheckedAt:    d.CheckedAt,
		MissingSince: d.MissingSince,
		Problem:      orNull(d.Problem),
		Certificate:  showCertificate(d.Certificate),
		ETag:         web.FormatETag(d.ETag),
		CreatedAt:    d.CreatedAt.UTC(),
	}
}

func taggedDomain(d domains.Domain, err error) (*tagged[domainOutput], error) {
	if err != nil {
		return nil, err
	}
	return &tagged[domainOutput]{web.FormatETag(d.ETag), showDomain(d)}, nil
}

func (h *Handler) listDomains(ctx context.Context, in *struct {
	ProjectRef
	Page
	State string `query:"state" enum:"pending,verified,missing" doc:"missing: the TXT record has disappeared"`
	Sort  string `query:"sort" enum:"host,-host,created,-created" doc:"Order; - begins at the end; default: host"`
	Text  string `query:"q" maxLength:"200" doc:"Part of the host name, ignoring case"`
}) (*body[list[domainOutput]], error) {
	page := in.sorted(in.Sort, in.Text)
	found, err := h.Domains.List(ctx, web.Principal(ctx), in.Project, domains.State(in.State), page)
	return answerPage(found, err, showDomain)
}

func (h *Handler) createDomain(ctx context.Context, in *struct {
	ProjectRef
	Body struct {
		Host        string `json:"host" example:"api.example.com"`
		Version     string `json:"version,omitempty" minLength:"1" doc:"Name or id; needed where several versions have an environment of that name"`
		Environment string `json:"environment" doc:"Name or id of the environment that the host name leads to"`
	}
}) (*tagged[domainOutput], error) {
	return taggedDomain(h.Domains.Add(ctx, web.Principal(ctx), in.Project, domains.Input(in.Body)))
}

func (h *Handler) getDomain(ctx context.Context, in *DomainRef) (*tagged[domainOutput], error) {
	return taggedDomain(h.Domains.Get(ctx, web.Principal(ctx), in.Project, in.Domain))
}

func (h *Handler) updateDomain(ctx context.Context, in *struct {
	DomainRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Version     string `json:"version,omitempty" minLength:"1" doc:"Name or id; needed where several versions have an environment of that name"`
		Environment string `json:"environment" doc:"Name or id of the environment that the host name leads to from now on"`
	}
}) (*tagged[domainOutput], error) {
	return taggedDomain(h.Domains.Move(ctx, web.Principal(ctx), in.Project, in.Domain, domains.Move{
		IfMatch:     web.ParseIfMatch(in.IfMatch),
		Version:     in.Body.Version,
		Environment: in.Body.Environment,
	}))
}

func (h *Handler) verifyDomain(ctx context.Context, in *DomainRef) (*tagged[domainOutput], error) {
	return taggedDomain(h.Domains.Verify(ctx, web.Principal(ctx), in.Project, in.Domain))
}

func (h *Handler) deleteDomain(ctx context.Context, in *DomainRef) (*struct{}, error) {
	return nil, h.Domains.Remove(ctx, web.Principal(ctx), in.Project, in.Domain)
}

// domainApproval is the state of a host name that may be another team's, so it has only what
// an operator needs.
type domainApproval struct {
	ID      string        `json:"id"`
	Host    string        `json:"host"`
	Project string        `json:"project" doc:"Name"`
	State   domains.State `json:"state" enum:"pending,verified,missing"`
	Proof   *string       `json:"proof" doc:"dns or operator; null while pending"`
}

func showDomainApproval(d domains.Domain, err error) (*body[domainApproval], error) {
	if err != nil {
		return nil, err
	}
	out := domainApproval{ID: d.ID, Host: d.Host, Project: d.Project, State: d.State, Proof: orNull(d.Proof)}
	return &body[domainApproval]{out}, nil
}

func (h *Handler) approveDomain(ctx context.Context, in *DomainRef) (*body[domainApproval], error) {
	return showDomainApproval(h.Domains.Approve(ctx, web.Principal(ctx), in.Project, in.Domain))
}

func (h *Handler) disapproveDomain(ctx context.Context, in *DomainRef) (*body[domainApproval], error) {
	return showDomainApproval(h.Domains.Disapprove(ctx, web.Principal(ctx), in.Project, in.Domain))
}
