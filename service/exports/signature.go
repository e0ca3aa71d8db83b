package exports

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
)

// installation is the owner of the data key that export keys are sealed with. They belong
// to no team.
const installation = "installation"

// firstExportKey is the id of the first key. It is the same on every replica, so that two
// replicas that create it at once end up with the same key.
const firstExportKey = "exk_1"

func exportKeyPlace(id string) secrets.Place {
	return secrets.Place{
		Table:   "export_keys",
		Row:     id,
		Column:  "private_key",
		Purpose: secrets.ForControl,
	}
}

// exportKeys returns the installation's keys, the newest last. The first call creates the
// first key.
func (s *Service) exportKeys(ctx context.Context) ([]models.ExportKey, error) {
	rows, err := s.DB.Read(ctx).ExportKeys()
	if err != nil || len(rows) > 0 {
		return rows, err
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		public, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return err
		}
		row := models.ExportKey{ID: firstExportKey, PublicKey: public, CreatedAt: models.Now()}
		row.PrivateKey, err = s.Vault.Seal(tx, installation, exportKeyPlace(row.ID), secrets.Secret(private.Seed()))
		if err != nil {
			return err
		}
		return tx.Insert(&row)
	})
	if err != nil && !errors.Is(err, models.ErrDuplicate) {
		return nil, fmt.Errorf("exports: create the signing key: %w", err)
	}
	return s.DB.Read(ctx).ExportKeys()
}

// signer returns the function that signs an export, nil without a vault to seal the key.
func (s *Service) signer(ctx context.Context) (func(sums []byte) ([]byte, error), error) {
	if s.Vault == nil {
		return nil, nil
	}
	rows, err := s.exportKeys(ctx)
	if err != nil {
		return nil, err
	}
	row := rows[len(rows)-1]
	seed, err := s.Vault.Open(s.DB.Read(ctx), exportKeyPlace(row.ID), row.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("exports: open the signing key: %w", err)
	}
	private := ed25519.NewKeyFromSeed([]byte(seed))
	return func(sums []byte) ([]byte, error) { return ed25519.Sign(private, sums), nil }, nil
}

// PublicKeys returns the public part of every key that exports were signed with, as PEM
// blocks (RFC 8410), the newest first. It fails as NotFound if exports are not signed.
func (s *Service) PublicKeys(ctx context.Context) ([]byte, error) {
	if s.Vault == nil {
		return nil, fault.New(fault.NotFound, "not_found", "This server doesn't sign exports.")
	}
	rows, err := s.exportKeys(ctx)
	if err != nil {
		return nil, err
	}
	var out []byte
	for i := len(rows) - 1; i >= 0; i-- {
		der, err := x509.MarshalPKIXPublicKey(ed25519.PublicKey(rows[i].PublicKey))
		if err != nil {
			return nil, fmt.Errorf("exports: public key %s: %w", rows[i].ID, err)
		}
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})...)
	}
	return out, nil
}
