package exports

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"sync"

	"filippo.io/age"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/projects"
)

func (o Options) checkRecipient() []fault.Field {
	if o.Recipient == "" {
		return nil
	}
	if !o.Secrets {
		return []fault.Field{{Pointer: "/recipient", Code: "recipient_without_secrets",
			Detail: "A recipient requires secrets. Include secrets, or leave the recipient out."}}
	}
	if _, err := bundle.ParseRecipient(o.Recipient); err != nil {
		refused, _ := errors.AsType[*fault.Error](err)
		return refused.Fields
	}
	return nil
}

// provedForSecrets checks that the caller may take secrets away, and is the account's
// person. It comes before the transaction, because a password takes long to check.
func (s *Service) provedForSecrets(
	ctx context.Context, p access.Principal, project string, options Options,
) error {
	if !options.Secrets {
		return nil
	}
	parent, err := access.Project(s.DB.Read(ctx), p, project, access.ExportCreate)
	if err != nil {
		return err
	}
	if _, err := options.normalized(); err != nil {
		return err
	}
	if err := access.Check(p, parent.TeamID, access.ExportSecrets); err != nil {
		return err
	}
	if s.Vault == nil || s.Prove == nil {
		return fault.InvalidField("/secrets", "no_encryption",
			"This server has no secrets key, so it has no secrets to export. Leave secrets out.")
	}
	return s.Prove(ctx, p, options.Password.Reveal())
}

// secretsOf returns the secrets of the project by the items of its ledger. They are opened
// one by one when they are written, and never kept.
func (s *Service) secretsOf(tx *models.Tx, p *snapshot.Project) (func(item string) (string, error), error) {
	sealed, err := sealedOf(tx, p)
	if err != nil {
		return nil, err
	}
	return func(item string) (string, error) {
		one, have := sealed[item]
		if !have {
			return "", fmt.Errorf("exports: %s has no sealed value", item)
		}
		value, err := s.Vault.Open(tx, one.place, one.value)
		if err == nil && one.seed {
			return signingKey(value.Reveal())
		}
		return value.Reveal(), err
	}, nil
}

// sealedValue is a value and the place that it is sealed for.
type sealedValue struct {
	place secrets.Place
	value secrets.Sealed
	seed  bool // of an Ed25519 key, base64url
}

func sealedOf(tx *models.Tx, p *snapshot.Project) (map[string]sealedValue, error) {
	out := map[string]sealedValue{}
	add := func(f snapshot.Feature, id string, place secrets.Place, value secrets.Sealed, seed bool) {
		out[bundle.Subject{Feature: f, ID: id}.ItemID()] = sealedValue{place, value, seed}
	}
	providers, err := tx.ProvidersWithSecrets(p.ID)
	if err != nil {
		return nil, err
	}
	for _, one := range providers {
		add(snapshot.FeatureProvider, one.AppClientID+":"+one.ID, one.SecretPlace(), one.ClientSecret, false)
	}
	versions, err := tx.VersionsOf(p.ID)
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		add(snapshot.FeatureIntrospection, v.ID, projects.IntrospectionPlace(v.ID), v.IntrospectionSecret, false)
	}
	for _, v := range p.Versions {
		for _, e := range v.Environments {
			for _, h := range e.Headers {
				place := projects.UpstreamHeaderPlace(e.ID, h.Name)
				add(snapshot.FeatureUpstreamHeader, e.ID+":"+h.Name, place, h.Sealed, false)
			}
			if e.Certificate != nil {
				place := projects.ClientKeyPlace(e.ID)
				add(snapshot.FeatureUpstreamCert, e.ID, place, e.Certificate.Sealed, false)
			}
		}
	}
	for i, k := range p.CallSigningKeys { // the last of those that sign already
		if i == 0 || !k.SignsFrom.After(models.Now()) {
			add(snapshot.FeatureCallSigning, p.ID, projects.SigningKeyPlace(p.ID, k.ID), k.Sealed, true)
		}
	}
	return out, nil
}

// signingKey returns the key with that seed as PKCS #8 in base64, which the exported
// gateway reads.
func signingKey(seed string) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(seed)
	if err != nil || len(raw) != ed25519.SeedSize {
		return "", errors.New("exports: the key that signs calls is damaged")
	}
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed(raw))
	return base64.StdEncoding.EncodeToString(der), err
}

// fileKeyPlace returns the place that the key of an export's file is sealed for.
func fileKeyPlace(export string) secrets.Place {
	return secrets.Place{
		Table:   "exports",
		Row:     export,
		Column:  "file_key",
		Purpose: secrets.ForControl,
	}
}

// encrypted returns a draft whose file is encrypted with a new key, and the sealed key. A
// file with secrets is never stored otherwise.
func (s *Service) encrypted(ctx context.Context, row models.Export, draft Draft) (Draft, secrets.Sealed, error) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, nil, fmt.Errorf("exports: a key for %s: %w", row.ID, err)
	}
	var sealed secrets.Sealed
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		parent, err := tx.ProjectByID(row.ProjectID)
		if err != nil {
			return err
		}
		sealed, err = s.Vault.Seal(tx, parent.TeamID, fileKeyPlace(row.ID), secrets.Secret(identity.String()))
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("exports: seal the key of %s: %w", row.ID, err)
	}
	w, err := age.Encrypt(draft, identity.Recipient())
	if err != nil {
		return nil, nil, fmt.Errorf("exports: encrypt %s: %w", row.ID, err)
	}
	return &encryptedDraft{Draft: draft, w: w}, sealed, nil
}

type encryptedDraft struct {
	Draft
	w io.WriteCloser
}

func (d *encryptedDraft) Write(p []byte) (int, error) { return d.w.Write(p) }

// Commit implements Draft.
func (d *encryptedDraft) Commit() error {
	if err := d.w.Close(); err != nil {
		return err
	}
	return d.Draft.Commit()
}

// open opens the file of an export, and decrypts it if it has secrets.
func (s *Service) open(ctx context.Context, row models.Export) (io.ReadSeekCloser, error) {
	content, err := s.Store.Open(ctx, attemptOf(row))
	if err != nil || !row.Secrets {
		return content, err
	}
	plain, err := s.decrypted(ctx, row, content)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("exports: decrypt %s: %w", row.ID, err), content.Close())
	}
	return plain, nil
}

func (s *Service) decrypted(
	ctx context.Context, row models.Export, content io.ReadSeekCloser,
) (io.ReadSeekCloser, error) {
	if s.Vault == nil {
		return nil, errors.New("this server has no secrets key")
	}
	key, err := s.Vault.Open(s.DB.Read(ctx), fileKeyPlace(row.ID), row.FileKey)
	if err != nil {
		return nil, err
	}
	identity, err := age.ParseX25519Identity(key.Reveal())
	if err != nil {
		return nil, err
	}
	size, err := content.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	plain, length, err := age.DecryptReaderAt(&readerAt{content: content}, size, identity)
	if err != nil {
		return nil, err
	}
	return struct {
		io.ReadSeeker
		io.Closer
	}{io.NewSectionReader(plain, 0, length), content}, nil
}

// readerAt reads a seekable file at any place.
type readerAt struct {
	mu      sync.Mutex
	content io.ReadSeeker
}

func (r *readerAt) ReadAt(p []byte, at int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.content.Seek(at, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(r.content, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}
