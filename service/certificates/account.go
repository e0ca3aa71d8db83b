package certificates

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/crypto/acme"

	"postern/models"
	"postern/platform/secrets"
)

// sealedFor is whose data key seals the private keys. They are the installation's: a host
// name can move to another team.
const sealedFor = "installation"

// account is the client with the installation's key.
type account struct {
	mu         sync.Mutex
	client     *acme.Client // nil until the key was read
	registered bool
	public     *acme.Client // with the public key alone, nil until it was read
}

// challenger returns a client that creates certificates for challenges. It needs the public
// key of the account alone, which is all that a gateway gets of it.
func (s *Service) challenger(tx *models.Tx) (*acme.Client, error) {
	s.account.mu.Lock()
	defer s.account.mu.Unlock()
	if s.account.public != nil {
		return s.account.public, nil
	}
	text, err := tx.ACMEPublicKey(s.Directory)
	if err != nil {
		return nil, fmt.Errorf("certificates: account at %s: %w", s.Directory, err)
	}
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, fmt.Errorf("certificates: the account at %s has no public key", s.Directory)
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("certificates: account at %s: %w", s.Directory, err)
	}
	s.account.public = &acme.Client{Key: verifyOnly{public}}
	return s.account.public, nil
}

// verifyOnly is a signer without a private key. Challenges name the account's public key
// (RFC 8555, section 8.1) and are not signed with it.
type verifyOnly struct{ public crypto.PublicKey }

func (v verifyOnly) Public() crypto.PublicKey { return v.public }

func (v verifyOnly) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	return nil, errors.New("certificates: this process doesn't have the account's private key")
}

// signer returns the client with the account's key, which it creates at the first use. All
// replicas have the same key.
func (s *Service) signer(ctx context.Context) (*acme.Client, error) {
	s.account.mu.Lock()
	defer s.account.mu.Unlock()
	if s.account.client != nil {
		return s.account.client, nil
	}
	var text secrets.Secret
	var key *ecdsa.PrivateKey
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := tx.ACMEAccountAt(s.Directory)
		if errors.Is(err, models.ErrNotFound) {
			row, err = s.addAccount(tx)
		}
		if err != nil {
			return err
		}
		if text, err = s.Vault.Open(tx, s.accountPlace(), row.PrivateKey); err != nil {
			return err
		}
		key, err = parseKey(text)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("certificates: account at %s: %w", s.Directory, err)
	}
	s.account.client = &acme.Client{
		Key:          key,
		HTTPClient:   s.Client,
		DirectoryURL: s.Directory,
		UserAgent:    "postern",
	}
	return s.account.client, nil
}

func (s *Service) accountPlace() secrets.Place {
	return secrets.Place{
		Table:   "acme_accounts",
		Row:     s.Directory,
		Column:  "private_key",
		Purpose: secrets.ForControl,
	}
}

// addAccount stores a new key, and returns the one that is stored after that.
func (s *Service) addAccount(tx *models.Tx) (models.ACMEAccount, error) {
	text, err := newKey()
	if err != nil {
		return models.ACMEAccount{}, err
	}
	sealed, err := s.Vault.Seal(tx, sealedFor, s.accountPlace(), text)
	if err != nil {
		return models.ACMEAccount{}, err
	}
	key, err := parseKey(text)
	if err != nil {
		return models.ACMEAccount{}, err
	}
	public, err := publicKeyOf(key)
	if err != nil {
		return models.ACMEAccount{}, err
	}
	fresh := models.ACMEAccount{
		Directory:  s.Directory,
		PrivateKey: sealed,
		PublicKey:  public,
		CreatedAt:  models.Now(),
	}
	if err := tx.AddACMEAccount(fresh); err != nil {
		return models.ACMEAccount{}, err
	}
	return tx.ACMEAccountAt(s.Directory)
}

// registeredClient returns the client once the ACME server has its account. The terms of service
// were accepted in the configuration.
func (s *Service) registeredClient(ctx context.Context) (*acme.Client, error) {
	client, err := s.signer(ctx)
	if err != nil {
		return nil, err
	}
	s.account.mu.Lock()
	defer s.account.mu.Unlock()
	if s.account.registered {
		return client, nil
	}
	var contact []string
	if s.Email != "" {
		contact = []string{"mailto:" + s.Email}
	}
	_, err = client.Register(ctx, &acme.Account{Contact: contact}, acme.AcceptTOS)
	if err != nil && !errors.Is(err, acme.ErrAccountAlreadyExists) {
		return nil, fmt.Errorf("certificates: register at %s: %w", s.Directory, err)
	}
	s.account.registered = true
	return client, nil
}

// newKey returns a new ECDSA key (P-256) in PEM.
func newKey() (secrets.Secret, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("certificates: create a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", fmt.Errorf("certificates: encode a key: %w", err)
	}
	return secrets.Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), nil
}

// publicKeyOf returns the public key in PEM.
func publicKeyOf(key *ecdsa.PrivateKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return "", fmt.Errorf("certificates: encode a key: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), nil
}

func parseKey(text secrets.Secret) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text.Reveal()))
	if block == nil {
		return nil, errors.New("the key is not PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse the key: %w", err)
	}
	out, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("the key is a %T", key)
	}
	return out, nil
}
