package bundle

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"hash/crc32"
	"io"
	"strings"

	"postern/policy"
	"postern/snapshot"
)

// Mintable tells whether an export with KeysMint makes a new key beside k:
// nobody needs one for a key that opens nothing.
func Mintable(k *snapshot.Key) bool { return k.State == snapshot.KeyActive }

// Minted is the new key beside k, or false when this export mints none. It is
// derived from a random seed that exists during this export only, so that every
// part sees the same key without a million of them being kept.
func (b *Build) Minted(k *snapshot.Key) (plaintext string, ok bool) {
	if b.seed == nil || !Mintable(k) {
		return "", false
	}
	prefix, _, _ := strings.Cut(k.Prefix, "_")
	if prefix == "" {
		prefix = policy.DefaultKeyPrefix
	}
	return deriveKey(b.seed, prefix, k.Environment, k.ID), true
}

// MadeUpKey is a well-formed key that nobody holds, the same in every export of
// the project: what a smoke test presents to be refused.
func (b *Build) MadeUpKey(environment string) string {
	return deriveKey([]byte("postern: a key nobody holds"), policy.DefaultKeyPrefix, environment, b.Project.ID)
}

// deriveKey makes a key (see policy.NewKey for its shape) from HMAC-SHA256
// blocks of the seed over the label, 190 bits of them.
func deriveKey(seed []byte, prefix, environment, label string) string {
	if environment == "" {
		environment = policy.AllEnvironments
	}
	const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	secret := make([]byte, 0, 32)
	for block := byte(0); len(secret) < 32; block++ {
		mac := hmac.New(sha256.New, seed)
		mac.Write([]byte{block})
		mac.Write([]byte(label))
		for _, c := range mac.Sum(nil) {
			// 248 is the largest multiple of 62 that fits; more would favour some characters.
			if c < 248 && len(secret) < 32 {
				secret = append(secret, base62[c%62])
			}
		}
	}
	body := prefix + "_" + environment + "_" + string(secret)
	sum := crc32.ChecksumIEEE([]byte(body))
	check := make([]byte, 6)
	for i := 5; i >= 0; i-- {
		check[i] = base62[sum%62]
		sum /= 62
	}
	return body + string(check)
}

const mintedDoc = `The new keys in plaintext, as CSV (RFC 4180): ` + "`key_id,owner,environment,description,key`" + `. An empty environment opens
all. A cell that a spreadsheet would take for a formula begins with an apostrophe. This file is as secret as the keys.
`

func (b *Build) mintedRows(tenant snapshot.Tenant) Part {
	name := "tenants/" + tenant.Name + "/keys/minted.csv"
	return Part{Name: name, Doc: mintedDoc, Write: func(ctx context.Context, w io.Writer) error {
		out := NewStream(w)
		out.Raw("key_id,owner,environment,description,key\r\n")
		for k, err := range b.KeysOf(ctx, tenant, name) {
			if err != nil {
				return err
			}
			if key, ok := b.Minted(k); ok {
				out.Raw(strings.Join([]string{cell(k.ID), cell(k.Owner), cell(k.Environment), cell(k.Description), cell(key)}, ",") + "\r\n")
			}
		}
		return out.Close()
	}}
}

// cell quotes every value, and disarms those that spreadsheets run: the first
// character decides, also behind blanks (OWASP, CSV Injection).
func cell(value string) string {
	if rest := strings.TrimLeft(value, " \t\r\n\u00a0"); rest != "" && strings.ContainsAny(rest[:1], "=+-@") ||
		strings.HasPrefix(rest, "＝") || strings.HasPrefix(value, "\t") || strings.HasPrefix(value, "\r") {
		value = "'" + value
	}
	return `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
}

const noticeText = `# New API keys

This export comes with new API keys for the gateway in this zip. Each active key got one, under the same key id, owner,
scopes, environment and end.

1. Send every consumer the line of minted.csv with their owner name, over a channel you would send a password over.
2. The keys they hold today go on working here, so nobody has to hurry. To end one, delete the lines that
   begin with its id and have another hash than the new key's from gateway/gateway.yaml, and start the gateway again.
3. Delete minted.csv when all are sent. The keys cannot be shown again: the gateway keeps their hashes only.

The new keys do not work on the hosted proxy.
`

func mintNotice(tenant snapshot.Tenant) Part {
	return Part{
		Name: "tenants/" + tenant.Name + "/keys/NOTICE.md",
		Doc:  "What to do with `minted.csv`.\n",
		Write: func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, noticeText)
			return err
		},
	}
}
