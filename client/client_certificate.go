package client

import (
	"context"
	"net/http"
	"time"
)

// ClientCertificate is the certificate that an environment presents to its upstream. Its
// private key is never shown.
type ClientCertificate struct {
	Subject     string    `json:"subject"`
	Issuer      string    `json:"issuer"`
	SHA256      string    `json:"sha256"`
	StartsAt    time.Time `json:"starts_at"`
	ExpiresAt   time.Time `json:"expires_at"`
	Certificate string    `json:"certificate"` // PEM
	UpdatedAt   time.Time `json:"updated_at"`
}

// ClientCertificate returns the certificate of an environment, named by its id.
func (c *Client) ClientCertificate(ctx context.Context, project, environment string) (ClientCertificate, error) {
	return call[ClientCertificate](
		ctx, c, http.MethodGet, nil,
		"api", "v1", "projects", project, "environments", environment, "client-certificate",
	)
}

// SetClientCertificate has an environment present a certificate to its upstream. Both are PEM.
func (c *Client) SetClientCertificate(
	ctx context.Context, project, environment, certificate, privateKey string,
) (ClientCertificate, error) {
	in := map[string]string{"certificate": certificate, "private_key": privateKey}
	return call[ClientCertificate](
		ctx, c, http.MethodPut, in, "api", "v1", "projects", project, "environments", environment, "client-certificate",
	)
}

// RemoveClientCertificate has an environment present no certificate.
func (c *Client) RemoveClientCertificate(ctx context.Context, project, environment string) error {
	return c.remove(ctx, "api", "v1", "projects", project, "environments", environment, "client-certificate")
}
