package exports

import (
	"context"
	"errors"
	"io"
	"iter"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/keys"
	"postern/service/serving"
)

// write writes the zip of an export from the state that tx reads.
func (s *Service) write(
	ctx context.Context,
	tx *models.Tx,
	row models.Export,
	to io.Writer,
	sign func([]byte) ([]byte, error),
	progress Progress,
) (bundle.Result, error) {
	in, err := s.input(tx, row)
	if err != nil {
		return bundle.Result{}, err
	}
	in.KeyCount, err = tx.CountKeysOf(row.ProjectID, optional(in.Project.ProductID))
	if err != nil {
		return bundle.Result{}, err
	}
	if row.Secrets {
		if in.Secret, err = s.secretsOf(tx, in.Project); err != nil {
			return bundle.Result{}, err
		}
	}
	rows := newSpool(rowsOf(in))
	defer rows.close()
	readKeys, readUsers := in.KeysOf, in.Users
	in.KeysOf = func(ctx context.Context, t snapshot.Tenant) iter.Seq2[snapshot.Key, error] {
		return kept(rows, "keys of "+t.ID, keyRows, readKeys(ctx, t))
	}
	in.Users = func(ctx context.Context, t snapshot.Tenant) iter.Seq2[snapshot.User, error] {
		return kept(rows, "users of "+t.ID, userRows, readUsers(ctx, t))
	}
	in.Sign, in.Progress = sign, progress
	return bundle.Write(ctx, to, in)
}

// rowsOf counts the keys and users of a project.
func rowsOf(in bundle.Input) int64 {
	n := in.KeyCount
	for _, t := range in.Project.Tenants {
		if t.Directory != nil {
			n += t.Directory.Users
		}
	}
	return n
}

// input returns the state of a project with the options of an export.
func (s *Service) input(tx *models.Tx, row models.Export) (bundle.Input, error) {
	project, err := serving.CompileWhole(tx, row.ProjectID, s.PublicURL)
	if err != nil {
		return bundle.Input{}, err
	}
	target, err := targets.For(bundle.Format(row.Format))
	if err != nil {
		return bundle.Input{}, err
	}
	owners, err := relationsOf(tx, project)
	if err != nil {
		return bundle.Input{}, err
	}
	in := bundle.Input{
		Project:   project,
		Relations: owners,
		Keys: func(ctx context.Context) iter.Seq2[snapshot.Key, error] {
			return keysBy(ctx, project, func(pass func(snapshot.Key) error) error {
				return keys.Scan(tx, project, pass)
			})
		},
		KeysOf: func(ctx context.Context, t snapshot.Tenant) iter.Seq2[snapshot.Key, error] {
			return keysBy(ctx, project, func(pass func(snapshot.Key) error) error {
				return keys.ScanTenant(tx, project, t, pass)
			})
		},
		Users: func(ctx context.Context, t snapshot.Tenant) iter.Seq2[snapshot.User, error] {
			return usersOf(ctx, tx, t.ID)
		},
		Options: bundle.Options{
			Format:    bundle.Format(row.Format),
			Keys:      bundle.KeysOption(row.Keys),
			Consumers: row.Consumers,
			Secrets:   row.Secrets,
			Recipient: row.Recipient,
		},
		Target:    target,
		AddressOf: func(version, environment string) string { return s.AddressOf(project.Name, version, environment) },
		Generator: s.Generator,
	}
	if canSample(project) {
		in.Sample = keySampler{tx, project}.read
	}
	return in, nil
}

var errStopped = errors.New("the reader stopped")

// keysBy returns an iterator over the keys of a project that scan passes to its callback.
func keysBy(
	ctx context.Context, project *snapshot.Project, scan func(pass func(snapshot.Key) error) error,
) iter.Seq2[snapshot.Key, error] {
	return func(yield func(snapshot.Key, error) bool) {
		err := scan(func(k snapshot.Key) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			// An exported gateway has no users, so a key states whether its owner is frozen.
			k.OwnerFrozen = project.FrozenOwner(k.Owner)
			if !yield(k, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(snapshot.Key{}, err)
		}
	}
}

// usersOf returns the users of a tenant as an iterator.
func usersOf(ctx context.Context, tx *models.Tx, tenantID string) iter.Seq2[snapshot.User, error] {
	return func(yield func(snapshot.User, error) bool) {
		err := serving.ScanUsers(tx, tenantID, func(u snapshot.User) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !yield(u, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(snapshot.User{}, err)
		}
	}
}

// relationsOf returns an iterator over the relations of a project, nil if there are none. It omits those of tenants
// that the project no longer has.
func relationsOf(
	tx *models.Tx, project *snapshot.Project,
) (func(context.Context) iter.Seq2[snapshot.Relation, error], error) {
	n, err := tx.CountRelations(project.ID)
	if n == 0 || err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, t := range project.Tenants {
		names[t.ID] = t.Name
	}
	return func(ctx context.Context) iter.Seq2[snapshot.Relation, error] {
		return func(yield func(snapshot.Relation, error) bool) {
			err := tx.ScanRelations(project.ID, func(r *models.Relation) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				name := names[r.TenantID]
				if name == "" {
					return nil
				}
				if !yield(snapshot.Relation{
					TenantID: r.TenantID, Tenant: name, User: r.User, Relation: r.Relation, Object: r.Object,
				}, nil) {
					return errStopped
				}
				return nil
			})
			if err != nil && !errors.Is(err, errStopped) {
				yield(snapshot.Relation{}, err)
			}
		}
	}, nil
}
