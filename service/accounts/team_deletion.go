package accounts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// TeamDeletion is what deleting a team takes along. Projects are in its way: they are deleted
// for good, or moved to another team, first.
type TeamDeletion struct {
	Team     Team
	Projects []string // names of the first ones; those in the bin with the day of their purge
	More     int64    // projects that Projects has no names of
	models.TeamContents
}

// maxNamed bounds TeamDeletion.Projects.
const maxNamed = 100

// TeamDeletion returns what deleting a team takes along.
func (s *Service) TeamDeletion(ctx context.Context, p access.Principal, id string) (TeamDeletion, error) {
	if err := access.Check(p, id, access.TeamDelete); err != nil {
		return TeamDeletion{}, err
	}
	tx := s.DB.Read(ctx)
	row, err := tx.TeamByID(id)
	if err != nil {
		return TeamDeletion{}, fmt.Errorf("accounts: deletion of team %s: %w", id, err)
	}
	out, err := deletionOf(tx, row, p)
	if err != nil {
		return TeamDeletion{}, fmt.Errorf("accounts: deletion of team %s: %w", id, err)
	}
	return out, nil
}

func deletionOf(tx *models.Tx, row models.Team, p access.Principal) (TeamDeletion, error) {
	out := TeamDeletion{Team: viewTeam(row, p)}
	projects, err := tx.ProjectNamesOfTeam(row.ID, maxNamed)
	if err != nil {
		return out, err
	}
	if len(projects) == maxNamed {
		all, err := tx.CountProjectsOfTeam(row.ID)
		if err != nil {
			return out, err
		}
		out.More = all - maxNamed
	}
	for _, one := range projects {
		name := one.Name
		if one.DeletedAt != nil {
			name += " (in the bin"
			if one.PurgeAt != nil {
				name += " until " + one.PurgeAt.UTC().Format(time.DateOnly)
			}
			name += ")"
		}
		out.Projects = append(out.Projects, name)
	}
	slices.Sort(out.Projects)
	out.TeamContents, err = tx.TeamContents(row.ID)
	return out, err
}

// rowsAtOnce is how many rows one statement of a deletion removes.
const rowsAtOnce = 10_000

// DeleteTeam deletes a team for good, with its members' roles, invitations, webhooks,
// products, and tenants with their people. confirm is its name. It is refused as Conflict
// with the code team_has_projects while the team has projects, those in the bin included.
func (s *Service) DeleteTeam(ctx context.Context, p access.Principal, id, confirm string) error {
	return s.withLockedTeam(ctx, p, id, access.TeamDelete, func(tx *models.Tx, row models.Team) error {
		takes, err := deletionOf(tx, row, p)
		if err != nil {
			return err
		}
		if len(takes.Projects) > 0 {
			return fault.New(fault.Conflict, "team_has_projects", "The team has projects: %s. Move them to another "+
				"team, or delete them for good, first.", shortList(takes.Projects))
		}
		if confirm != row.Name {
			return fault.InvalidField("/confirm", "wrong_confirmation", "Type the team's name, %s, to delete "+
				"it.", row.Name)
		}
		err = access.Record(tx, p, access.Entry{
			Action: access.TeamDelete,
			Object: id,
			Team:   id,
			Detail: takes.detail(),
			Before: row,
		})
		if err != nil {
			return err
		}
		err = tx.EraseTeam(id, rowsAtOnce)
		if errors.Is(err, models.ErrReferenced) {
			return fault.New(fault.Conflict, "changed_meanwhile",
				"Something was added to the team at the same time. Try again.").Because(err)
		}
		return err
	})
}

// detail has the numbers of what goes along, for the audit log.
func (d TeamDeletion) detail() map[string]string {
	detail := map[string]string{"name": d.Team.Name}
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
