package accounts

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Team is a team as its members see it.
type Team struct {
	ID        string
	Name      string
	Role      access.Role // of the caller
	ETag      string      // of the fields that can be changed
	CreatedAt time.Time
}

// Teams returns the principal's teams, oldest first.
func (s *Service) Teams(ctx context.Context, p access.Principal, page models.Page) (models.List[Team], error) {
	if p.Anonymous() {
		return models.List[Team]{}, access.Check(p, "", access.TeamRead)
	}
	ids := slices.DeleteFunc(p.Teams(), func(id string) bool { return !access.Can(p.Roles[id], access.TeamRead) })
	rows, err := s.DB.Read(ctx).TeamsByID(ids)
	if err != nil {
		return models.List[Team]{}, fmt.Errorf("accounts: list teams: %w", err)
	}
	list, err := pageOfTeams(rows, page)
	if err != nil {
		return models.List[Team]{}, fmt.Errorf("accounts: list teams: %w", err)
	}
	return models.MapList(list, func(row models.Team) Team { return viewTeam(row, p) }), nil
}

// pageOfTeams sorts the teams of an account, which are few, and returns a page of them.
func pageOfTeams(rows []models.Team, page models.Page) (models.List[models.Team], error) {
	rows = slices.DeleteFunc(rows, func(row models.Team) bool {
		return !strings.Contains(strings.ToLower(row.Name), strings.ToLower(page.Text))
	})
	slices.SortFunc(rows, func(a, b models.Team) int {
		order := cmp.Compare(a.ID, b.ID)
		if page.Sort.By == "name" {
			order = cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), order)
		}
		if page.Sort.Desc {
			return -order
		}
		return order
	})
	all := len(rows)
	if page.Cursor != "" {
		last := slices.IndexFunc(rows, func(row models.Team) bool { return row.ID == page.Cursor })
		if last < 0 {
			return models.List[models.Team]{}, models.ErrCursor
		}
		rows = rows[last+1:]
	}
	list := models.Cut(rows, page, func(row models.Team) string { return row.ID })
	if page.Count {
		list.Total = int64(all)
	}
	return list, nil
}

func viewTeam(row models.Team, p access.Principal) Team {
	return Team{ID: row.ID, Name: row.Name, Role: p.Roles[row.ID], ETag: etag(row.Name), CreatedAt: row.CreatedAt}
}

// etag returns an entity tag of the fields that can be changed (RFC 9110, 8.8.3). It is a
// hash of their values, so that a change and its reversal lose no update.
func etag(state ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(state, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// Team returns one team.
func (s *Service) Team(ctx context.Context, p access.Principal, id string) (Team, error) {
	if err := access.Check(p, id, access.TeamRead); err != nil {
		return Team{}, err
	}
	row, err := s.DB.Read(ctx).TeamByID(id)
	if err != nil {
		return Team{}, fmt.Errorf("accounts: team %s: %w", id, err)
	}
	return viewTeam(row, p), nil
}

// maxTeams bounds how many teams an account may be in when it creates another.
const maxTeams = 100

// CreateTeam creates a team that the account owns.
func (s *Service) CreateTeam(ctx context.Context, p access.Principal, name string) (Team, error) {
	if err := access.CheckSelf(p, access.TeamCreate); err != nil {
		return Team{}, err
	}
	name, wrong := normalizeName(name)
	if err := fault.InvalidFields(wrong); err != nil {
		return Team{}, err
	}
	if len(p.Roles) >= maxTeams {
		return Team{}, fault.New(
			fault.Conflict, "too_many_teams", "You are in %d teams. Leave one to create another.", len(p.Roles),
		)
	}
	now := models.Now()
	row := models.Team{ID: models.NewID("team"), Name: name, ClaimedAt: &now, CreatedAt: now}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		err := tx.Insert(&row, &models.Membership{
			TeamID:    row.ID,
			AccountID: p.Account,
			Role:      string(access.Owner),
			CreatedAt: now,
		})
		if err != nil {
			return err
		}
		return access.Record(tx, p, access.Entry{Action: access.TeamCreate, Object: row.ID, Team: row.ID, After: row})
	})
	if err != nil {
		return Team{}, fmt.Errorf("accounts: create a team: %w", err)
	}
	out := viewTeam(row, p)
	out.Role = access.Owner
	return out, nil
}

// RenameTeam changes a team's name. If ifMatch is neither empty nor the team's ETag, the
// change is refused.
func (s *Service) RenameTeam(ctx context.Context, p access.Principal, id, ifMatch, name string) (Team, error) {
	if err := access.Check(p, id, access.TeamUpdate); err != nil {
		return Team{}, err
	}
	name, wrong := normalizeName(name)
	if err := fault.InvalidFields(wrong); err != nil {
		return Team{}, err
	}
	var out Team
	err := s.withLockedTeam(ctx, p, id, access.TeamUpdate, func(tx *models.Tx, row models.Team) error {
		if err := access.Unchanged(ifMatch, etag(row.Name)); err != nil {
			return err
		}
		before := row
		row.Name = name
		if err := tx.RenameTeam(id, name); err != nil {
			return err
		}
		out = viewTeam(row, p)
		return access.Record(tx, p, access.Entry{
			Action: access.TeamUpdate,
			Object: id,
			Team:   id,
			Before: before,
			After:  row,
		})
	})
	return out, err
}

// withLockedTeam runs a change of a team and its members under the team's lock. It checks
// the permission again under the lock, because the role may have changed since the request
// began.
func (s *Service) withLockedTeam(
	ctx context.Context, p access.Principal, team string, action access.Action,
	change func(*models.Tx, models.Team) error,
) error {
	if err := access.Check(p, team, action); err != nil {
		return err
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := tx.HoldTeam(team)
		if errors.Is(err, models.ErrNotFound) {
			return access.NotFound() // deleted since the request began
		}
		if err != nil {
			return err
		}
		membership, err := tx.MembershipOf(team, p.Account)
		if err != nil && !errors.Is(err, models.ErrNotFound) {
			return err
		}
		now := access.Principal{Account: p.Account, Roles: map[string]access.Role{}}
		if err == nil {
			now.Roles[team] = access.Role(membership.Role)
		}
		if err := access.Check(now, team, action); err != nil {
			return err
		}
		return change(tx, row)
	})
	if err != nil {
		return fmt.Errorf("accounts: %s of %s: %w", action, team, err)
	}
	return nil
}
