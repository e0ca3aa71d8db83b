package api

import (
	"context"
	"time"

	"postern/handlers/web"
	"postern/platform/secrets"
	"postern/service/projects"
)

type clientCertificateOutput struct {
	Subject     string    `json:"subject" doc:"Distinguished name (RFC 2253)"`
	Issuer      string    `json:"issuer" doc:"Distinguished name of who issued it"`
	SHA256      string    `json:"sha256" doc:"Fingerprint of the certificate, in hex"`
	StartsAt    time.Time `json:"starts_at"`
	ExpiresAt   time.Time `json:"expires_at" doc:"After it, upstreams that check the certificate refuse calls"`
	Certificate string    `json:"certificate" doc:"The chain in PEM; the private key is never shown"`
	UpdatedAt   time.Time `json:"updated_at"`
}

func showClientCertificate(c projects.ClientCertificate) *body[clientCertificateOutput] {
	return &body[clientCertificateOutput]{clientCertificateOutput{
		Subject:     c.Subject,
		Issuer:      c.Issuer,
		SHA256:      c.SHA256,
		StartsAt:    c.StartsAt.UTC(),
		ExpiresAt:   c.EndsAt.UTC(),
		Certificate: c.Chain,
		UpdatedAt:   c.UpdatedAt.UTC(),
	}}
}

func (h *Handler) getClientCertificate(
	ctx context.Context, in *EnvironmentRef,
) (*body[clientCertificateOutput], error) {
	found, err := h.Projects.ClientCertificate(ctx, web.Principal(ctx), in.Project, in.Environment)
	if err != nil {
		return nil, err
	}
	return showClientCertificate(found), nil
}

func (h *Handler) setClientCertificate(ctx context.Context, in *struct {
	EnvironmentRef
	Body struct {
		Certificate string `json:"certificate" doc:"PEM: the certificate, then those of its issuers"`
		PrivateKey  string `json:"private_key" doc:"Write-only. PEM, without a passphrase: RSA, ECDSA or Ed25519"`
	}
}) (*body[clientCertificateOutput], error) {
	set, err := h.Projects.SetClientCertificate(ctx, web.Principal(ctx), in.Project, in.Environment,
		projects.ClientCertificateInput{
			Certificate: in.Body.Certificate,
			PrivateKey:  secrets.Secret(in.Body.PrivateKey),
		})
	if err != nil {
		return nil, err
	}
	return showClientCertificate(set), nil
}

func (h *Handler) removeClientCertificate(ctx context.Context, in *EnvironmentRef) (*struct{}, error) {
	return nil, h.Projects.RemoveClientCertificate(ctx, web.Principal(ctx), in.Project, in.Environment)
}
