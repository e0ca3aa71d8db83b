package bundle

import (
	"context"
	"iter"
	"slices"
	"strings"

	"postern/core/snapshot"
)

// A line of a digest names at most digestNames items, and all lines together at most
// digestBytes of names, so that a digest is small however large the ledger is.
const (
	digestNames = 1000
	digestBytes = 2 << 20
)

// Line sums up the items of a ledger that have one code.
type Line struct {
	Code   string           `json:"code"`
	Kind   snapshot.Feature `json:"kind"`
	Status Status           `json:"status"`
	Note   string           `json:"note"`
	Remedy string           `json:"remedy,omitempty"` // "": there is nothing to do
	Count  int64            `json:"count"`
	Names  []string         `json:"names,omitempty"`  // of the first items
	People bool             `json:"people,omitempty"` // the names are those of keys or of people
}

// Digest is a ledger, summed up by codes in the order of their first items.
type Digest struct {
	Summary Summary
	Lines   []Line
	Partial bool // only some of the keys were counted

	at   map[string]int // line by code
	size int            // bytes of all names
}

// Add counts an item.
func (d *Digest) Add(item Item) {
	d.Summary.count(item.Status)
	n, known := d.at[item.Code]
	if !known {
		if d.at == nil {
			d.at = map[string]int{}
		}
		n = len(d.Lines)
		d.at[item.Code] = n
		line := Line{Code: item.Code, Kind: snapshot.Feature(item.Kind), Status: item.Status, Note: item.Note}
		if item.Remedy != nil {
			line.Remedy = *item.Remedy
		}
		d.Lines = append(d.Lines, line)
	}
	line := &d.Lines[n]
	line.Count++
	line.People = line.People || item.ofPeople()
	if len(line.Names) < digestNames && d.size+len(item.Name) <= digestBytes {
		line.Names = append(line.Names, strings.ToValidUTF8(item.Name, "\uFFFD")) // as it is in JSON
		d.size += len(item.Name)
	}
}

// peoplesKinds are the kinds of items whose names are those of keys or of people.
var peoplesKinds = []snapshot.Feature{
	snapshot.FeatureKey, snapshot.FeatureKeyGrace, snapshot.FeatureKeyIPs,
	snapshot.FeatureUsers, snapshot.FeatureUserGroup, snapshot.FeatureEntryRule, snapshot.FeatureConsents,
}

// ofPeople reports whether the item's name is that of a key or of people. Limits are those
// of a key if their ids begin with its id.
func (i Item) ofPeople() bool {
	return slices.Contains(peoplesKinds, snapshot.Feature(i.Kind)) ||
		strings.HasPrefix(i.ID, string(snapshot.FeatureLimits)+":key_")
}

// Preview returns the digest of the ledger that Write would write, without writing anything.
// It holds at most so many keys in memory and leaves out the others. Errors are those of
// Write.
func Preview(ctx context.Context, in Input, keys int) (Digest, error) {
	var out Digest
	b, err := newBuild(in)
	if err != nil {
		return out, err
	}
	defer b.close()
	byTenant, err := firstKeys(ctx, in, keys, &out.Partial)
	if err != nil {
		return out, err
	}
	b.source = func(_ context.Context, t snapshot.Tenant) iter.Seq2[snapshot.Key, error] {
		return func(yield func(snapshot.Key, error) bool) {
			for _, k := range byTenant[t.ID] {
				if !yield(k, nil) {
					return
				}
			}
		}
	}
	err = b.items(ctx, reportFile, out.Add)
	return out, err
}

// firstKeys returns at most so many keys by their tenants, and sets more if there are others.
func firstKeys(ctx context.Context, in Input, most int, more *bool) (map[string][]snapshot.Key, error) {
	out := map[string][]snapshot.Key{}
	read := 0
	for k, err := range in.Keys(ctx) {
		if err != nil {
			return nil, err
		}
		if read == most {
			*more = true
			break
		}
		read++
		out[k.TenantID] = append(out[k.TenantID], k)
	}
	return out, nil
}
