package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/keys"
)

// stock fills a data directory while no server uses it, which is faster than a million
// calls of the API. It writes the rows that the services would.
type stock struct {
	db *models.DB
}

func openStock(ctx context.Context, data, databaseURL string) (*stock, error) {
	db, err := models.Open(ctx, databaseURL, filepath.Join(data, "postern.db"))
	if err != nil {
		return nil, err
	}
	return &stock{db}, nil
}

// keys mints n keys of the project and returns at most some of them, evenly
// spread.
func (s *stock) keys(ctx context.Context, name string, n, some int) ([]string, error) {
	tx := s.db.Read(ctx)
	project, err := tx.ProjectByName(name)
	if err != nil {
		return nil, err
	}
	types, err := tx.KeyTypesOf(project.ID)
	if err != nil {
		return nil, err
	}
	tenants, err := tx.TenantsOf(project.ID)
	if err != nil {
		return nil, err
	}
	full := types[slices.IndexFunc(types, func(t models.KeyType) bool { return t.Name == keys.TypeFull })]
	var shown []string
	const batch = 10_000
	for done := 0; done < n; done += batch {
		err := s.db.Write(ctx, func(tx *models.Tx) error {
			for i := done; i < min(done+batch, n); i++ {
				row, plaintext, err := keys.Mint("pst", project, tenants[0].ID, full,
					contract.NewKey{Owner: fmt.Sprintf("app-%d", i)}, models.Now())
				if err != nil {
					return err
				}
				if err := tx.Insert(&row); err != nil {
					return err
				}
				if i%max(1, n/some) == 0 {
					shown = append(shown, plaintext)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return shown, nil
}

// people adds n users of the project's own tenant, each with an identity and in one of the
// groups.
func (s *stock) people(ctx context.Context, name string, n, groups int) error {
	tx := s.db.Read(ctx)
	project, err := tx.ProjectByName(name)
	if err != nil {
		return err
	}
	tenants, err := tx.TenantsOf(project.ID)
	if err != nil {
		return err
	}
	tenant, now := tenants[0].ID, models.Now()
	var in []models.UserGroup
	for i := range groups {
		in = append(in, models.UserGroup{
			ID: models.NewID("grp"), TenantID: tenant, Name: fmt.Sprintf("group-%d", i), CreatedAt: now, UpdatedAt: now,
		})
	}
	if err := s.db.Write(ctx, func(tx *models.Tx) error { return insertAll(tx, in) }); err != nil {
		return err
	}
	const batch = 10_000
	for done := 0; done < n; done += batch {
		var users []models.EndUser
		var identities []models.Identity
		var members []models.GroupMember
		for i := done; i < min(done+batch, n); i++ {
			id := models.NewID("usr")
			email := fmt.Sprintf("user-%d@example.com", i)
			users = append(users, models.EndUser{
				ID: id, TenantID: tenant, Email: email, EmailVerified: true, Name: fmt.Sprintf("User %d", i),
				State: "active", CreatedAt: now, UpdatedAt: now,
			})
			identities = append(identities, models.Identity{
				TenantID: tenant, Issuer: "https://accounts.google.com", Subject: fmt.Sprint(i), UserID: id,
				CreatedAt: now,
			})
			members = append(members, models.GroupMember{
				GroupID: in[i%groups].ID, UserID: id, Role: "member", CreatedAt: now,
			})
		}
		err := s.db.Write(ctx, func(tx *models.Tx) error {
			return errors.Join(insertAll(tx, users), insertAll(tx, identities), insertAll(tx, members))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// insertAll inserts rows a few hundred at a time: SQLite bounds the parameters of a statement.
func insertAll[T any](tx *models.Tx, rows []T) error {
	for some := range slices.Chunk(rows, 500) {
		if err := tx.Insert(&some); err != nil {
			return err
		}
	}
	return nil
}

// claim marks the project as claimed, as nearly all called projects are.
func (s *stock) claim(ctx context.Context, name string) error {
	return s.db.Write(ctx, func(tx *models.Tx) error {
		project, err := tx.ProjectByName(name)
		if err != nil {
			return err
		}
		_, err = tx.ClaimTeam(project.TeamID, name, models.Now())
		return err
	})
}

// limit sets limits on everything that can be counted, too high to be reached.
func (s *stock) limit(ctx context.Context, name string) error {
	return s.db.Write(ctx, func(tx *models.Tx) error {
		project, err := tx.ProjectByName(name)
		if err != nil {
			return err
		}
		seen := project.UpdatedAt
		many := models.Limits{"minute": 1e12, "day": 1e12}
		project.Limits = contract.ProjectLimits{Key: many, Owner: many, IP: many, Project: many}
		project.UpdatedAt = seen.Add(time.Microsecond)
		_, err = tx.UpdateProject(project, seen)
		return err
	})
}
