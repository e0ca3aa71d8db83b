package projects

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
)

const (
	mostSigningKeys = 10
	mostRotation    = 30 * 24 * time.Hour
)

// The defaults of a rotation.
const (
	DefaultSignsIn = time.Hour
	DefaultGrace   = 24 * time.Hour
)

// SigningKeyPlace returns the place that a private key is sealed for.
func SigningKeyPlace(projectID, keyID string) secrets.Place {
	return secrets.Place{
		Table:   "call_signing_keys",
		Row:     projectID + "/" + keyID,
		Column:  "private_key",
		Purpose: secrets.ForGateways,
	}
}

// CallSigning returns the published keys of a project.
func (s *Service) CallSigning(
	ctx context.Context, p access.Principal, in contract.ProjectPath,
) (contract.CallSigning, error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, in.Project, access.ProjectRead)
	if err != nil {
		return contract.CallSigning{}, fmt.Errorf("projects: show the call signing of %s: %w", in.Project, err)
	}
	out, err := s.signingAt(tx, project, models.Now())
	if err != nil {
		return contract.CallSigning{}, fmt.Errorf("projects: show the call signing of %s: %w", in.Project, err)
	}
	return out, nil
}

// EnableCallSigning creates a project's first key. From the next call on the gateway signs calls to the project's
// upstreams. It changes nothing if calls are already signed.
func (s *Service) EnableCallSigning(
	ctx context.Context, p access.Principal, in contract.ProjectPath,
) (contract.CallSigning, error) {
	return s.changeSigning(ctx, p, in.Project, "call signing", func(c signingChange) error {
		if len(c.keys) > 0 {
			return errUnchanged
		}
		return s.addSigningKey(c, c.now)
	})
}

// DisableCallSigning deletes a project's keys. Calls are no longer signed. Enabling it again creates a new key.
func (s *Service) DisableCallSigning(
	ctx context.Context, p access.Principal, in contract.ProjectPath,
) (contract.None, error) {
	_, err := s.changeSigning(ctx, p, in.Project, "no call signing", func(c signingChange) error {
		if len(c.keys) == 0 {
			return errUnchanged
		}
		for _, k := range c.keys {
			if err := c.tx.DeleteCallSigningKey(k); err != nil {
				return err
			}
		}
		return nil
	})
	return contract.None{}, err
}

// RotateSigningKey adds a key that is published immediately and signs later, so that upstreams with a copy of the keys
// get it in time. Earlier keys stay published for a while after that. A rotation that signs immediately replaces one
// that hasn't taken effect yet.
func (s *Service) RotateSigningKey(
	ctx context.Context, p access.Principal, in contract.SigningKeyRotation,
) (contract.CallSigning, error) {
	var rotation contract.SigningRotation
	if in.Body != nil {
		rotation = *in.Body
	}
	return s.changeSigning(ctx, p, in.Project, "rotation of the call signing key", func(c signingChange) error {
		signsIn, err := rotationTime("/signs_in_seconds", rotation.SignsInSeconds, DefaultSignsIn)
		if err != nil {
			return err
		}
		grace, err := rotationTime("/grace_seconds", rotation.GraceSeconds, DefaultGrace)
		if err != nil {
			return err
		}
		if len(c.keys) == 0 {
			return fault.New(fault.Conflict, "call_signing_disabled",
				"This project's calls aren't signed. Enable call signing first.")
		}
		if newest := c.keys[len(c.keys)-1]; newest.SignsFrom.After(c.now) {
			if signsIn > 0 {
				return fault.New(fault.Conflict, "rotation_pending", "The key %s will start signing at %s. Rotate "+
					"again after that, or set signs_in_seconds (--signs-in) to 0 to replace it now.", newest.ID,
					newest.SignsFrom.UTC().Format(time.RFC3339))
			}
			if err := c.tx.DeleteCallSigningKey(newest); err != nil {
				return err
			}
			c.keys = c.keys[:len(c.keys)-1]
		}
		if err := retireSigningKeys(&c, c.now.Add(signsIn+grace)); err != nil {
			return err
		}
		return s.addSigningKey(c, c.now.Add(signsIn))
	})
}

