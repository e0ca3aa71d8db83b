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

// The defaults of a SigningRotation.
const (
	DefaultSignsIn = time.Hour
	DefaultKeep    = 24 * time.Hour
)

// CallSigning is how calls to a project's upstreams are signed (RFC 9421).
type CallSigning struct {
	Project string           // name
	Keys    []CallSigningKey // in the order in which they sign; none: calls are not signed
}

// CallSigningKey is an Ed25519 key of a project, without its private half.
type CallSigningKey struct {
	ID             string // thumbprint of the public key (RFC 7638)
	Public         ed25519.PublicKey
	State          SigningState
	SignsFrom      time.Time
	PublishedUntil *time.Time // nil until a later key follows
	CreatedAt      time.Time
}

// SigningState is what a key does at the moment.
type SigningState string

// The states of a signing key. All three are published.
const (
	KeyPending SigningState = "pending" // signs from SignsFrom on
	KeySigning SigningState = "signing"
	KeyFormer  SigningState = "former" // signed until a later key followed
)

// SigningRotation says when a new key signs, and how long the ones before it stay published
// from then on. nil means the default.
type SigningRotation struct {
	SignsIn *time.Duration
	Keep    *time.Duration
}

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
func (s *Service) CallSigning(ctx context.Context, p access.Principal, ref string) (CallSigning, error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, ref, access.ProjectRead)
	if err != nil {
		return CallSigning{}, fmt.Errorf("projects: show the call signing of %s: %w", ref, err)
	}
	out, err := viewSigning(tx, project, models.Now())
	if err != nil {
		return CallSigning{}, fmt.Errorf("projects: show the call signing of %s: %w", ref, err)
	}
	return out, nil
}

// EnableCallSigning creates a project's first key. From the next call on the gateway signs
// calls to the project's upstreams. A project that signs already is left as it is.
func (s *Service) EnableCallSigning(ctx context.Context, p access.Principal, ref string) (CallSigning, error) {
	return s.changeSigning(ctx, p, ref, "call signing", func(c signingChange) error {
		if len(c.keys) > 0 {
			return errUnchanged
		}
		return s.addSigningKey(c, c.now)
	})
}

// DisableCallSigning deletes a project's keys. Calls are no longer signed. To enable it again
// creates another key.
func (s *Service) DisableCallSigning(ctx context.Context, p access.Principal, ref string) error {
	_, err := s.changeSigning(ctx, p, ref, "no call signing", func(c signingChange) error {
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
	return err
}

// RotateSigningKey adds a key that is published at once and signs later, so that upstreams
// with a copy of the keys get it in time. The keys before it stay published for a while after
// that. A rotation to sign at once replaces one that has not taken effect.
func (s *Service) RotateSigningKey(
	ctx context.Context, p access.Principal, ref string, in SigningRotation,
) (CallSigning, error) {
	return s.changeSigning(ctx, p, ref, "rotation of the call signing key", func(c signingChange) error {
		signsIn, err := rotationTime("/signs_in_seconds", in.SignsIn, DefaultSignsIn)
		if err != nil {
			return err
		}
		keep, err := rotationTime("/grace_seconds", in.Keep, DefaultKeep)
		if err != nil {
			return err
		}
		if len(c.keys) == 0 {
			return fault.New(fault.Conflict, "call_signing_disabled",
				"Calls of this project are not signed. Enable call signing first.")
		}
		if newest := c.keys[len(c.keys)-1]; newest.SignsFrom.After(c.now) {
			if signsIn > 0 {
				return fault.New(fault.Conflict, "rotation_pending", "The key %s signs from %s. Rotate again after "+
					"that, or rotate at once (signs_in_seconds 0) to replace it.", newest.ID,
					newest.SignsFrom.UTC().Format(time.RFC3339))
			}
			if err := c.tx.DeleteCallSigningKey(newest); err != nil {
				return err
			}
			c.keys = c.keys[:len(c.keys)-1]
		}
		if err := retireSigningKeys(&c, c.now.Add(signsIn+keep)); err != nil {
			return err
		}
		return s.addSigningKey(c, c.now.Add(signsIn))
	})
}

func rotationTime(pointer string, in *time.Duration, otherwise time.Duration) (time.Duration, error) {
	if in == nil {
		return otherwise, nil
	}
	if *in < 0 || *in > mostRotation {
		return 0, fault.InvalidField(pointer, "out_of_range", "Use 0 to %d seconds (30 "+
			"days).", mostRotation/time.Second)
	}
	return *in, nil
}

// retireSigningKeys has the keys published until a time, unless they end before. Those that
// end now are deleted.
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
		return fault.New(fault.Conflict, "too_many_signing_keys", "At most %d keys are published. Wait until the "+
			"oldest one ends, or rotate with grace_seconds 0 to end all of them now.", mostSigningKeys)
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

// readCallSigning adds the keys that sign the project's calls, sealed, and the data keys that
// open them.
func readCallSigning(r *projectRows, row models.Project, out *snapshot.Project) error {
	for _, k := range r.signing[row.ID] {
		if err := addDataKey(r.tx, out, k.PrivateKey); err != nil {
			return err
		}
		one := snapshot.CallSigningKey{
			ID:        k.ID,
			Public:    k.PublicKey,
			Sealed:    k.PrivateKey,
			SignsFrom: k.SignsFrom.UTC(),
		}
		if k.PublishedUntil != nil {
			one.PublishedUntil = k.PublishedUntil.UTC()
		}
		out.CallSigningKeys = append(out.CallSigningKeys, one)
	}
	return nil
}

// SigningKey opens the private key of a project.
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

// viewSigning returns the keys that are published at now.
func viewSigning(tx *models.Tx, project models.Project, now time.Time) (CallSigning, error) {
	rows, err := tx.CallSigningKeysOf(project.ID)
	if err != nil {
		return CallSigning{}, err
	}
	out := CallSigning{Project: project.Name}
	for i, k := range rows {
		state := KeySigning
		switch {
		case k.PublishedUntil != nil && !k.PublishedUntil.After(now):
			continue
		case k.SignsFrom.After(now):
			state = KeyPending
		case slices.ContainsFunc(rows[i+1:], func(l models.CallSigningKey) bool { return !l.SignsFrom.After(now) }):
			state = KeyFormer
		}
		out.Keys = append(out.Keys, CallSigningKey{
			ID:             k.ID,
			Public:         k.PublicKey,
			State:          state,
			SignsFrom:      k.SignsFrom,
			PublishedUntil: k.PublishedUntil,
			CreatedAt:      k.CreatedAt,
		})
	}
	return out, nil
}
