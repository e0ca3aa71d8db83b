// Package audit reads and verifies the audit log, and records refused requests.
//
// It owns the queries of the log, the verification of its chains, and the limits on entries about refused requests. It
// leaves the entries about changes to package access, which writes them in the transaction of the change, and the
// chaining of entries to package models.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/service/access"
)

// Service reads and verifies the audit log.
type Service struct {
	DB           *models.DB
	VerifyWithin time.Duration // bounds Verify; 0 means verifyWithin

	inProgress verifications
}

// Log is one page of a team's entries.
type Log struct {
	models.List[contract.AuditEntry]
	Team string // ID, "" for entries that belong to no team
}

// List returns the entries of Log, without the team.
func (s *Service) List(
	ctx context.Context, p access.Principal, in contract.AuditList,
) (models.List[contract.AuditEntry], error) {
	found, err := s.Log(ctx, p, in)
	return found.List, err
}

// Log lists the entries that a request selects. If it is about a project or an object, the list continues in the chains
// of workspaces that were merged into the team.
func (s *Service) Log(ctx context.Context, p access.Principal, in contract.AuditList) (Log, error) {
	tx := s.DB.Read(ctx)
	r, err := newReading(tx, p, in)
	if err != nil {
		return Log{}, fmt.Errorf("audit: list: %w", err)
	}
	found, err := r.list(tx, models.PageOf(in.Page, in.Sort, in.Text))
	if err != nil {
		return Log{}, fmt.Errorf("audit: list: %w", err)
	}
	entries, err := shown(tx, r.team, found.Items)
	if err != nil {
		return Log{}, fmt.Errorf("audit: list: %w", err)
	}
	return Log{
		List: models.List[contract.AuditEntry]{
			Items:   entries,
			Next:    found.Next,
			Total:   found.Total,
			AtLeast: found.AtLeast,
			Partial: found.Partial,
		},
		Team: r.chain,
	}, nil
}

// Get returns an entry of a log that the principal may read.
func (s *Service) Get(ctx context.Context, p access.Principal, in contract.AuditPath) (contract.AuditEntry, error) {
	if p.Anonymous() {
		return contract.AuditEntry{}, access.Check(p, "", access.AuditRead)
	}
	tx := s.DB.Read(ctx)
	row, err := tx.AuditEntryByID(in.Entry)
	if errors.Is(err, models.ErrNotFound) {
		err = access.NotFound()
	}
	var team string
	if err == nil {
		_, team, err = chainOf(tx, p, cmp.Or(row.TeamID, contract.Installation))
		if err != nil && row.TeamID == "" {
			err = access.NotFound() // as for an id that doesn't exist
		}
	}
	var entries []contract.AuditEntry
	if err == nil {
		entries, err = shown(tx, team, []models.AuditEntry{row})
	}
	if err != nil {
		return contract.AuditEntry{}, fmt.Errorf("audit: get %s: %w", in.Entry, err)
	}
	return entries[0], nil
}

func (r reading) list(tx *models.Tx, page models.Page) (found models.List[models.AuditEntry], err error) {
	all := r
	if err := r.resume(page.Cursor); err != nil {
		return found, err
	}
	if found, err = r.page(tx, page); err != nil || !page.Count || found.Partial {
		return found, err
	}
	if page.Cursor == "" && found.Next == "" {
		found.Total = int64(len(found.Items))
		return found, nil
	}
	n, complete, err := all.total(tx)
	found.Total, found.AtLeast = n, !complete
	return found, err
}

func filterOf(tx *models.Tx, p access.Principal, in contract.AuditList) (f models.AuditFilter, team string, err error) {
	f = models.AuditFilter{
		Actor:   in.Actor,
		Action:  in.Action,
		Object:  in.Object,
		Outcome: in.Outcome,
		From:    in.From,
		To:      in.To,
		Text:    in.Text,
		Oldest:  in.Sort == "created",
	}
	if in.Project != "" && in.Team == "" {
		project, err := access.Project(tx, p, in.Project, access.AuditRead)
		if err != nil {
			return f, "", err
		}
		in.Team = project.TeamID
	}
	if f.TeamID, team, err = chainOf(tx, p, in.Team); err != nil {
		return f, "", err
	}
	if in.Project != "" {
		project, err := access.Project(tx, p, in.Project, access.AuditRead)
		if err != nil {
			return f, "", err
		}
		f.Project = project.ID
	}
	if !f.From.IsZero() && !f.To.IsZero() && !f.From.Before(f.To) {
		return f, "", fault.InvalidField("/to", "invalid_range", "\"to\" must be later than \"from\".")
	}
	if strings.Contains(in.Actor, "@") {
		if f.Actor, err = accountID(tx, in.Actor); err != nil {
			return f, "", err
		}
	}
	f.Actors, err = membersNamed(tx, team, f.Text)
	return f, team, err
}

