package models

// TeamContents has the numbers of a team's objects other than projects.
type TeamContents struct {
	Members, Invitations, Tenants, Users, Products, Webhooks int64
}

// TeamContents counts the objects that deleting a team deletes.
func (t *Tx) TeamContents(id string) (TeamContents, error) {
	var c TeamContents
	tenants := t.db.Model(&Tenant{}).Select("id").Where("team_id = ?", id)
	for _, one := range []struct {
		rows  any
		where string
		of    any
		n     *int64
	}{
		{&Membership{}, "team_id = ?", id, &c.Members},
		{&Invitation{}, "team_id = ?", id, &c.Invitations},
		{&Tenant{}, "team_id = ?", id, &c.Tenants},
		{&EndUser{}, "tenant_id IN (?)", tenants, &c.Users},
		{&Product{}, "team_id = ?", id, &c.Products},
		{&Webhook{}, "team_id = ?", id, &c.Webhooks},
	} {
		if err := t.db.Model(one.rows).Where(one.where, one.of).Count(one.n).Error; err != nil {
			return c, err
		}
	}
	return c, nil
}

// EraseTeam removes a team without projects, and everything that belongs to it, limit rows at a time. It keeps the
// team's audit log, and its data keys, because they seal values of projects that were moved to other teams. It returns
// ErrReferenced if a project was added.
func (t *Tx) EraseTeam(id string, limit int) error {
	for _, h := range ofTeam {
		if h.table == "data_keys" {
			continue
		}
		for more := true; more; {
			var err error
			if more, err = t.deleteSome([]holding{h}, id, limit); err != nil {
				return err
			}
		}
	}
	if err := t.db.Where("team_id = ?", id).Delete(&Membership{}).Error; err != nil {
		return err
	}
	if err := t.db.Model(&Team{}).Where("merged_into = ?", id).UpdateColumn("merged_into", nil).Error; err != nil {
		return err
	}
	return t.DeleteTeam(id)
}
