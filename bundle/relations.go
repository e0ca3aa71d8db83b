package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"postern/bundle/jsonfile"
	"postern/core/policy"
	"postern/core/snapshot"
)

// RelationsFile has the owners of objects.
const RelationsFile = authzFolder + "relations.jsonl"

// relationDoc is a line of relations.jsonl.
type relationDoc struct {
	TenantID string `json:"tenant_id"`
	Tenant   string `json:"tenant"`
	Object   string `json:"object"`
	Relation string `json:"relation"`
	User     string `json:"user"`
}

func (d relationDoc) relation() snapshot.Relation {
	return snapshot.Relation{
		TenantID: d.TenantID,
		Tenant:   d.Tenant,
		User:     d.User,
		Relation: d.Relation,
		Object:   d.Object,
	}
}

// HasRelations reports whether this export has the owners of objects.
func (b *Build) HasRelations() bool { return b.Options.Consumers && b.relations != nil }

// OwnershipReason returns the reason of the fate of the owners of objects, for targets whose first fate is about
// exports that include them.
func (b *Build) OwnershipReason() string {
	switch {
	case b.HasRelations():
		return ""
	case b.relations != nil:
		return ReasonLeftOut
	}
	return NoOwnership.Reason
}

// ownershipSubject is the subject of the owners of objects.
func (b *Build) ownershipSubject() Subject {
	s := Subject{Feature: snapshot.FeatureObjectOwnership, ID: b.Project.ID}
	if b.HasRelations() {
		s.Source = At(RelationsFile, "")
	}
	return s
}

func (b *Build) relationRows() []Part {
	if !b.HasRelations() {
		return nil
	}
	return []Part{{Name: RelationsFile, Doc: relationsDoc, Write: func(ctx context.Context, w io.Writer) error {
		out := jsonfile.NewStream(w)
		for r, err := range b.Relations(ctx, RelationsFile) {
			if err != nil {
				return err
			}
			out.Value(relationDoc{r.TenantID, r.Tenant, r.Object, r.Relation, r.User})
			out.Raw("\n")
		}
		return out.Close()
	}}}
}

// Relations iterates over the relations in ascending order of tenant id, object, relation and user. part names the work
// in progress reports. A relation is valid until the next iteration.
func (b *Build) Relations(ctx context.Context, part string) iter.Seq2[*snapshot.Relation, error] {
	return func(yield func(*snapshot.Relation, error) bool) {
		if !b.HasRelations() {
			return
		}
		names := map[string]string{}
		for _, t := range b.Project.Tenants {
			names[t.ID] = t.Name
		}
		var seen int64
		var last snapshot.Relation
		for r, err := range b.relations(ctx) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				err = fmt.Errorf("bundle: read relations: %w", err)
			} else if wrong := checkRelation(&last, &r, names[r.TenantID]); wrong != "" {
				err = problem(RelationsFile, "the relation of %q to %q %s", r.User, r.Object, wrong)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if seen++; seen%progressEvery == 0 {
				b.progress(part, seen, seen)
			}
			last = r
			if !yield(&r, nil) {
				return
			}
		}
	}
}

// checkRelation returns the reason why a relation that follows another one is invalid, or "". tenant is the name of its
// tenant in the project.
func checkRelation(last, r *snapshot.Relation, tenant string) string {
	canonical, err := policy.CanonicalObject(r.Object)
	switch {
	case err != nil || canonical != r.Object:
		return "names an object that isn't in its canonical form"
	case tenant == "" || r.Tenant != tenant:
		return "is for a tenant that isn't in the project"
	case r.Relation != policy.OwnerRelation:
		return "has a relation other than owner"
	case r.User == "":
		return "has no user"
	case compareRelations(last, r) >= 0:
		return "is out of order or appears twice"
	}
	return ""
}

func compareRelations(a, b *snapshot.Relation) int {
	return slices.CompareFunc(
		[]string{a.TenantID, a.Object, a.Relation, a.User}, []string{b.TenantID, b.Object, b.Relation, b.User},
		strings.Compare)
}

// readRelations reads relations.jsonl strictly.
func (v *verifier) readRelations(context.Context) iter.Seq2[snapshot.Relation, error] {
	return func(yield func(snapshot.Relation, error) bool) {
		err := v.lines(RelationsFile, func(n int, line []byte) error {
			var row relationDoc
			if err := strict(RelationsFile, line, &row); err != nil {
				return problem(RelationsFile, "line %d doesn't have the expected format: %s", n+1, err)
			}
			if !yield(row.relation(), nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(snapshot.Relation{}, err)
		}
	}
}

// Relations streams the owners of objects, in ascending order of tenant id, object, relation and user. A relation is
// valid until the next iteration.
func (c *Contents) Relations(ctx context.Context) iter.Seq2[*snapshot.Relation, error] {
	return c.build.Relations(ctx, "import")
}
