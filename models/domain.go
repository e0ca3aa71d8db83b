package models

import (
	"time"

	"postern/core/contract"
)

// Domain is a row of domains: a host name of a customer's for an environment.
type Domain struct {
	ID            string `gorm:"primaryKey"`
	ProjectID     string
	EnvironmentID string
	Host          string // lowercase ASCII
	Challenge     string // the value of its TXT record
	Proof         string // dns or operator; "" while it is not verified
	VerifiedAt    *time.Time
	CheckedAt     *time.Time // when its TXT record was last looked up
	MissingSince  *time.Time // when the record of a verified name was first not found
	Problem       string     // why the last lookup found no proof
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// DomainOf finds a project's host name by its id or by the name.
func (t *Tx) DomainOf(projectID, ref string) (Domain, error) {
	var one Domain
	return one, t.db.Where("project_id = ? AND (id = ? OR host = ?)", projectID, ref, ref).Take(&one).Error
}

// DomainByID finds a host name of whichever project.
func (t *Tx) DomainByID(id string) (Domain, error) {
	var one Domain
	return one, t.db.Where("id = ?", id).Take(&one).Error
}

// DomainsOf lists a project's host names by name; those in one state unless it is empty.
func (t *Tx) DomainsOf(projectID, state string, page Page) (List[Domain], error) {
	q := t.db.Where("project_id = ?", projectID)
	page = t.searching(page, "host")
	switch state {
	case contract.DomainPending:
		q = q.Where("verified_at IS NULL")
	case contract.DomainVerified:
		q = q.Where("verified_at IS NOT NULL AND missing_since IS NULL")
	case contract.DomainMissing:
		q = q.Where("verified_at IS NOT NULL AND missing_since IS NOT NULL")
	}
	if page.Sort == (Sort{}) {
		return ascending(q, page, "host", func(row Domain) string { return row.Host })
	}
	id := func(row Domain) string { return row.ID }
	return sorted(q, page, orders[Domain]{
		"created": byID("id", id),
		"host":    byText(t, "host", func(row Domain) string { return row.Host }),
	}, "id", id)
}

// CountDomains counts a project's host names.
func (t *Tx) CountDomains(projectID string) (int64, error) {
	var n int64
	return n, t.db.Model(&Domain{}).Where("project_id = ?", projectID).Count(&n).Error
}

// VerifiedDomain finds the row for which a host name is verified.
func (t *Tx) VerifiedDomain(host string) (Domain, error) {
	var one Domain
	return one, t.db.Where("host = ? AND verified_at IS NOT NULL", host).Take(&one).Error
}

// VerifiedDomains lists the verified host names of projects by name.
func (t *Tx) VerifiedDomains(projectIDs ...string) ([]Domain, error) {
	var list []Domain
	return list, t.db.Where("project_id IN ? AND verified_at IS NOT NULL", projectIDs).Order("host").Find(&list).Error
}

// DomainsToCheck lists at most limit host names, the longest unchecked first, whose TXT
// record is due: those that were last looked up before found, and those whose record was
// not there and that were last looked up before missing.
func (t *Tx) DomainsToCheck(found, missing time.Time, limit int) ([]Domain, error) {
	var list []Domain
	return list, t.db.
		Where("proof = 'dns' AND (checked_at < ? OR (problem <> '' AND checked_at < ?))", found, missing).
		Order("checked_at, id").
		Limit(limit).
		Find(&list).Error
}

// UpdateDomain writes the changeable columns if the row still has the UpdatedAt that the
// caller saw. It returns false if another change came first.
func (t *Tx) UpdateDomain(one Domain, seen time.Time) (bool, error) {
	res := t.db.
		Model(&Domain{}).
		Where("id = ? AND updated_at = ?", one.ID, seen).
		Select(
			"EnvironmentID", "Challenge", "Proof", "VerifiedAt", "CheckedAt", "MissingSince", "Problem", "UpdatedAt",
		).UpdateColumns(&one)
	return res.RowsAffected == 1, res.Error
}

// DeleteDomain removes a host name's row.
func (t *Tx) DeleteDomain(id string) error { return t.db.Where("id = ?", id).Delete(&Domain{}).Error }
