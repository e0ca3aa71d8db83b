package login

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/platform/syncmap"
	"postern/service/access"
	"postern/service/appclients"
)

// A new key is published keyLead before it signs, so that caches of the key set have it.
// The one before it verifies until the last of its tokens has expired.
const (
	keyLead = time.Hour
	keyAge  = 90 * 24 * time.Hour // after which Upkeep replaces it
	keyTail = snapshot.MaxAccess + time.Hour
)

// keyCache holds opened private keys by key id. A key never changes.
type keyCache struct {
	keys syncmap.Map[string, signingKey]
}

// signingKey is an opened private key.
type signingKey struct {
	id        string
	algorithm jose.SignatureAlgorithm
	private   crypto.Signer
}

func keyPlace(id string) secrets.Place {
	return secrets.Place{
		Table:   "signing_keys",
		Row:     id,
		Column:  "private_key",
		Purpose: secrets.ForControl,
	}
}

// signer returns the key that signs for a client: the newest active one of the client's
// algorithm. The first is created on demand.
func (s *Service) signer(ctx context.Context, client models.AppClient) (signingKey, error) {
	now := models.Now()
	rows, err := s.DB.Read(ctx).SigningKeysOf(client.ID, now)
	if err != nil {
		return signingKey{}, err
	}
	row, ok := current(rows, client.Algorithm, now)
	if !ok {
		if row, err = s.addKey(ctx, client.ID, 0); err != nil {
			return signingKey{}, err
		}
	}
	return s.open(ctx, row)
}

func current(rows []models.SigningKey, algorithm string, now time.Time) (models.SigningKey, bool) {
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i].Algorithm == algorithm && !rows[i].ActiveAt.After(now) {
			return rows[i], true
		}
	}
	return models.SigningKey{}, false
}

func (s *Service) open(ctx context.Context, row models.SigningKey) (signingKey, error) {
	if known, ok := s.opened.keys.Load(row.ID); ok {
		return known, nil
	}
	sealed, err := s.Vault.Open(s.DB.Read(ctx), keyPlace(row.ID), row.PrivateKey)
	if err != nil {
		return signingKey{}, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey([]byte(sealed.Reveal()))
	if err != nil {
		return signingKey{}, fmt.Errorf("login: signing key %s: %w", row.ID, err)
	}
	private, ok := parsed.(crypto.Signer)
	if !ok {
		return signingKey{}, fmt.Errorf("login: signing key %s is a %T", row.ID, parsed)
	}
	key := signingKey{id: row.ID, algorithm: jose.SignatureAlgorithm(row.Algorithm), private: private}
	s.opened.keys.Store(row.ID, key)
	return key, nil
}

// addKey creates a client's next key, which signs after lead. If another process created
// a first key in the meantime, that one is returned.
func (s *Service) addKey(ctx context.Context, clientID string, lead time.Duration) (models.SigningKey, error) {
	client, err := s.DB.Read(ctx).AppClientByID(clientID)
	if err != nil {
		return models.SigningKey{}, err
	}
	private, err := generate(client.Algorithm) // before the transaction, because it is slow
	if err != nil {
		return models.SigningKey{}, fmt.Errorf("login: create a signing key: %w", err)
	}
	var row models.SigningKey
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		if _, err := tx.LockAppClient(clientID); err != nil {
			return err
		}
		now := models.Now()
		rows, err := tx.SigningKeysOf(clientID, now)
		if err != nil {
			return err
		}
		if have, ok := current(rows, client.Algorithm, now); ok && lead == 0 {
			row = have
			return nil
		}
		if row, err = s.insertKey(tx, client, private, now.Add(lead)); err != nil {
			return err
		}
		tenant, err := tx.TenantByID(client.TenantID)
		if err != nil {
			return err
		}
		return tx.AddTenantRevisions(tenant, now) // gateways verify with it
	})
	if err == nil {
		s.Changed(ctx)
	}
	return row, err
}