func rotationTime(pointer string, seconds *int64, otherwise time.Duration) (time.Duration, error) {
	if seconds == nil {
		return otherwise, nil
	}
	if *seconds < 0 || *seconds > int64(mostRotation/time.Second) {
		return 0, fault.InvalidField(pointer, "out_of_range", "Use 0 to %s seconds (30 days).",
			humanize.Comma(int64(mostRotation/time.Second)))
	}
	return time.Duration(*seconds) * time.Second, nil
}

// retireSigningKeys has the keys published until a time, unless they end before. Keys that end now are deleted.
func retireSigningKeys(c *signingChange, until time.Time) error {
	kept := 0
	for _, k := range c.keys {
		if k.PublishedUntil != nil && k.PublishedUntil.Before(until) {
			kept++
			continue
		}
		if !until.After(c.now) {
			if err := c.tx.DeleteCallSigningKey(k); err != nil {
				return err
			}
			continue
		}
		kept++
		if err := c.tx.PublishCallSigningKeyUntil(k, until); err != nil {
			return err
		}
	}
	if kept >= mostSigningKeys {
		return fault.New(fault.Conflict, "too_many_signing_keys", "At most %d keys can be published. Wait until the "+
			"oldest expires, or set signs_in_seconds and grace_seconds to 0 to withdraw all keys now.", mostSigningKeys)
	}
	return nil
}

func (s *Service) addSigningKey(c signingChange, signsFrom time.Time) error {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	row := models.CallSigningKey{
		ProjectID: c.project.ID,
		ID:        Thumbprint(public),
		PublicKey: public,
		SignsFrom: signsFrom,
		CreatedAt: c.now,
	}
	seed := secrets.Secret(base64.RawURLEncoding.EncodeToString(private.Seed()))
	row.PrivateKey, err = s.Vault.Seal(c.tx, c.project.TeamID, SigningKeyPlace(row.ProjectID, row.ID), seed)
	if err != nil {
		return err
	}
	return c.tx.Insert(&row)
}

// Thumbprint returns the SHA-256 thumbprint of an Ed25519 key (RFC 8037, appendix A.3).
func Thumbprint(public ed25519.PublicKey) string {
	x := base64.RawURLEncoding.EncodeToString(public)
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// SigningKey decrypts a private key of a project.
func (u Unsealer) SigningKey(p *snapshot.Project, k snapshot.CallSigningKey) (ed25519.PrivateKey, error) {
	text, err := u.Vault.Open(dataKeys(p.DataKeys), SigningKeyPlace(p.ID, k.ID), k.Sealed)
	if err != nil {
		return nil, err
	}
	seed, err := base64.RawURLEncoding.DecodeString(text.Reveal())
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("signing key %s is damaged", k.ID)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// signingAt returns how calls of a project are signed, with the keys that are published at now.
func (s *Service) signingAt(tx *models.Tx, project models.Project, now time.Time) (contract.CallSigning, error) {
	rows, err := tx.CallSigningKeysOf(project.ID)
	if err != nil {
		return contract.CallSigning{}, err
	}
	var out contract.CallSigning
	for i, k := range rows {
		state := contract.SigningKeySigning
		switch {
		case k.PublishedUntil != nil && !k.PublishedUntil.After(now):
			continue
		case k.SignsFrom.After(now):
			state = contract.SigningKeyPending
		case slices.ContainsFunc(rows[i+1:], func(l models.CallSigningKey) bool { return !l.SignsFrom.After(now) }):
			state = contract.SigningKeyFormer
		}
		out.Keys = append(out.Keys, contract.SigningKey{
			ID:             k.ID,
			State:          state,
			PublicKey:      publicKeyOf(k),
			SignsFrom:      k.SignsFrom.UTC(),
			PublishedUntil: contract.UTC(k.PublishedUntil),
			CreatedAt:      k.CreatedAt.UTC(),
		})
	}
	out.Enabled = len(out.Keys) > 0
	if out.Enabled && s.Addresses != nil {
		url := s.Addresses.ProjectAddress(project.Name) + policy.SigningDirectory
		out.DirectoryURL = &url
	}
	return out, nil
}

func publicKeyOf(k models.CallSigningKey) contract.SigningPublicKey {
	return contract.SigningPublicKey{
		Type: "OKP", Curve: "Ed25519", ID: k.ID, Use: "sig", X: base64.RawURLEncoding.EncodeToString(k.PublicKey),
	}
}
