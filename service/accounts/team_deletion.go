package accounts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// maxNamed bounds contract.TeamDeletion.Projects.
const maxNamed = 100

// TeamDeletion returns what deleting a team also deletes. Projects prevent the deletion: they must first be deleted
// permanently or moved to another team. Projects in the trash have the day of their purge.
func (s *Service) TeamDeletion(
	ctx context.Context, p access.Principal, in contract.TeamPath,
) (contract.TeamDeletion, error) {
	if err := access.Check(p, in.Team, access.TeamDelete); err != nil {
		return contract.TeamDeletion{}, err
	}
	out, err := deletionOf(s.DB.Read(ctx), in.Team)
	if err != nil {
		return contract.TeamDeletion{}, fmt.Errorf("accounts: deletion of team %s: %w", in.Team, err)
	}
	return out, nil
}

func deletionOf(tx *models.Tx, team string) (contract.TeamDeletion, error) {
	var out contract.TeamDeletion
	projects, err := tx.ProjectNamesOfTeam(team, maxNamed)
	if err != nil {
		return out, err
	}
	if len(projects) == maxNamed {
		all, err := tx.CountProjectsOfTeam(team)
		if err != nil {
			return out, err
		}
		out.MoreProjects = all - maxNamed
	}
	for _, one := range projects {
		name := one.Name
		if one.DeletedAt != nil {
			name += " (in the trash"
			if one.PurgeAt != nil {
				name += " until " + one.PurgeAt.UTC().Format(time.DateOnly)
			}
			name += ")"
		}
		out.Projects = append(out.Projects, name)
	}
	slices.Sort(out.Projects)
	has, err := tx.TeamContents(team)
	out.Members, out.Invitations, out.Webhooks = has.Members, has.Invitations, has.Webhooks
	out.Tenants, out.Users, out.Products = has.Tenants, has.Users, has.Products
	return out, err
}

// rowsAtOnce is how many rows one statement of a deletion removes.
const rowsAtOnce = 10_000

// DeleteTeam deletes a team permanently, with its members' roles, invitations, webhooks, products, and tenants with
// their people. confirm is its name. It is refused as Conflict with the code team_has_projects while the team has
// projects, those in the trash included.
func (s *Service) DeleteTeam(
	ctx context.Context, p access.Principal, in contract.TeamRemoval,
) (contract.None, error) {
	id := in.Team
	err := s.withLockedTeam(ctx, p, id, access.TeamDelete, func(tx *models.Tx, row models.Team) error {
		takes, err := deletionOf(tx, id)
		if err != nil {
			return err
		}
		if len(takes.Projects) > 0 {
			return fault.New(fault.Conflict, "team_has_projects", "The team still has projects: %s. Move them to "+
				"another team or delete them permanently first.", shortList(takes.Projects))
		}
		if in.Confirm != row.Name {
			return fault.InvalidField("/confirm", "wrong_confirmation", "Type the team's name, %s, to delete "+
				"the team.", row.Name)
		}
		err = access.Record(tx, p, access.Entry{
			Action: access.TeamDelete,
			Object: id,
			Team:   id,
			Detail: deletionDetail(row, takes),
			Before: row,
		})
		if err != nil {
			return err
		}
		err = tx.EraseTeam(id, rowsAtOnce)
		if errors.Is(err, models.ErrReferenced) {
			return fault.New(fault.Conflict, "changed_concurrently",
				"The team was changed by another request. Try again.").Because(err)
		}
		return err
	})
	return contract.None{}, err
}

// deletionDetail has the numbers of what is deleted too, for the audit log.
func deletionDetail(row models.Team, d contract.TeamDeletion) map[string]string {
	detail := map[string]string{"name": row.Name}
	for of, n := range map[string]int64{
		"members":  d.Members,
		"tenants":  d.Tenants,
		"users":    d.Users,
		"products": d.Products,
		"webhooks": d.Webhooks,
	} {
		if n > 0 {
			detail[of] = strconv.FormatInt(n, 10)
		}
	}
	return detail
}

// shortList names at most ten.
func shortList(names []string) string {
	const most = 10
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(len(names)-most) + " more"
}
