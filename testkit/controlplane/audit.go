package controlplane

import (
	"errors"
	"slices"
	"testing"

	"postern/models"
)

// AuditNumbers returns the number of audit entries of each team.
func (o *Fixture) AuditNumbers(t testing.TB) map[string]int64 {
	t.Helper()
	rows, err := o.DB.SQL().QueryContext(t.Context(), "SELECT team_id, number FROM audit_chains")
	must(t, err)
	numbers := map[string]int64{}
	for rows.Next() {
		var team string
		var number int64
		must(t, rows.Scan(&team, &number))
		numbers[team] = number
	}
	must(t, errors.Join(rows.Err(), rows.Close()))
	return numbers
}

// AuditSince returns the entries added since AuditNumbers returned before, of these teams
// or of all.
func (o *Fixture) AuditSince(t testing.TB, before map[string]int64, teams ...string) (list []models.AuditEntry) {
	t.Helper()
	for team, number := range o.AuditNumbers(t) {
		if number == before[team] || len(teams) > 0 && !slices.Contains(teams, team) {
			continue
		}
		entries, err := o.DB.Read(t.Context()).AuditOf(team, int(number-before[team]))
		must(t, err)
		list = append(list, entries...)
	}
	return list
}

// InstallationAudit returns the entries that belong to no team, the newest first.
func (o *Fixture) InstallationAudit(t testing.TB) []models.AuditEntry {
	t.Helper()
	entries, err := o.DB.Read(t.Context()).AuditOf("", 10_000)
	must(t, err)
	return entries
}
