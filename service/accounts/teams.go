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

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Teams returns the principal's teams, oldest first.
func (s *Service) Teams(
	ctx context.Context, p access.Principal, in contract.OwnTeamList,
) (models.List[contract.Team], error) {
	var none models.List[contract.Team]
	if p.Anonymous() {
		return none, access.Check(p, "", access.TeamRead)
	}
	ids := slices.DeleteFunc(p.Teams(), func(id string) bool { return !access.Can(p.Roles[id], access.TeamRead) })
	rows, err := s.DB.Read(ctx).TeamsByID(ids)
	if err != nil {
		return none, fmt.Errorf("accounts: list teams: %w", err)
	}
	list, err := pageOfTeams(rows, models.PageOf(in.Page, in.Sort, in.Text))
	if err != nil {
		return none, fmt.Errorf("accounts: list teams: %w", err)
	}
	return models.MapList(list, func(row models.Team) contract.Team { return viewTeam(row, p) }), nil
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

func viewTeam(row models.Team, p access.Principal) contract.Team {
	return contract.Team{
		ID:        row.ID,
		Name:      row.Name,
		Role:      string(p.Roles[row.ID]),
		ETag:      etag(row.Name),
		CreatedAt: row.CreatedAt.UTC(),
	}
}

// etag returns an entity tag of the fields that can be changed (RFC 9110, 8.8.3). It is a
// hash of their values, so that a change and its reversal lose no update.
func etag(state ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(state, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// Team returns one team.
func (s *Service) Team(ctx context.Context, p access.Principal, in contract.TeamPath) (contract.Team, error) {
	if err := access.Check(p, in.Team, access.TeamRead); err != nil {
		return contract.Team{}, err
	}
	row, err := s.DB.Read(ctx).TeamByID(in.Team)
	if err != nil {
		return contract.Team{}, fmt.Errorf("accounts: team %s: %w", in.Team, err)
	}
	return viewTeam(row, p), nil
}

// maxTeams bounds how many teams an account may be in when it creates another.
const maxTeams = 100

// CreateTeam creates a team that the account owns.
func (s *Service) CreateTeam(
	ctx context.Context, p access.Principal, in contract.TeamCreation,
) (contract.Team, error) {
	var none contract.Team
	if err := access.CheckSelf(p, access.TeamCreate); err != nil {
		return none, err
	}
	name, wrong := normalizeName(in.Body.Name)
	if err := fault.InvalidFields(wrong); err != nil {
		return none, err
	}
	if len(p.Roles) >= maxTeams {
		return none, fault.New(
			fault.Conflict, "too_many_teams", "You are in %d teams, which is the maximum. Leave one to create "+
				"another.", len(p.Roles),
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
		return access.Record(tx, p, access.Entry{
			Action: access.TeamCreate, Object: row.ID, Name: row.Name, Team: row.ID, After: row,
		})
	})
	if err != nil {
		return none, fmt.Errorf("accounts: create a team: %w", err)
	}
	out := viewTeam(row, p)
	out.Role = string(access.Owner)
	return out, nil
}

// UpdateTeam changes a team.
func (s *Service) UpdateTeam(ctx context.Context, p access.Principal, in contract.TeamUpdate) (contract.Team, error) {
	if err := access.Check(p, in.Team, access.TeamUpdate); err != nil {
		return contract.Team{}, err
	}
	if in.Body.Name != nil {
		name, wrong := normalizeName(*in.Body.Name)
		if err := fault.InvalidFields(wrong); err != nil {
			return contract.Team{}, err
		}
		in.Body.Name = &name
	}
	var out contract.Team
	err := s.withLockedTeam(ctx, p, in.Team, access.TeamUpdate, func(tx *models.Tx, row models.Team) error {
		if err := access.Unchanged(in.IfMatch, etag(row.Name)); err != nil {
			return err
		}
		out = viewTeam(row, p)
		if in.Body.Name == nil {
			return nil
		}
		before := row
		row.Name = *in.Body.Name
		if err := tx.RenameTeam(row.ID, row.Name); err != nil {
			return err
		}
		out = viewTeam(row, p)
		return access.Record(tx, p, access.Entry{
			Action: access.TeamUpdate,
			Object: row.ID,
			Name:   row.Name,
			Team:   row.ID,
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
