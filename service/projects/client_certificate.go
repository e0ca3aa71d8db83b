package projects

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
)

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
	ctx context.Context, p access.Principal, in contract.EnvironmentPath,
) (contract.ClientCertificate, error) {
	tx := s.DB.Read(ctx)
	environment, err := environmentToRead(tx, p, in)
	if err != nil {
		return contract.ClientCertificate{}, fmt.Errorf("projects: client certificate of %s: %w", in.Environment, err)
	}
	row, found, err := tx.UpstreamCertificateOf(environment.ID)
	if err == nil && !found {
		err = access.NotFound()
	}
	if err != nil {
		return contract.ClientCertificate{}, fmt.Errorf("projects: client certificate of %s: %w", in.Environment, err)
	}
	return shownClientCertificate(row)
}

// SetClientCertificate sets or replaces the certificate that an environment presents to its upstream. New connections
// use it from the next call on.
func (s *Service) SetClientCertificate(
	ctx context.Context, p access.Principal, in contract.ClientCertificateUpdate,
) (contract.ClientCertificate, error) {
	var out contract.ClientCertificate
	err := s.changeCredentials(ctx, p, in.EnvironmentPath, "client certificate", func(c credentialChange) error {
		if !TakesClientCertificate(c.environment.Target) {
			return fault.InvalidField("/certificate", "needs_https", "A client certificate requires an https target. "+
				"Change the environment's target first.")
		}
		pair, err := parseClientCertificate(in.Body, c.now)
		if err != nil {
			return err
		}
		sealed, err := s.Vault.Seal(c.tx, c.project.TeamID, ClientKeyPlace(c.environment.ID), pair.key)
		if err != nil {
			return err
		}
		row := models.UpstreamCertificate{
			EnvironmentID: c.environment.ID,
			Chain:         pair.chain,
			PrivateKey:    sealed,
			CreatedAt:     c.now,
			UpdatedAt:     c.now,
		}
		if out, err = shownClientCertificate(row); err != nil {
			return err
		}
		return c.tx.SetUpstreamCertificate(row)
	})
	return out, err
}

// RemoveClientCertificate removes the certificate that an environment presents to its upstream.
func (s *Service) RemoveClientCertificate(
	ctx context.Context, p access.Principal, in contract.EnvironmentPath,
) (contract.None, error) {
	return contract.None{}, s.changeCredentials(ctx, p, in, "no client certificate", func(c credentialChange) error {
		removed, err := c.tx.DeleteUpstreamCertificate(c.environment.ID)
		if err == nil && !removed {
			err = access.NotFound()
		}
		return err
	})
}

var errNoCertificate = errors.New("the stored chain has no certificate")

func shownClientCertificate(row models.UpstreamCertificate) (contract.ClientCertificate, error) {
	var none contract.ClientCertificate
	block, _ := pem.Decode([]byte(row.Chain))
	if block == nil {
		return none, fmt.Errorf("client certificate of %s: %w", row.EnvironmentID, errNoCertificate)
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return none, fmt.Errorf("client certificate of %s: %w", row.EnvironmentID, err)
	}
	sum := sha256.Sum256(leaf.Raw)
	return contract.ClientCertificate{
		Subject:     leaf.Subject.String(),
		Issuer:      leaf.Issuer.String(),
		SHA256:      hex.EncodeToString(sum[:]),
		StartsAt:    leaf.NotBefore.UTC(),
		ExpiresAt:   leaf.NotAfter.UTC(),
		Certificate: row.Chain,
		UpdatedAt:   row.UpdatedAt.UTC(),
	}, nil
}

// ClientKey decrypts the private key of an environment's certificate.
func (u Unsealer) ClientKey(p *snapshot.Project, environmentID string, c snapshot.ClientCertificate) ([]byte, error) {
	key, err := u.Vault.Open(dataKeys(p.DataKeys), ClientKeyPlace(environmentID), c.Sealed)
	return []byte(key.Reveal()), err
}
