package accounts

import (
	"fmt"

	"postern/access"
	"postern/models"
)

// PrincipalOf is an account in all the teams that it is in now.
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
		if p.HomeTeam == "" {
			p.HomeTeam = m.TeamID
		}
		p.Roles[m.TeamID] = access.Role(m.Role)
	}
	return p, nil
}