// insertKey stores a client's next key. The ones before it end when the last token that
// they sign has expired.
func (s *Service) insertKey(
	tx *models.Tx, client models.AppClient, private crypto.Signer, activeAt time.Time,
) (models.SigningKey, error) {
	row, err := s.newKeyRow(tx, client, private, activeAt)
	if err != nil {
		return row, err
	}
	if err := tx.ExpireSigningKeys(client.ID, row.ID, activeAt.Add(keyTail)); err != nil {
		return row, err
	}
	return row, tx.Insert(&row)
}

// SigningKeys lists the published keys of an app client. An app client that has signed nothing yet has no keys.
func (s *Service) SigningKeys(
	ctx context.Context, p access.Principal, in contract.AppClientPath,
) (contract.AppClientKeys, error) {
	tx := s.DB.Read(ctx)
	if _, _, _, err := appclients.Find(tx, p, in.Client, access.LoginRead); err != nil {
		return contract.AppClientKeys{}, fmt.Errorf("login: signing keys of %s: %w", in.Client, err)
	}
	rows, err := tx.SigningKeysOf(in.Client, models.Now())
	if err != nil {
		return contract.AppClientKeys{}, fmt.Errorf("login: signing keys of %s: %w", in.Client, err)
	}
	return contract.AppClientKeys{Keys: shownKeys(rows)}, nil
}

func shownKeys(rows []models.SigningKey) []contract.AppClientKey {
	out := make([]contract.AppClientKey, 0, len(rows))
	for _, row := range rows {
		out = append(out, contract.AppClientKey{
			ID:             row.ID,
			Algorithm:      row.Algorithm,
			SignsFrom:      row.ActiveAt.UTC(),
			PublishedUntil: contract.UTC(row.ExpiresAt),
		})
	}
	return out
}

// RotateSigningKey gives an app client another signing key, and returns all that are
// published. The new one signs after keyLead, or at once if it is the first. While a key
// waits to sign, it returns rotation_pending.
func (s *Service) RotateSigningKey(
	ctx context.Context, p access.Principal, in contract.AppClientPath,
) (contract.AppClientKeys, error) {
	id, none := in.Client, contract.AppClientKeys{}
	seen, _, _, err := appclients.Find(s.DB.Read(ctx), p, id, access.LoginUpdate)
	if err != nil {
		return none, fmt.Errorf("login: rotate the signing key of %s: %w", id, err)
	}
	private, err := generate(seen.Algorithm) // before the transaction, because it is slow
	if err != nil {
		return none, fmt.Errorf("login: create a signing key: %w", err)
	}
	var out []contract.AppClientKey
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		_, tenant, team, err := appclients.Find(tx, p, id, access.LoginUpdate)
		if err != nil {
			return err
		}
		client, err := tx.LockAppClient(id)
		if err != nil {
			return err
		}
		if client.Algorithm != seen.Algorithm {
			return access.ChangedConcurrently()
		}
		before, after, err := s.rotate(tx, client, private)
		if err != nil {
			return err
		}
		out = shownKeys(after)
		return access.RecordServed(tx, p, tenant, access.Entry{
			Action: access.LoginUpdate,
			Object: id,
			Name:   client.Name,
			Team:   team,
			Before: rotatedKeys{client.Name, shownKeys(before)},
			After:  rotatedKeys{client.Name, out},
		})
	})
	if err != nil {
		return none, fmt.Errorf("login: rotate the signing key of %s: %w", id, err)
	}
	s.Changed(ctx)
	return contract.AppClientKeys{Keys: out}, nil
}

// rotatedKeys has the values that the audit log compares.
type rotatedKeys struct {
	Name        string
	SigningKeys []contract.AppClientKey
}

func (s *Service) rotate(
	tx *models.Tx, client models.AppClient, private crypto.Signer,
) (before, after []models.SigningKey, err error) {
	now := models.Now()
	if before, err = tx.SigningKeysOf(client.ID, now); err != nil {
		return nil, nil, err
	}
	for _, row := range before {
		if row.ActiveAt.After(now) && row.Algorithm == client.Algorithm {
			return nil, nil, fault.New(fault.Conflict, "rotation_pending",
				"The key %s will start signing at %s. Rotate again after that.", row.ID,
				row.ActiveAt.UTC().Format(time.RFC3339))
		}
	}
	at := now
	if _, signs := current(before, client.Algorithm, now); signs {
		at = now.Add(keyLead)
	}
	if _, err := s.insertKey(tx, client, private, at); err != nil {
		return nil, nil, err
	}
	after, err = tx.SigningKeysOf(client.ID, now)
	return before, after, err
}

