package bundle

import (
	"context"
	"iter"
	"strings"

	"postern/core/snapshot"
)

// digestNames is the number of items that a line of a digest names.
const digestNames = 20

// Line sums up the items of a ledger that have one code.
type Line struct {
	Code   string
	Kind   snapshot.Feature
	Status Status
	Note   string
	Remedy string // "": there is nothing to do
	Count  int64
	Names  []string // of the first items
}

// Digest is a ledger, summed up by codes in the order of their first items.
type Digest struct {
	Summary Summary
	Lines   []Line
	Partial bool // only some of the keys were counted

	at map[string]int // line by code
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
	if len(line.Names) < digestNames {
		line.Names = append(line.Names, strings.ToValidUTF8(item.Name, "\uFFFD")) // as it is in JSON
	}
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
	byTenant, err := b.firstKeys(ctx, keys, &out.Partial)
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
func (b *Build) firstKeys(ctx context.Context, most int, more *bool) (map[string][]snapshot.Key, error) {
	out := map[string][]snapshot.Key{}
	read := 0
	for k, err := range b.source(ctx, snapshot.Tenant{}) {
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
