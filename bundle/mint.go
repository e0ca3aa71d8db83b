package bundle

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"postern/bundle/jsonfile"
	"postern/core/policy"
	"postern/core/snapshot"
)

// Mintable reports whether an export with KeysMint has a new key for k. Keys that aren't accepted don't get one.
func Mintable(k *snapshot.Key) bool { return k.State == snapshot.KeyActive && !k.OwnerFrozen }

// Minted returns the new key for k, or "" if this export doesn't mint one. It derives the key from a random seed that
// exists only during this export, so that every part gets the same key without storing a million of them. It fails if
// the prefix or the environment of k breaks the product's naming rules.
func (b *Build) Minted(k *snapshot.Key) (plaintext string, err error) {
	if b.seed == nil || !Mintable(k) {
		return "", nil
	}
	prefix, _, _ := strings.Cut(k.Prefix, "_")
	if prefix == "" {
		prefix = policy.DefaultKeyPrefix
	}
	plaintext, err = deriveKey(b.seed, prefix, k.Environment, k.ID)
	if err != nil {
		return "", fmt.Errorf("bundle: new key for %s: %w", k.ID, err)
	}
	return plaintext, nil
}

// MintedHash returns the SHA-256 of the new key for k, or nil if the export doesn't have one.
func (b *Build) MintedHash(k *snapshot.Key) (*[32]byte, error) { return b.minted(k) }

func (b *Build) hashOfMinted(k *snapshot.Key) (*[32]byte, error) {
	plaintext, err := b.Minted(k)
	if err != nil || plaintext == "" {
		return nil, err
	}
	hash := policy.HashKey(plaintext)
	return &hash, nil
}

// UnknownKey returns a well-formed key that does not exist, for smoke tests that expect a refusal. It is the same in
// every export of the project. environment is one of the project's environments, or "" for a key that is valid for all
// of them.
func (b *Build) UnknownKey(environment string) string {
	key, err := deriveKey([]byte("postern: a key nobody holds"), policy.DefaultKeyPrefix, environment, b.Project.ID)
	if err != nil {
		panic(err) // checkProject accepted a name that a key cannot have
	}
	return key
}

// deriveKey returns the key that the seed and the label determine.
func deriveKey(seed []byte, prefix, environment, label string) (string, error) {
	return policy.NewKeyFrom(&keystream{seed: seed, label: label}, prefix, environment)
}

// keystream is an endless reader of bytes that can't be predicted without the seed: HMAC-SHA256 of a counter and the
// label (NIST SP 800-108, section 4.1).
type keystream struct {
	seed    []byte
	label   string
	counter byte // a key takes two blocks or three
	rest    []byte
}

func (s *keystream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		mac := hmac.New(sha256.New, s.seed)
		mac.Write([]byte{s.counter})
		mac.Write([]byte(s.label))
		s.rest = mac.Sum(nil)
		s.counter++
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

const mintedHead = "key_id,owner,environment,description,expires_at,key"

// mintedFile returns the name of the file of a tenant's new keys.
func mintedFile(t snapshot.Tenant) string { return tenantFolder(t.Name) + "keys/minted.csv" }

func (b *Build) mintedRows(tenant snapshot.Tenant) Part {
	name := mintedFile(tenant)
	return Part{Name: name, Doc: mintedDoc, Random: true, Write: func(ctx context.Context, w io.Writer) error {
		out := jsonfile.NewStream(w)
		out.Raw(mintedHead + "\r\n")
		for k, err := range b.KeysOf(ctx, tenant, name) {
			if err != nil {
				return err
			}
			key, err := b.Minted(k)
			if err != nil {
				return err
			}
			if key == "" {
				continue
			}
			cells := []string{
				cell(k.ID),
				cell(k.Owner),
				cell(k.Environment),
				cell(k.Description),
				cell(ending(k)),
				cell(key),
			}
			out.Raw(strings.Join(cells, ",") + "\r\n")
		}
		return out.Close()
	}}
}

// ending returns when a key and its new key expire, "" for never.
func ending(k *snapshot.Key) string {
	if end := optionalTime(k.ExpiresAt); end != nil {
		return *end
	}
	return ""
}

// cell returns value as a quoted CSV cell that no spreadsheet runs as a formula.
func cell(value string) string { return `"` + strings.ReplaceAll(disarm(value), `"`, `""`) + `"` }

// disarm puts an apostrophe before a value that a spreadsheet would run as a formula. The first character after spaces
// decides (OWASP, CSV Injection).
func disarm(value string) string {
	if rest := strings.TrimLeft(value, " \t\r\n\u00a0"); rest != "" && strings.ContainsAny(rest[:1], "=+-@") ||
		strings.HasPrefix(rest, "＝") || strings.HasPrefix(value, "\t") || strings.HasPrefix(value, "\r") {
		return "'" + value
	}
	return value
}

const noticeName = "NOTICE.md"

const noticeHead = `# New API keys

This export has new API keys: one for each active key, with the same key ID, owner, scopes, environment and expiration
time. The keys are in minted.csv, and their SHA-256 hashes are in keys.jsonl.

A new key expires when the old one does: see expires_at in minted.csv. After that, both get 401.

The new keys don't work on the hosted gateway.

`

func (b *Build) mintNotice(tenant snapshot.Tenant) Part {
	return Part{
		Name: tenantFolder(tenant.Name) + "keys/" + noticeName,
		Doc:  "What to do with `minted.csv`.\n",
		Write: func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, noticeHead+b.target.NewKeys)
			return err
		},
	}
}