func (s *Service) newKeyRow(
	tx *models.Tx, client models.AppClient, private crypto.Signer, activeAt time.Time,
) (models.SigningKey, error) {
	_, team, err := access.TenantAndTeam(tx, client.TenantID)
	if err != nil {
		return models.SigningKey{}, err
	}
	row := models.SigningKey{
		ID:        models.NewID("sig"),
		ClientID:  client.ID,
		Algorithm: client.Algorithm,
		ActiveAt:  activeAt,
		CreatedAt: models.Now(),
	}
	public, err := jose.JSONWebKey{
		Key:       private.Public(),
		KeyID:     row.ID,
		Algorithm: client.Algorithm,
		Use:       "sig",
	}.MarshalJSON()
	if err != nil {
		return row, err
	}
	row.PublicJWK = string(public)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return row, err
	}
	row.PrivateKey, err = s.Vault.Seal(tx, team, keyPlace(row.ID), secrets.Secret(encoded))
	return row, err
}

func generate(algorithm string) (crypto.Signer, error) {
	switch algorithm {
	case contract.RS256:
		return rsa.GenerateKey(rand.Reader, 2048)
	case contract.ES256:
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case contract.EdDSA:
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return private, err
	}
	return nil, fmt.Errorf("unknown algorithm %q", algorithm)
}

// publicKeys returns the keys that verify now, including those that do not sign yet.
func (s *Service) publicKeys(ctx context.Context, clientID string) (jose.JSONWebKeySet, error) {
	rows, err := s.DB.Read(ctx).SigningKeysOf(clientID, models.Now())
	if err != nil {
		return jose.JSONWebKeySet{}, err
	}
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, row := range rows {
		var key jose.JSONWebKey
		if err := key.UnmarshalJSON([]byte(row.PublicJWK)); err != nil {
			return set, fmt.Errorf("login: public key %s: %w", row.ID, err)
		}
		set.Keys = append(set.Keys, key)
	}
	return set, nil
}

// JWKS returns a client's public keys (RFC 7517, 5), at least one.
func (s *Service) JWKS(ctx context.Context, clientID string) (jose.JSONWebKeySet, error) {
	client, err := s.client(ctx, clientID)
	if err != nil {
		return jose.JSONWebKeySet{}, err
	}
	if _, err := s.signer(ctx, client); err != nil { // so that the set is never empty
		return jose.JSONWebKeySet{}, err
	}
	return s.publicKeys(ctx, clientID)
}

// maxRekeyed is how many clients get a new key in one Upkeep: generating an RSA key takes
// a noticeable part of a second.
const maxRekeyed = 20

// Upkeep replaces old signing keys, and deletes expired rows.
func (s *Service) Upkeep(ctx context.Context) error {
	now := models.Now()
	old, err := s.DB.Read(ctx).ClientsToRekey(now.Add(-keyAge), maxRekeyed)
	if err != nil {
		return fmt.Errorf("login: find old signing keys: %w", err)
	}
	var failed []error
	for _, id := range old {
		if _, err := s.addKey(ctx, id, keyLead); err != nil {
			failed = append(failed, fmt.Errorf("login: replace the signing key of %s: %w", id, err))
		}
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := errors.Join(tx.DeleteExpiredSigningKeys(now), tx.DeleteEndedUsers(now)); err != nil {
			return err
		}
		return errors.Join(
			tx.ClearSuccessors(now.Add(-refreshLeeway)),
			tx.DeleteExpiredLogins(now, now.Add(-snapshot.BarredFor)),
		)
	})
	return errors.Join(append(failed, err)...)
}

func isAbsent(err error) bool { return errors.Is(err, models.ErrNotFound) }
