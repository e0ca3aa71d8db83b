package accounts

import (
	"fmt"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
)

// maxHeld is the longest name of a product or tenant, in bytes.
const maxHeld = 40

// merge moves everything of a workspace into a team. Products and tenants with a taken name
// get the next free one, which it returns as "from → to": merging them with those of the
// team would extend what their keys open. A key whose secret a key of the team has is refused as Conflict keys_exist.
// The audit log stays in the workspace's own hash chain, where the team's members can read it.
func merge(tx *models.Tx, from, into string, now time.Time) (contract.ClaimedTeam, []string, error) {
	var none contract.ClaimedTeam
	team, err := tx.TeamByID(into)
	if err != nil {
		return none, nil, err
	}
	if err := access.CheckKeysMove(tx, from, "", into); err != nil {
		return none, nil, err
	}
	if err := tx.MergeTeam(from, into); err != nil {
		return none, nil, err
	}
	if err := tx.MoveProjects(from, into); err != nil {
		return none, nil, err
	}
	products, err := moveProducts(tx, from, into, now)
	if err != nil {
		return none, nil, err
	}
	tenants, err := moveTenants(tx, from, into, now)
	return contract.ClaimedTeam{ID: team.ID, Name: team.Name}, append(products, tenants...), err
}

func moveProducts(tx *models.Tx, from, into string, now time.Time) (renamed []string, err error) {
	moving, err := tx.ProductsOfTeam(from)
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	others, err := tx.ProductsOfTeam(into)
	if err != nil {
		return nil, err
	}
	for _, product := range others {
		taken[product.Name] = true
	}
	for _, product := range moving {
		was := product.Name
		product.TeamID, product.Name, product.UpdatedAt = into, freeName(was, taken), now
		if product.Name != was {
			renamed = append(renamed, "product "+was+" → "+product.Name)
		}
		if err := tx.MoveProduct(product); err != nil {
			return nil, err
		}
	}
	return renamed, nil
}

func moveTenants(tx *models.Tx, from, into string, now time.Time) (renamed []string, err error) {
	moving, err := tx.TenantsOfTeam(from)
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	others, err := tx.TenantsOfTeam(into)
	if err != nil {
		return nil, err
	}
	for _, tenant := range others {
		taken[tenant.Name] = true
	}
	for _, tenant := range moving {
		was := tenant.Name
		tenant.TeamID, tenant.Name, tenant.UpdatedAt = &into, freeName(was, taken), now
		if tenant.Name != was {
			renamed = append(renamed, "tenant "+was+" → "+tenant.Name)
		}
		if err := tx.MoveTenant(tenant); err != nil {
			return nil, err
		}
	}
	return renamed, nil
}

// freeName returns the name, with the first number appended that makes it free, and marks
// it as taken.
func freeName(name string, taken map[string]bool) string {
	free := name
	for n := 2; taken[free]; n++ {
		suffix := fmt.Sprintf("-%d", n)
		free = strings.TrimRight(name[:min(len(name), maxHeld-len(suffix))], "-") + suffix
	}
	taken[free] = true
	return free
}
