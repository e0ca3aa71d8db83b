package imports

import (
	"context"
	"slices"

	"postern/core/snapshot"
	"postern/models"
	"postern/service/appclients"
)

// writeDirectories makes groups and sign-up policies of the tenants that are new here.
func (w *work) writeDirectories(context.Context) error {
	for _, t := range w.project.Tenants {
		if t.Directory == nil || w.existing[t.ID] {
			continue
		}
		tenant := w.tenants[t.ID].ID
		if t.Directory.InviteOnly {
			rule := models.SignupPolicy{TenantID: tenant, InviteOnly: true, UpdatedAt: w.now}
			if err := insertAll(w, []models.SignupPolicy{rule}); err != nil {
				return err
			}
		}
		if err := w.writeGroups(tenant, t.Directory.Groups); err != nil {
			return err
		}
		if err := w.writeApprovals(tenant, t.Directory.Approvals); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) writeGroups(tenant string, groups []snapshot.Group) error {
	ids := make([]string, len(groups))
	for i, g := range groups {
		ids[i] = g.ID
	}
	kept, err := w.keptIDs(&models.UserGroup{}, "grp", "groups", ids)
	if err != nil {
		return err
	}
	var rows []models.UserGroup
	var nestings []models.GroupGroup
	var owners []models.GroupOwner
	for _, g := range groups {
		w.groups[g.ID] = kept[g.ID]
		rows = append(rows, models.UserGroup{
			ID:          kept[g.ID],
			TenantID:    tenant,
			Name:        g.Name,
			DisplayName: g.DisplayName,
			ExternalID:  textOrNil(g.ExternalID),
			CreatedAt:   stored(g.CreatedAt),
			UpdatedAt:   stored(g.UpdatedAt),
		})
		for _, parent := range g.Parents {
			nestings = append(nestings, models.GroupGroup{
				ParentID: kept[parent], ChildID: kept[g.ID], CreatedAt: w.now,
			})
		}
		for _, o := range g.Owners {
			owners = append(owners, models.GroupOwner{
				GroupID: kept[g.ID], Owner: o.Owner, Role: o.Role, CreatedAt: stored(o.CreatedAt),
			})
		}
	}
	w.out.Made.Groups += int64(len(rows))
	if err := insertAll(w, rows); err != nil {
		return err
	}
	if err := insertAll(w, nestings); err != nil {
		return err
	}
	return insertAll(w, owners)
}

func (w *work) writeApprovals(tenant string, approvals []snapshot.Approval) error {
	ids := make([]string, len(approvals))
	for i, a := range approvals {
		ids[i] = a.ID
	}
	kept, err := w.keptIDs(&models.Approval{}, "apv", "approvals", ids)
	if err != nil {
		return err
	}
	var rows []models.Approval
	for _, a := range approvals {
		row := models.Approval{
			ID:        kept[a.ID],
			TenantID:  tenant,
			Kind:      a.Kind,
			Value:     a.Value,
			Groups:    []string{},
			CreatedAt: stored(a.CreatedAt),
			UpdatedAt: w.now,
		}
		for _, group := range a.Groups {
			if id, have := w.groups[group]; have {
				group = id
			}
			row.Groups = append(row.Groups, group)
		}
		rows = append(rows, row)
	}
	return insertAll(w, rows)
}

func textOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// writeUsers creates the users of the tenants that are new here, with what belongs to them.
func (w *work) writeUsers(ctx context.Context) error {
	if err := w.decideUserIDs(ctx); err != nil {
		return err
	}
	for _, t := range w.project.Tenants {
		if w.existing[t.ID] {
			continue
		}
		batch := people{work: w, tenant: w.tenants[t.ID].ID}
		for u, err := range w.contents.Users(ctx, t) {
			if err != nil {
				return err
			}
			if batch.add(u); len(batch.users) == rowsAtOnce {
				if err := batch.flush(); err != nil {
					return err
				}
			}
		}
		if err := batch.flush(); err != nil {
			return err
		}
	}
	return nil
}

// decideUserIDs gives all users new ids if one of them cannot keep its own, so that it need
// not be remembered for each which it got.
func (w *work) decideUserIDs(ctx context.Context) error {
	var users int64
	for _, t := range w.project.Tenants {
		if w.existing[t.ID] {
			continue
		}
		var ids []string
		for u, err := range w.contents.Users(ctx, t) {
			if err != nil {
				return err
			}
			users++
			if w.newUsers = w.newUsers || !isID("usr", u.ID); w.newUsers {
				continue
			}
			if ids = append(ids, u.ID); len(ids) < rowsAtOnce {
				continue
			}
			if err := w.checkUserIDs(ids); err != nil {
				return err
			}
			ids = ids[:0]
		}
		if err := w.checkUserIDs(ids); err != nil {
			return err
		}
	}
	if w.newUsers {
		w.changedIDs["users"] = users
	}
	return nil
}

func (w *work) checkUserIDs(ids []string) error {
	return w.stage.Piece(func(tx *models.Tx) error {
		taken, err := tx.Existing(&models.EndUser{}, ids)
		w.newUsers = w.newUsers || len(taken) > 0
		return err
	})
}

// people are users of a tenant with all that belongs to them, about to be written.
type people struct {
	*work
	tenant     string
	users      []models.EndUser
	identities []models.Identity
	members    []models.GroupMember
	mappedRows []models.MappedMember
	consents   []models.LoginConsent
}

func (b *people) add(u *snapshot.User) {
	id := b.userID(u.ID)
	b.users = append(b.users, models.EndUser{
		ID:            id,
		TenantID:      b.tenant,
		Email:         u.Email,
		EmailVerified: u.EmailVerified,
		Name:          u.Name,
		Profile:       u.Profile,
		UserName:      textOrNil(u.UserName),
		ExternalID:    textOrNil(u.ExternalID),
		State:         u.State,
		CreatedAt:     stored(u.CreatedAt),
		UpdatedAt:     stored(u.UpdatedAt),
	})
	for _, one := range u.Identities {
		provider := one.ProviderID
		if kept, have := b.providers[provider]; have {
			provider = kept
		}
		b.identities = append(b.identities, models.Identity{
			TenantID:   b.tenant,
			Issuer:     one.Issuer,
			Subject:    one.Subject,
			UserID:     id,
			ProviderID: provider,
			CreatedAt:  stored(one.CreatedAt),
		})
	}
	for _, m := range u.Memberships {
		group := b.groups[m.GroupID]
		b.members = append(b.members, models.GroupMember{
			GroupID:   group,
			UserID:    id,
			Role:      m.Role,
			Mapped:    m.Mapped,
			CreatedAt: stored(m.CreatedAt),
		})
		if m.Mapped {
			b.addMapped(u, m.GroupID, group, id)
		}
	}
	for _, c := range u.Consents {
		b.consents = append(b.consents, models.LoginConsent{
			UserID:    id,
			ClientID:  b.clients[c.ClientID],
			Scope:     c.Scope,
			CreatedAt: stored(c.CreatedAt),
			UpdatedAt: stored(c.UpdatedAt),
		})
	}
}

// addMapped records which providers put a user into a group, so that the membership ends with
// their claims: those that map claims to the group and that the user has an account at.
func (b *people) addMapped(u *snapshot.User, groupInZip, group, user string) {
	for _, p := range b.mapped[groupInZip] {
		if slices.ContainsFunc(u.Identities, func(i snapshot.Identity) bool {
			return i.ProviderID == p.ID || appclients.IsOfProvider(i.Issuer, p)
		}) {
			b.mappedRows = append(b.mappedRows, models.MappedMember{
				GroupID: group, UserID: user, ProviderID: b.providers[p.ID],
			})
		}
	}
}

// flush writes the added rows.
func (b *people) flush() error {
	b.out.Made.Users += int64(len(b.users))
	if !b.dryRun {
		if err := insertAll(b.work, b.users); err != nil {
			return err
		}
		if err := insertAll(b.work, b.identities); err != nil {
			return err
		}
		if err := insertAll(b.work, b.members); err != nil {
			return err
		}
		if err := insertAll(b.work, b.mappedRows); err != nil {
			return err
		}
		if err := insertAll(b.work, b.consents); err != nil {
			return err
		}
	}
	b.users, b.identities, b.members = b.users[:0], b.identities[:0], b.members[:0]
	b.mappedRows, b.consents = b.mappedRows[:0], b.consents[:0]
	return nil
}