// membersNamed returns the accounts of a team whose email addresses contain a text.
func membersNamed(tx *models.Tx, team, text string) (ids []string, err error) {
	if text == "" {
		return nil, nil
	}
	members, err := tx.EmailsOfTeam(team)
	for id, email := range members {
		if strings.Contains(email, strings.ToLower(text)) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// accountID returns the id of the account with an email address. For an unknown
// address it returns an id that no entry has, so that the response does not reveal
// which addresses have an account.
func accountID(tx *models.Tx, email string) (string, error) {
	account, err := tx.AccountByEmail(ascii.Lower(strings.TrimSpace(email)))
	if errors.Is(err, models.ErrNotFound) {
		return "unknown", nil
	}
	return account.ID, err
}

// shown returns entries as the members of a team see them. The email address of an account without a role in the team
// is left out: the team must not learn an outsider's address.
func shown(tx *models.Tx, team string, rows []models.AuditEntry) ([]contract.AuditEntry, error) {
	members, err := tx.EmailsOfTeam(team)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, row := range rows {
		names[row.ProjectID] = ""
	}
	projects, err := tx.ProjectsByID(slices.Collect(maps.Keys(names)))
	if err != nil {
		return nil, err
	}
	for _, project := range projects {
		if project.TeamID == team {
			names[project.ID] = project.Name
		}
	}
	out := make([]contract.AuditEntry, len(rows))
	for i := range rows {
		out[i] = entryOf(&rows[i])
		out[i].Actor.Email = contract.OrNull(members[rows[i].Actor])
		out[i].ProjectName = names[rows[i].ProjectID]
		out[i].Summary = ActorText(out[i]) + " " + ActionText(out[i])
	}
	return out, nil
}

// entryOf returns an entry without what the row doesn't have: the names of the actor and the project, and the summary.
func entryOf(row *models.AuditEntry) contract.AuditEntry {
	return contract.AuditEntry{
		ID:        row.ID,
		Number:    row.Number,
		Hash:      row.Hash,
		Time:      row.CreatedAt.UTC(),
		Team:      contract.OrNull(row.TeamID),
		Actor:     contract.AuditActor{ID: row.Actor, Token: contract.OrNull(row.TokenID)},
		Action:    row.Action,
		Outcome:   row.Outcome,
		Object:    row.Object,
		Project:   contract.OrNull(row.ProjectID),
		Detail:    row.Detail,
		Changes:   row.Changes,
		Address:   row.RemoteAddr,
		RequestID: row.RequestID,
	}
}

// Choice is a value that entries can be filtered by.
type Choice struct{ Value, Title string }

// Choices are the values that a principal can filter by.
type Choices struct {
	Teams        []Choice // whose log the principal may read
	Projects     []Choice // of the team
	MoreProjects bool     // the team has too many to list, and Projects is empty
}

// maxProjects bounds how many projects there are to choose from.
const maxProjects = 200

// Choices returns the choices for one team's log.
func (s *Service) Choices(ctx context.Context, p access.Principal, team string) (Choices, error) {
	var out Choices
	tx := s.DB.Read(ctx)
	readable := slices.DeleteFunc(p.Teams(), func(id string) bool { return !access.Can(p.Roles[id], access.AuditRead) })
	teams, err := tx.TeamsByID(readable)
	if err != nil {
		return out, fmt.Errorf("audit: teams: %w", err)
	}
	for _, row := range teams {
		out.Teams = append(out.Teams, Choice{row.ID, row.Name})
	}
	if p.Operator {
		out.Teams = append(out.Teams, Choice{contract.Installation, "The installation"})
	}
	slices.SortFunc(out.Teams, func(a, b Choice) int { return strings.Compare(a.Value, b.Value) })
	if err := out.addMerged(tx, team); err != nil {
		return out, fmt.Errorf("audit: find workspaces merged into teams: %w", err)
	}
	team, err = readerOf(tx, team)
	if err != nil {
		return out, fmt.Errorf("audit: %w", err)
	}
	projects, err := tx.ProjectNamesOfTeam(team, maxProjects+1)
	if err != nil {
		return out, fmt.Errorf("audit: list the projects of %s: %w", team, err)
	}
	if len(projects) > maxProjects {
		projects, out.MoreProjects = nil, true
	}
	for _, project := range projects {
		out.Projects = append(out.Projects, Choice{project.Name, project.DisplayName})
	}
	return out, nil
}
