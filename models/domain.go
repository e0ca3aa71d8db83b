package models

import (
	"cmp"
	"strings"
	"time"

	"gorm.io/gorm"

	"postern/core/contract"
	"postern/migrations"
)

// Domain is a row of domains: a customer's host name for an environment, for all calls or some of them. A team's rows
// with the same host share the proof: Challenge, Proof, VerifiedAt, CheckedAt, MissingSince and Problem.
type Domain struct {
	ID            string `gorm:"primaryKey"`
	ProjectID     string
	EnvironmentID string
	Host          string // lowercase ASCII
	PathPrefix    string // "" for all paths
	StripPrefix   bool
	Methods       string // sorted, with commas; "" for all
	Challenge     string // the value of its TXT record
	Proof         string // dns or operator; "" while it is not verified
	VerifiedAt    *time.Time
	CheckedAt     *time.Time // when its TXT record was last looked up
	MissingSince  *time.Time // when the record of a verified name was first missing
	Problem       string     // why the last lookup found no proof
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// Address returns the address, which says which calls the domain handles.
func (d Domain) Address() contract.DomainAddress {
	out := contract.DomainAddress{
		Host: d.Host, PathPrefix: d.PathPrefix, StripPrefix: d.StripPrefix, Methods: []string{},
	}
	if d.Methods != "" {
		out.Methods = strings.Split(d.Methods, ",")
	}
	return out
}

// DomainOf finds a project's domain by its id.
func (t *Tx) DomainOf(projectID, id string) (Domain, error) {
	var one Domain
	return one, t.db.Where("project_id = ? AND id = ?", projectID, id).Take(&one).Error
}

// DomainsAt lists a project's domains with a host name, by prefix and methods.
func (t *Tx) DomainsAt(projectID, host string) ([]Domain, error) {
	var list []Domain
	return list, t.db.
		Where("project_id = ? AND host = ?", projectID, host).
		Order("path_prefix, methods").
		Find(&list).Error
}

// DomainByID finds a domain of any project.
func (t *Tx) DomainByID(id string) (Domain, error) {
	var one Domain
	return one, t.db.Where("id = ?", id).Take(&one).Error
}

// TeamDomain is a domain with its project's name and team.
type TeamDomain struct {
	Domain
	Project string
	TeamID  string
}

// LockHost lists all domains with a host name, oldest first. Until the transaction ends, other transactions that lock
// the name can't change their proof or add domains.
func (t *Tx) LockHost(host string) ([]TeamDomain, error) {
	if t.dialect == migrations.Postgres {
		if err := t.db.Exec("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", "domains "+host).Error; err != nil {
			return nil, err
		}
	}
	var list []TeamDomain
	return list, t.db.
		Model(&Domain{}).
		Select("domains.*, projects.name AS project, projects.team_id AS team_id").
		Joins("JOIN projects ON projects.id = domains.project_id").
		Where("domains.host = ?", host).
		Order("domains.id").
		Scan(&list).Error
}

// LockHostsOf locks the hosts of a project's domains as LockHost does.
func (t *Tx) LockHostsOf(projectID string) error {
	var hosts []string
	err := t.db.Model(&Domain{}).Where("project_id = ?", projectID).Distinct().Order("host").Pluck("host", &hosts).Error
	for _, host := range hosts {
		if err == nil {
			_, err = t.LockHost(host)
		}
	}
	return err
}

// ShareProof copies the proof of a domain to the team's other domains with the same host, and returns their projects.
// It sets their UpdatedAt to the given time, unless that is zero.
func (t *Tx) ShareProof(of Domain, teamID string, updated time.Time) ([]string, error) {
	var projects []string
	shared := t.db.
		Model(&Domain{}).
		Where("host = ? AND id <> ?", of.Host, of.ID).
		Where("project_id IN (?)", t.db.Model(&Project{}).Select("id").Where("team_id = ?", teamID))
	if err := shared.Session(&gorm.Session{}).Distinct().Pluck("project_id", &projects).Error; err != nil {
		return nil, err
	}
	if len(projects) == 0 {
		return nil, nil
	}
	columns := []any{"Proof", "VerifiedAt", "CheckedAt", "MissingSince", "Problem"}
	if of.UpdatedAt = updated; !updated.IsZero() {
		columns = append(columns, "UpdatedAt")
	}
	return projects, shared.Session(&gorm.Session{}).Select("Challenge", columns...).UpdateColumns(&of).Error
}

// HostsWithin lists the hosts of a project's domains that other projects of the teams have domains for too.
func (t *Tx) HostsWithin(projectID string, teamIDs ...string) ([]string, error) {
	var hosts []string
	return hosts, t.db.
		Model(&Domain{}).
		Where("project_id = ?", projectID).
		Where("host IN (?)", t.db.
			Table("domains AS others").
			Select("others.host").
			Joins("JOIN projects ON projects.id = others.project_id").
			Where("others.project_id <> ? AND projects.team_id IN ?", projectID, teamIDs)).
		Distinct().
		Order("host").
		Pluck("host", &hosts).Error
}

// DomainsOf lists a project's domains by host name: those in a state, or all if it is empty.
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
	id := func(row Domain) string { return row.ID }
	page.Sort.By = cmp.Or(page.Sort.By, "host")
	return sorted(q, page, orders[Domain]{
		"created": byID("id", id),
		"host":    byText(t, "host", func(row Domain) string { return row.Host }),
	}, "id", id)
}

// CountDomains counts a project's domains.
func (t *Tx) CountDomains(projectID string) (int64, error) {
	var n int64
	return n, t.db.Model(&Domain{}).Where("project_id = ?", projectID).Count(&n).Error
}

// VerifiedDomain finds the oldest domain with a host name if the name is verified.
func (t *Tx) VerifiedDomain(host string) (Domain, error) {
	var one Domain
	return one, t.db.Where("host = ? AND verified_at IS NOT NULL", host).Order("id").Take(&one).Error
}

// VerifiedDomains lists the verified domains of projects by host, prefix and methods.
func (t *Tx) VerifiedDomains(projectIDs ...string) ([]Domain, error) {
	var list []Domain
	return list, t.db.
		Where("project_id IN ? AND verified_at IS NOT NULL", projectIDs).
		Order("host, path_prefix, methods").
		Find(&list).Error
}

// DomainsToCheck lists at most limit domains whose TXT record is due for a check, the longest unchecked first: domains
// whose record was found, and was last looked up before found, and domains whose record was missing, and was last
// looked up before missing. Of the domains that share a record, it lists one.
func (t *Tx) DomainsToCheck(found, missing time.Time, limit int) ([]Domain, error) {
	var list []Domain
	return list, t.db.
		Where("proof = 'dns' AND (checked_at < ? OR (problem <> '' AND checked_at < ?))", found, missing).
		Where("id IN (?)", t.db.Model(&Domain{}).Select("min(id)").Where("proof = 'dns'").Group("host")).
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
			"EnvironmentID", "PathPrefix", "StripPrefix", "Methods", "Challenge", "Proof", "VerifiedAt", "CheckedAt",
			"MissingSince", "Problem", "UpdatedAt",
		).UpdateColumns(&one)
	return res.RowsAffected == 1, res.Error
}

// DeleteDomain removes a domain's row.
func (t *Tx) DeleteDomain(id string) error { return t.db.Where("id = ?", id).Delete(&Domain{}).Error }
