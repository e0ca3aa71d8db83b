package projects

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
)

// ClientCertificate is the certificate that an environment presents to its upstream, without
// its private key.
type ClientCertificate struct {
	Subject   string
	Issuer    string
	SHA256    string // fingerprint of the certificate, in hex
	StartsAt  time.Time
	EndsAt    time.Time
	Chain     string // PEM, the leaf first
	UpdatedAt time.Time
}

// ClientCertificateInput is a certificate with its private key, both in PEM.
type ClientCertificateInput struct {
	Certificate string // the chain, the leaf first
	PrivateKey  secrets.Secret
}

// ClientKeyPlace returns the place that the private key of an environment's certificate is
// sealed for.
func ClientKeyPlace(environmentID string) secrets.Place {
	return secrets.Place{
		Table:   "upstream_certificates",
		Row:     environmentID,
		Column:  "private_key",
		Purpose: secrets.ForGateways,
	}
}

// ClientCertificate returns the certificate that an environment presents to its upstream.
func (s *Service) ClientCertificate(
	ctx context.Context, p access.Principal, ref, environmentID string,
) (ClientCertificate, error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, ref, access.ProjectRead)
	if err == nil {
		_, _, err = environmentOf(tx, project, "", environmentID)
	}
	if err != nil {
		return ClientCertificate{}, fmt.Errorf("projects: client certificate of %s: %w", environmentID, err)
	}
	row, found, err := tx.UpstreamCertificateOf(environmentID)
	if err == nil && !found {
		err = access.NotFound()
	}
	if err != nil {
		return ClientCertificate{}, fmt.Errorf("projects: client certificate of %s: %w", environmentID, err)
	}
	return viewClientCertificate(row)
}

// SetClientCertificate has an environment present a certificate to its upstream, in place of
// the one before. New connections use it from the next call on.
func (s *Service) SetClientCertificate(
	ctx context.Context, p access.Principal, ref, environmentID string, in ClientCertificateInput,
) (ClientCertificate, error) {
	var out ClientCertificate
	what := "client certificate of " + environmentID
	err := s.changeCredentials(ctx, p, ref, environmentID, what, func(c credentialChange) error {
		if !TakesClientCertificate(c.environment.Target) {
			return fault.InvalidField("/certificate", "needs_https", "A certificate can be presented over TLS only. "+
				"Change the environment's target to an https URL first.")
		}
		pair, err := parseClientCertificate(in, c.now)
		if err != nil {
			return err
		}
		sealed, err := s.Vault.Seal(c.tx, c.project.TeamID, ClientKeyPlace(environmentID), pair.key)
		if err != nil {
			return err
		}
		row := models.UpstreamCertificate{
			EnvironmentID: environmentID,
			Chain:         pair.chain,
			PrivateKey:    sealed,
			CreatedAt:     c.now,
			UpdatedAt:     c.now,
		}
		if out, err = viewClientCertificate(row); err != nil {
			return err
		}
		return c.tx.SetUpstreamCertificate(row)
	})
	return out, err
}

// RemoveClientCertificate has an environment present no certificate.
func (s *Service) RemoveClientCertificate(ctx context.Context, p access.Principal, ref, environmentID string) error {
	what := "no client certificate of " + environmentID
	return s.changeCredentials(ctx, p, ref, environmentID, what, func(c credentialChange) error {
		removed, err := c.tx.DeleteUpstreamCertificate(environmentID)
		if err == nil && !removed {
			err = access.NotFound()
		}
		return err
	})
}

var errNoCertificate = errors.New("the stored chain has no certificate")

func viewClientCertificate(row models.UpstreamCertificate) (ClientCertificate, error) {
	block, _ := pem.Decode([]byte(row.Chain))
	if block == nil {
		return ClientCertificate{}, fmt.Errorf("client certificate of %s: %w", row.EnvironmentID, errNoCertificate)
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return ClientCertificate{}, fmt.Errorf("client certificate of %s: %w", row.EnvironmentID, err)
	}
	sum := sha256.Sum256(leaf.Raw)
	return ClientCertificate{
		Subject:   leaf.Subject.String(),
		Issuer:    leaf.Issuer.String(),
		SHA256:    hex.EncodeToString(sum[:]),
		StartsAt:  leaf.NotBefore,
		EndsAt:    leaf.NotAfter,
		Chain:     row.Chain,
		UpdatedAt: row.UpdatedAt,
	}, nil
}

// readClientCertificates adds the certificates of the environments, their keys sealed, and
// the data keys that open them.
func readClientCertificates(r *projectRows, row models.Project, out *snapshot.Project) error {
	for _, c := range r.certificates[row.ID] {
		if err := addDataKey(r.tx, out, c.PrivateKey); err != nil {
			return err
		}
		if e := environmentIn(out, c.EnvironmentID); e != nil {
			e.Certificate = &snapshot.ClientCertificate{Chain: c.Chain, Sealed: c.PrivateKey}
		}
	}
	return nil
}

// ClientKey opens the private key of an environment's certificate.
func (u Unsealer) ClientKey(p *snapshot.Project, environmentID string, c snapshot.ClientCertificate) ([]byte, error) {
	key, err := u.Vault.Open(dataKeys(p.DataKeys), ClientKeyPlace(environmentID), c.Sealed)
	return []byte(key.Reveal()), err
}
