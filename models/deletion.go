package models

import (
	"time"

	"postern/core/contract"
)

// ContentsOf counts the objects that belong to a project at now, keys up to MaxTotal+1. It doesn't set NewestExport.
func (t *Tx) ContentsOf(project Project, now time.Time) (out contract.ProjectDeletion, err error) {
	projectID := project.ID
	own := t.db.Model(&Tenant{}).Select("id").Where("project_id = ?", projectID)
	versions := t.db.Model(&Version{}).Select("id").Where("project_id = ?", projectID)
	for _, c := range []struct {
		into  *int64
		row   any
		where string
		of    any
	}{
		{&out.Versions, &Version{}, "project_id = ?", projectID},
		{&out.Environments, &Environment{}, "version_id IN (?)", versions},
		{&out.AppClients, &AppClient{}, "tenant_id IN (?)", own},
		{&out.Users, &EndUser{}, "tenant_id IN (?)", own},
		{&out.Groups, &UserGroup{}, "tenant_id IN (?)", own},
		{&out.Exports, &Export{}, "project_id = ?", projectID},
	} {
		if err := t.db.Model(c.row).Where(c.where, c.of).Count(c.into).Error; err != nil {
			return out, err
		}
	}
	if out.Keys, out.ActiveKeys, err = t.countKeys("project_id = ?", projectID, now); err != nil {
		return out, err
	}
	if project.ProductID == nil {
		return out, nil
	}
	ofProduct := t.db.Model(&APIKey{}).Where(notIndexed+" = ? AND product_id = ?", project.ID, *project.ProductID)
	out.ProductKeys, err = countSome(ofProduct)
	return out, err
}

// NewestReadyExport returns when a project's newest finished export was requested, nil if there is none.
func (t *Tx) NewestReadyExport(projectID string) (*time.Time, error) {
	var list []Export
	err := t.db.Where("project_id = ? AND state IN ('ready', 'expired')", projectID).
		Order("id DESC").Limit(1).Find(&list).Error
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0].CreatedAt, nil
}
