package projects

import (
	"context"
	"fmt"
	"strings"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Move moves a project to another team, of which the caller is also an owner. The project's keys, own tenant with its
// people and app clients, usage and exports move with it. The previous team keeps its webhooks, products, tenants and
// the audit log so far. Move returns Conflict with the code project_in_use while the project or one of its keys depends
// on these, keys_exist if keys of both teams have the same secrets, and audience_taken if a project of the other team
// has the same audience. Nothing changes if the project is already in the team.
func (s *Service) Move(
	ctx context.Context, p access.Principal, in contract.ProjectMove,
) (contract.Project, error) {
	var out Project
	ref, team := in.Project, in.Body.Team
	err := s.DB.Write(ctx, func(tx *models.Tx) (err error) {
		row, err := access.Project(tx, p, ref, access.ProjectMove)
		if err != nil {
			return err
		}
		if err := access.Check(p, team, access.ProjectMove); err != nil {
			return targetFault(err)
		}
		if err := tx.LockProject(row.ID); err != nil {
			return err
		}
		if row, err = access.Project(tx, p, row.ID, access.ProjectMove); err != nil {
			return err // moved or deleted by a request that held the lock
		}
		if row.TeamID != team {
			if err := s.moveTo(tx, p, row, team); err != nil {
				return err
			}
		}
		out, err = s.viewOf(tx, row.ID)
		return err
	})
	if err != nil {
		return contract.Project{}, fmt.Errorf("projects: move %s to %s: %w", ref, team, err)
	}
	s.Changed(ctx)
	return out.Project, nil
}

// targetFault names the field of a team that the caller is not a member of.
func targetFault(err error) error {
	if fault.KindOf(err) != fault.NotFound {
		return err
	}
	return fault.InvalidField("/team", "unknown_team", "Choose a team where you are an owner.")
}

// moveTo writes the move of a project whose row is locked.
func (s *Service) moveTo(tx *models.Tx, p access.Principal, row models.Project, team string) error {
	if err := checkMove(tx, row, team); err != nil {
		return err
	}
	if err := access.CheckKeysMove(tx, row.TeamID, row.ID, team); err != nil {
		return err
	}
	before, err := s.view(tx, row)
	if err != nil {
		return err
	}
	now := models.Now()
	if err := tx.MoveProject(row.ID, team, now); err != nil {
		return err
	}
	after, err := s.viewOf(tx, row.ID)
	if err != nil {
		return err
	}
	for _, chain := range []string{row.TeamID, team} {
		err := access.Record(tx, p, access.Entry{
			Action: access.ProjectMove,
			Object: row.ID,
			Team:   chain,
			Detail: map[string]string{"name": row.Name, "from": row.TeamID, "to": team},
			Before: before,
			After:  after,
		})
		if err != nil {
			return err
		}
	}
	return tx.AddRevision(row.ID, "", now)
}

// checkMove refuses the move of a project that depends on something of its team, and lists
// all that it depends on.
func checkMove(tx *models.Tx, row models.Project, team string) error {
	var uses []string
	if row.ProductID != nil {
		product, err := tx.ProductByID(*row.ProductID)
		if err != nil {
			return err
		}
		uses = append(uses, "it is in the product "+product.Name)
	}
	tenants, err := tx.TenantsOf(row.ID)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		if tenant.TeamID != nil {
			uses = append(uses, "the tenant "+tenant.Name+" is attached to it")
		}
	}
	keys, err := tx.CountKeysOfTeam(row.ID)
	if err != nil {
		return err
	}
	if keys > 0 {
		uses = append(uses, countOf(keys, "of its API keys belongs", "of its API keys belong")+
			" to one of the team's products or tenants")
	}
	if err := tx.LockHostsOf(row.ID); err != nil {
		return err
	}
	hosts, err := tx.HostsWithin(row.ID, row.TeamID, team)
	if err != nil {
		return err
	}
	if len(hosts) > 0 {
		return fault.New(fault.Conflict, "host_shared", "Other projects of these teams have custom domains with the "+
			"same host names: %s. A host name can belong to only one team. Delete the custom domains with these names "+
			"first, in this project or in the others.",
			strings.Join(hosts, ", "))
	}
	if len(uses) > 0 {
		return fault.New(fault.Conflict, "project_in_use", "The project depends on its team: %s. Remove it from its "+
			"product, detach the team's tenants and revoke these keys first.", strings.Join(uses, "; "))
	}
	row.TeamID = team
	wrong, err := audienceTaken(tx, row, row.APIAudience)
	if err == nil && len(wrong) > 0 {
		err = fault.New(fault.Conflict, "audience_taken", "A project in that team already has the API audience %s. "+
			"Change the audience of one of these projects first.", row.APIAudience)
	}
	return err
}

// stillOf locks a project until the transaction ends, and refuses a change of it that began
// before it was moved to another team.
func stillOf(tx *models.Tx, project models.Project) error {
	if err := tx.LockProject(project.ID); err != nil {
		return err
	}
	now, err := tx.ProjectByID(project.ID)
	if err == nil && now.TeamID != project.TeamID {
		err = fault.New(fault.Conflict, "changed_concurrently",
			"The project was just moved to another team. Reload it and try again.")
	}
	return err
}
