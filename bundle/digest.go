package bundle

import (
	"context"
	"iter"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/snapshot"
)

// A line of a digest names at most digestNames items, and the names in all lines have at most digestBytes, so that a
// digest stays small however large the ledger is.
const (
	digestNames = 1000
	digestBytes = 2 << 20
)

// Line summarizes the items of a ledger that have the same code.
type Line struct {
	contract.LedgerLine
	People bool `json:"people"` // the names belong to keys or people
}

// Digest is a ledger summarized by code. Its lines are in the order of their first items.
type Digest struct {
	Summary contract.LedgerTotals
	Lines   []Line
	Partial bool // only some of the keys were counted

	at   map[string]int // line by code
	size int            // bytes of all names
}

// Add counts an item.
func (d *Digest) Add(item Item) { d.add(item, 1) }

// add counts an item that stands for n.
func (d *Digest) add(item Item, n int64) {
	d.Summary.Add(string(item.Status), item.Configured, n)
	at, known := d.at[item.Code]
	if !known {
		if d.at == nil {
			d.at = map[string]int{}
		}
		at = len(d.Lines)
		d.at[item.Code] = at
		kind := snapshot.Feature(item.Kind)
		d.Lines = append(d.Lines, Line{LedgerLine: contract.LedgerLine{
			Code:       item.Code,
			Kind:       item.Kind,
			Title:      item.Title,
			Area:       string(kind.Area()),
			Status:     string(item.Status),
			Configured: item.Configured,
			Note:       item.Note,
			Remedy:     item.Remedy,
			Names:      []string{},
		}})
	}
	line := &d.Lines[at]
	line.Count += n
	line.People = line.People || item.ofPeople()
	if len(line.Names) < digestNames && d.size+len(item.Name) <= digestBytes {
		line.Names = append(line.Names, strings.ToValidUTF8(item.Name, "\uFFFD")) // as it is in JSON
		d.size += len(item.Name)
	}
}

// peoplesKinds are the kinds of items whose names are those of keys or of people.
var peoplesKinds = []snapshot.Feature{
	snapshot.FeatureKey, snapshot.FeatureKeyGrace, snapshot.FeatureKeyIPs,
	snapshot.FeatureUsers, snapshot.FeatureUserGroup, snapshot.FeatureSignupPolicy, snapshot.FeatureConsents,
}

// ofPeople reports whether the item's name is that of a key or of people. Limits are those
// of a key if their ids begin with its id.
func (i Item) ofPeople() bool {
	return slices.Contains(peoplesKinds, snapshot.Feature(i.Kind)) ||
		strings.HasPrefix(i.ID, string(snapshot.FeatureLimits)+":key_")
}

// PreviewNames is the maximum number of items that a line of a preview names.
const PreviewNames = 20

// Sample has the keys of a project for a preview: all keys about which the ledger may have a special note, and enough
// other keys so that each line names PreviewNames of them.
type Sample struct {
	Keys    map[string][]snapshot.Key // by tenant, in ascending order of their ids
	Alike   map[string]int64          // by the ID of a key in Keys: the number of other keys that differ only in name
	Partial bool                      // some keys weren't counted
}

// Preview returns the digest of the ledger that Write would write, without writing anything. Its lines name at most
// PreviewNames items. It counts at most the given number of keys and leaves out the others. Errors are those of Write.
func Preview(ctx context.Context, in Input, keys int) (Digest, error) {
	var out Digest
	b, err := newBuild(in)
	if err != nil {
		return out, err
	}
	defer b.close()
	read := in.Sample
	if read == nil {
		read = in.firstKeys
	}
	sample, err := read(ctx, keys)
	if err != nil {
		return out, err
	}
	out.Partial = sample.Partial
	b.source = func(_ context.Context, t snapshot.Tenant) iter.Seq2[snapshot.Key, error] {
		return func(yield func(snapshot.Key, error) bool) {
			for _, k := range sample.Keys[t.ID] {
				if !yield(k, nil) {
					return
				}
			}
		}
	}
	err = b.items(ctx, reportFile, func(item Item) {
		n := int64(1)
		if id, isKey := strings.CutPrefix(item.ID, string(snapshot.FeatureKey)+":"); isKey {
			n += sample.Alike[id]
		}
		out.add(item, n)
	})
	for i := range out.Lines {
		out.Lines[i].Names = out.Lines[i].Names[:min(len(out.Lines[i].Names), PreviewNames)]
	}
	return out, err
}

// firstKeys returns at most that many keys, one by one.
func (in Input) firstKeys(ctx context.Context, most int) (Sample, error) {
	out := Sample{Keys: map[string][]snapshot.Key{}}
	read := 0
	for k, err := range in.Keys(ctx) {
		if err != nil {
			return Sample{}, err
		}
		if read == most {
			out.Partial = true
			break
		}
		read++
		out.Keys[k.TenantID] = append(out.Keys[k.TenantID], k)
	}
	return out, nil
}
