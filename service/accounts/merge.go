package accounts

import (
	"fmt"
	"strings"
	"time"

	"postern/models"
)

// maxHeld is how long names of products and tenants are at most.
const maxHeld = 40

// merge moves all that a workspace has into a team. Products and tenants whose names
// the team has already get the next free one: joining them to their namesakes would
// let keys open what nobody gave them. It returns these as "from → to". The audit
// log stays in the workspace's own chain, as moving entries would break it: the
// team's members read it there.
func merge(tx *models.Tx, from, into string, now time.Time) (Team, []string, error) {
	team, err := tx.TeamByID(into)
	if err != nil {
		return Team{}, nil, err
	}
	if err := tx.MergeTeam(from, into); err != nil {
		return Team{}, nil, err
	}
	if err := tx.MoveProjects(from, into); err != nil {
		return Team{}, nil, err
	}
	products, err := moveProducts(tx, from, into, now)
	if err != nil {
		return Team{}, nil, err
	}
	tenants, err := moveTenants(tx, from, into, now)
	return Team{ID: team.ID, Name: team.Name}, append(products, tenants...), err
}

func moveProducts(tx *models.Tx, from, into string, now time.Time) (renamed []string, err error) {
	moving, err := tx.ProductsOfTeam(from)
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	there, err := tx.ProductsOfTeam(into)
	for _, product := range there {
		taken[product.Name] = true
	}
	for _, product := range moving {
		if err != nil {
			return nil, err
		}
		was := product.Name
		product.TeamID, product.Name, product.UpdatedAt = into, freeName(was, taken), now
		if product.Name != was {
			renamed = append(renamed, "product "+was+" → "+product.Name)
		}
		err = tx.MoveProduct(product)
	}
	return renamed, err
}

func moveTenants(tx *models.Tx, from, into string, now time.Time) (renamed []string, err error) {
	moving, err := tx.TenantsOfTeam(from)
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	there, err := tx.TenantsOfTeam(into)
	for _, tenant := range there {
		taken[tenant.Name] = true
	}
	for _, tenant := range moving {
		if err != nil {
			return nil, err
		}
		was := tenant.Name
		tenant.TeamID, tenant.Name, tenant.UpdatedAt = &into, freeName(was, taken), now
		if tenant.Name != was {
			renamed = append(renamed, "tenant "+was+" → "+tenant.Name)
		}
		err = tx.MoveTenant(tenant)
	}
	return renamed, err
}

// freeName is the name, or with the first number behind it that makes it free, and
// takes it.
func freeName(name string, taken map[string]bool) string {
	free := name
	for n := 2; taken[free]; n++ {
		suffix := fmt.Sprintf("-%d", n)
		free = strings.TrimRight(name[:min(len(name), maxHeld-len(suffix))], "-") + suffix
	}
	taken[free] = true
	return free
}
