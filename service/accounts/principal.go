package accounts

import (
	"fmt"

	"postern/models"
	"postern/service/access"
)

// PrincipalOf returns the principal of an account with its current teams. HomeTeam is the
// oldest team in which it may create projects, or else the oldest.
func PrincipalOf(tx *models.Tx, account string) (access.Principal, error) {
	memberships, err := tx.MembershipsOf(account)
	if err != nil {
		return access.Principal{}, fmt.Errorf("accounts: teams of %s: %w", account, err)
	}
	row, err := tx.AccountByID(account)
	if err != nil {
		return access.Principal{}, fmt.Errorf("accounts: find %s: %w", account, err)
	}
	p := access.Principal{Account: account, Operator: row.Operator, Roles: map[string]access.Role{}}
	for _, m := range memberships {
		role := access.Role(m.Role)
		p.Roles[m.TeamID] = role
		if p.HomeTeam == "" ||
			(!access.Can(p.Roles[p.HomeTeam], access.ProjectCreate) && access.Can(role, access.ProjectCreate)) {
			p.HomeTeam = m.TeamID
		}
	}
	return p, nil
}
