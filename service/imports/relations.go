package imports

import (
	"cmp"
	"context"
	"fmt"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
)

// relationRows are relations of one tenant about to be written.
type relationRows struct {
	*work
	tenant string // id in the zip
	rows   []models.Relation
	absent int64 // left out: a tenant that the team had before does not have their user
}

// writeRelations writes who owns which object. It adds no revisions: replicas read the relations of a new
// project with the project.
func (w *work) writeRelations(ctx context.Context) error {
	b := &relationRows{work: w}
	for r, err := range w.contents.Relations(ctx) {
		if err != nil {
			return err
		}
		if r.TenantID != b.tenant || len(b.rows) == rowsAtOnce {
			if err := w.stage.Piece(b.flush); err != nil {
				return err
			}
		}
		b.tenant = r.TenantID
		b.add(r)
	}
	if err := w.stage.Piece(b.flush); err != nil {
		return err
	}
	if b.absent > 0 {
		w.out.LeftOut = append(w.out.LeftOut, contract.LeftOut{
			Code:    "relations_without_user",
			Subject: fmt.Sprint(b.absent),
			Detail: "This team's tenant doesn't have the users and app clients that own these objects. Add the " +
				"relations again, with the IDs of users on this server.",
		})
	}
	return nil
}

func (b *relationRows) add(r *snapshot.Relation) {
	b.rows = append(b.rows, models.Relation{
		ProjectID: b.row.ID,
		TenantID:  b.tenants[r.TenantID].ID,
		Object:    r.Object,
		Relation:  r.Relation,
		User:      r.User,
		CreatedAt: b.now,
	})
}

// flush writes the added relations, with the IDs that users and app clients have here.
func (b *relationRows) flush(tx *models.Tx) error {
	if len(b.rows) == 0 {
		return nil
	}
	var users []string
	for _, row := range b.rows {
		if isID("usr", row.User) {
			users = append(users, row.User)
		}
	}
	idHere := b.idsInNewTenant
	if b.existing[b.tenant] {
		idHere = b.idsInExistingTenant
	}
	ids, err := idHere(tx, users)
	if err != nil {
		return err
	}
	kept := b.rows[:0]
	for _, row := range b.rows {
		if row.User = ids(row.User); row.User == "" {
			b.absent++
			continue
		}
		kept = append(kept, row)
	}
	b.out.Made.Relations += int64(len(kept))
	if !b.dryRun && len(kept) > 0 {
		if err := tx.Insert(&kept); err != nil {
			return err
		}
	}
	b.rows = b.rows[:0]
	return nil
}

// idsInNewTenant returns the ids of users and app clients that the import has made. Users of relations that aren't the
// tenant's stay unchanged, as on the old server.
func (b *relationRows) idsInNewTenant(tx *models.Tx, users []string) (func(string) string, error) {
	renamed := map[string]string{}
	if b.newUsers && !b.dryRun {
		var ids []string
		for _, user := range users {
			ids = append(ids, b.newUserID(user))
		}
		made, err := tx.Existing(&models.EndUser{}, ids)
		if err != nil {
			return nil, err
		}
		isMade := map[string]bool{}
		for _, id := range made {
			isMade[id] = true
		}
		for i, id := range ids {
			if isMade[id] {
				renamed[users[i]] = id
			}
		}
	}
	return func(user string) string {
		return cmp.Or(renamed[user], b.clients[user], user)
	}, nil
}

// idsInExistingTenant returns "" for users and app clients that the tenant does not have.
func (b *relationRows) idsInExistingTenant(tx *models.Tx, users []string) (func(string) string, error) {
	here := map[string]bool{}
	found, err := tx.EndUsersWithin(b.tenants[b.tenant].ID, users)
	if err != nil {
		return nil, err
	}
	for _, user := range found {
		here[user.ID] = true
	}
	clients, err := tx.AppClientsOf(b.tenants[b.tenant].ID)
	if err != nil {
		return nil, err
	}
	for _, client := range clients {
		here[client.ID] = true
	}
	return func(user string) string {
		if (isID("usr", user) || isID("cli", user)) && !here[user] {
			return ""
		}
		return user
	}, nil
}
