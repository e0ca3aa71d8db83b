package exports

import (
	"context"
	"iter"
	"slices"
	"strings"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/keys"
)

// maxFrozenOwners bounds the owners whose keys are looked for one by one.
const maxFrozenOwners = 500

// keySampler reads the keys of a project for a preview. Most keys are plain: active, with nothing of their own but
// their name. The ledger has the same items for them, but for the tenants that the project no longer serves, so they
// are counted by an index, and only the others are read.
type keySampler struct {
	tx      *models.Tx
	project *snapshot.Project
}

// canSample reports whether a sampler can read the keys of a project. Keys of a product may open it by another type.
func canSample(project *snapshot.Project) bool {
	return project.ProductID == "" && len(frozenOwners(project)) <= maxFrozenOwners
}

func frozenOwners(project *snapshot.Project) []string {
	var out []string
	for _, user := range project.Barred {
		if !user.Deleted {
			out = append(out, user.ID)
		}
	}
	return out
}

// read implements bundle.Input.Sample.
func (s keySampler) read(ctx context.Context, most int) (bundle.Sample, error) {
	out := bundle.Sample{Keys: map[string][]snapshot.Key{}, Alike: map[string]int64{}}
	row, err := s.tx.ProjectByID(s.project.ID)
	if err != nil {
		return out, err
	}
	end, more, err := s.tx.KeyAfter(row.ID, most)
	if err != nil {
		return out, err
	}
	out.Partial = more
	left, err := s.tx.CountKeysOfTenants(row, end)
	if err != nil {
		return out, err
	}
	special := map[string]bool{}
	for k, err := range s.special(ctx, end) {
		if err != nil {
			return out, err
		}
		if !special[k.ID] {
			special[k.ID] = true
			out.Keys[k.TenantID] = append(out.Keys[k.TenantID], k)
			left[k.TenantID]--
		}
	}
	if err := s.addPlain(ctx, &out, left, special); err != nil {
		return out, err
	}
	for _, list := range out.Keys {
		slices.SortFunc(list, func(a, b snapshot.Key) int { return strings.Compare(a.ID, b.ID) })
	}
	return out, nil
}

// special iterates over the keys before end that are not plain. Some may come twice.
func (s keySampler) special(ctx context.Context, end string) iter.Seq2[snapshot.Key, error] {
	return keysBy(ctx, s.project, func(pass func(snapshot.Key) error) error {
		return keys.ScanRows(s.tx, s.project, pass, func(pass func(*models.APIKey) error) error {
			err := s.tx.ScanSpecialKeys(s.project.ID, end, pass)
			if frozen := frozenOwners(s.project); err == nil && len(frozen) > 0 {
				err = s.tx.ScanKeysOfOwners(s.project.ID, frozen, end, pass)
			}
			return err
		})
	})
}

// samplePart is how many keys of a tenant are read at once. PostgreSQL sends all rows of a query, also those after
// which reading stops.
const samplePart = 4 * bundle.PreviewNames

// keysOf iterates over the keys of a tenant, a few at a time.
func (s keySampler) keysOf(ctx context.Context, tenant snapshot.Tenant) iter.Seq2[snapshot.Key, error] {
	return func(yield func(snapshot.Key, error) bool) {
		for after, read := "", samplePart; read == samplePart; {
			read = 0 // also rows that do not open the project, which are not passed on
			rows := func(pass func(*models.APIKey) error) error {
				return s.tx.ScanKeysAfter(s.project.ID, tenant.ID, after, samplePart, func(row *models.APIKey) error {
					after = row.ID
					read++
					return pass(row)
				})
			}
			for k, err := range keysBy(ctx, s.project, func(pass func(snapshot.Key) error) error {
				return keys.ScanRows(s.tx, s.project, pass, rows)
			}) {
				if !yield(k, err) || err != nil {
					return
				}
			}
		}
	}
}

// addPlain adds the first plain keys, so many that a line can name them, and counts the others. left has the number of
// plain keys of each tenant.
func (s keySampler) addPlain(
	ctx context.Context, out *bundle.Sample, left map[string]int64, special map[string]bool,
) error {
	first, named := map[bool]string{}, map[bool]int{} // by whether the tenant is detached
	for _, tenant := range s.project.Tenants {
		kind := tenant.Detached
		if left[tenant.ID] > 0 && named[kind] < bundle.PreviewNames {
			for k, err := range s.keysOf(ctx, tenant) {
				if err != nil {
					return err
				}
				if special[k.ID] {
					continue
				}
				if first[kind] == "" {
					first[kind] = k.ID
				}
				out.Keys[tenant.ID] = append(out.Keys[tenant.ID], k)
				named[kind]++
				if left[tenant.ID]--; left[tenant.ID] == 0 || named[kind] == bundle.PreviewNames {
					break
				}
			}
		}
		if left[tenant.ID] > 0 {
			out.Alike[first[kind]] += left[tenant.ID]
		}
	}
	return nil
}
