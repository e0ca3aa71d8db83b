package bundle

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/netip"
	"net/url"

	"postern/bundle/jsonfile"
	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
)

// progressEvery is the number of keys between two progress reports.
const progressEvery = 1000

// keyCounts has the numbers of keys for the manifest. The part that writes the key rows
// counts them.
type keyCounts struct {
	total  int64
	states map[snapshot.KeyState]int64
}

// keyDoc is a line of keys.jsonl: a key in the form of the API, with IDs and digests.
type keyDoc struct {
	contract.KeyRecord
	TenantID       string  `json:"tenant_id"`
	ProjectID      string  `json:"project_id"`
	ProductID      *string `json:"product_id"`
	OwnerFrozen    bool    `json:"owner_frozen,omitempty"`
	SHA256         string  `json:"sha256"`
	PreviousSHA256 *string `json:"previous_sha256"`
	MintedSHA256   *string `json:"minted_sha256,omitempty"`
}

// keysMintDoc continues the table of keysDoc if the rows have the field.
const keysMintDoc = "| `minted_sha256` | the SHA-256 of the new key in `minted.csv`, only for active keys |\n"

// KeysFile returns the name of the file of a tenant's key rows.
func KeysFile(t snapshot.Tenant) string { return tenantFolder(t.Name) + "keys/keys.jsonl" }

func (b *Build) keyRows(tenant snapshot.Tenant) Part {
	doc := keysDoc
	if b.mints() {
		doc += keysMintDoc
	}
	return Part{Name: KeysFile(tenant), Doc: doc, Write: func(ctx context.Context, w io.Writer) error {
		if b.counts.states == nil {
			b.counts.states = map[snapshot.KeyState]int64{}
		}
		out := jsonfile.NewStream(w)
		for k, err := range b.KeysOf(ctx, tenant, KeysFile(tenant)) {
			if err != nil {
				return err
			}
			b.counts.total++
			b.counts.states[k.State]++
			row, err := b.keyRow(k)
			if err != nil {
				return err
			}
			out.Value(row)
			out.Raw("\n")
		}
		return out.Close()
	}}
}

func (b *Build) keyRow(k *snapshot.Key) (keyDoc, error) {
	doc := keyDoc{
		KeyRecord: contract.KeyRecord{
			ID:           k.ID,
			Owner:        k.Owner,
			KeyType:      k.KeyType,
			Scopes:       list(k.Scopes),
			Tenant:       k.Tenant,
			Environment:  optional(k.Environment),
			State:        string(k.State),
			AllowedCIDRs: rangeTexts(k.AllowedIPs),
			ExpiresAt:    momentOrNull(k.ExpiresAt),
			GraceEndsAt:  momentOrNull(k.GraceEndsAt),
			KeyDetails:   k.KeyDetails,
			KeyIdentity:  k.KeyIdentity,
		},
		TenantID:    k.TenantID,
		ProjectID:   k.ProjectID,
		ProductID:   optional(k.ProductID),
		OwnerFrozen: k.OwnerFrozen,
		SHA256:      hexSum(k.Hash),
	}
	doc.CreatedAt = k.CreatedAt.UTC()
	if k.Limits != nil {
		doc.Limits = new(k.Limits.Stated())
	}
	if k.OldHash != nil {
		doc.PreviousSHA256 = optional(hexSum(*k.OldHash))
	}
	minted, err := b.MintedHash(k)
	if minted != nil {
		doc.MintedSHA256 = optional(hexSum(*minted))
	}
	return doc, err
}

// Keys iterates over all keys by tenant and in ascending order of IDs, which is their order in all parts and in the
// ledger. part names the work in progress reports. Keys stops with an error at the first row that doesn't belong to the
// project.
func (b *Build) Keys(ctx context.Context, part string) iter.Seq2[*snapshot.Key, error] {
	return func(yield func(*snapshot.Key, error) bool) {
		for _, tenant := range b.Project.Tenants {
			for k, err := range b.KeysOf(ctx, tenant, part) {
				if !yield(k, err) || err != nil {
					return
				}
			}
		}
	}
}

// KeysOf is Keys for one tenant. A key is valid until the next iteration.
func (b *Build) KeysOf(ctx context.Context, tenant snapshot.Tenant, part string) iter.Seq2[*snapshot.Key, error] {
	return func(yield func(*snapshot.Key, error) bool) {
		seen := b.keysBefore(tenant)
		first := seen
		order := b.orderOf(KeysFile(tenant))
		for k, err := range b.source(ctx, tenant) {
			if err == nil && order != nil {
				if err = checkKey(b.Project, &k); err == nil {
					err = order.next(k.ID)
				}
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, fmt.Errorf("bundle: read keys: %w", err))
				return
			}
			if seen++; seen%progressEvery == 0 {
				b.progress(part, seen, b.total)
			}
			if k.TenantID == tenant.ID && !yield(&k, nil) {
				return
			}
		}
		if b.read != nil {
			b.read[tenant.ID] = seen - first
		}
		b.ordered[KeysFile(tenant)] = true
		b.progress(part, seen, b.total)
	}
}

// order checks that ids ascend.
type order struct{ last string }

func (o *order) next(id string) error {
	if id <= o.last {
		return fmt.Errorf("bundle: %s came after %s: rows must be in ascending order of their ids", id, o.last)
	}
	o.last = id
	return nil
}

// orderOf returns a check of the rows of a file, or nil if a complete pass has already checked them: each pass has the
// same rows.
func (b *Build) orderOf(file string) *order {
	if b.ordered[file] {
		return nil
	}
	return &order{}
}

// keysBefore returns the number of keys that come before those of a tenant, if each tenant's keys are read separately.
func (b *Build) keysBefore(tenant snapshot.Tenant) (n int64) {
	if b.read == nil {
		return 0
	}
	for _, earlier := range b.Project.Tenants {
		if earlier.ID == tenant.ID {
			break
		}
		n += b.read[earlier.ID]
	}
	return n
}

func rangeTexts(ranges []netip.Prefix) []string {
	out := make([]string, 0, len(ranges))
	for _, r := range ranges {
		out = append(out, r.String())
	}
	return out
}

// KeptIdentity returns the fields of the gateway's key table with the identity that upstreams know from the gateway
// from which the key was imported, and with the key's metadata if a version sends it. The values are URL-escaped. It
// returns "" if there are none.
func KeptIdentity(k *snapshot.Key, metadata bool) (out string) {
	add := func(name, value string) {
		if value != "" {
			out += " " + name + "=" + url.PathEscape(value)
		}
	}
	if k.Consumer != nil {
		add("asid", k.Consumer.ID)
		add("asname", k.Consumer.Username)
		add("ascustom", k.Consumer.CustomID)
	}
	if k.CredentialID != nil {
		add("ascredential", *k.CredentialID)
	}
	if metadata {
		add("asmetadata", policy.MetadataValue(k.Metadata))
	}
	return out
}
