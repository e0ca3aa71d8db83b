// Package audit reads and verifies the audit log, and records refused requests.
//
// It owns the queries of the log, the verification of its chains, and the bounds on what
// refused requests may write. It leaves the entries of changes to package access, which
// writes them in the transaction of the change, and the chaining of entries to models.
package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/service/access"
)

// Service reads and verifies the audit log.
type Service struct {
	DB           *models.DB
	VerifyWithin time.Duration // bounds Verify; 0 means verifyWithin

	underWay verifications
}

// Query chooses entries of one team; what is empty chooses all. They can be sorted by created, and are newest first
// otherwise. Text is searched for in ids, actions, addresses and details, and in e-mail addresses of the team.
type Query struct {
	Team     string // id; "" is the principal's home team
	Project  string // name or id
	Actor    string // an account's id or e-mail address, or another actor
	Action   string
	Object   string
	Outcome  string    // done or refused
	From, To time.Time // To is not included
	models.Page
}

// Entry is a line of the log as its team sees it.
type Entry struct {
	models.AuditEntry
	ActorName   string // of an account of the team: its e-mail address; else ""
	ProjectName string // as it is called now; "" when it is gone
}

// Page is one page of a team's log.
type Page struct {
	models.List[Entry]
	Team string // id
}

// List answers a query. One about a project or an object goes on in the chains of
// the workspaces that were merged into the team.
func (s *Service) List(ctx context.Context, p access.Principal, q Query) (Page, error) {
	tx := s.DB.Read(ctx)
	r, err := q.reading(tx, p)
	if err != nil {
		return Page{}, fmt.Errorf("audit: list: %w", err)
	}
	found, err := q.list(tx, r)
	if err != nil {
		return Page{}, fmt.Errorf("audit: list: %w", err)
	}
	entries, err := withNames(tx, r.team, found.Items)
	if err != nil {
		return Page{}, fmt.Errorf("audit: list: %w", err)
	}
	return Page{
		List: models.List[Entry]{
			Items:   entries,
			Next:    found.Next,
			Total:   found.Total,
			AtLeast: found.AtLeast,
			Partial: found.Partial,
		},
		Team: r.chain,
	}, nil
}

func (q Query) list(tx *models.Tx, r reading) (found models.List[models.AuditEntry], err error) {
	all := r
	if err := r.resume(q.Cursor); err != nil {
		return found, err
	}
	if found, err = r.page(tx, q.Page); err != nil || !q.Count || found.Partial {
		return found, err
	}
	if q.Cursor == "" && found.Next == "" {
		found.Total = int64(len(found.Items))
		return found, nil
	}
	n, complete, err := all.total(tx)
	found.Total, found.AtLeast = n, !complete
	return found, err
}

// Installation stands for the chain of what belongs to no team.
const Installation = "installation"

func (q Query) filter(tx *models.Tx, p access.Principal) (f models.AuditFilter, team string, err error) {
	f = models.AuditFilter{
		Actor:   q.Actor,
		Action:  q.Action,
		Object:  q.Object,
		Outcome: q.Outcome,
		From:    q.From,
		To:      q.To,
		Text:    q.Text,
		Oldest:  q.Sort.By == "created" && !q.Sort.Desc,
	}
	if q.Project != "" && q.Team == "" {
		project, err := access.Project(tx, p, q.Project, access.AuditRead)
		if err != nil {
			return f, "", err
		}
		q.Team = project.TeamID
	}
	if f.TeamID, team, err = chainOf(tx, p, q.Team); err != nil {
		return f, "", err
	}
	if q.Project != "" {
		project, err := access.Project(tx, p, q.Project, access.AuditRead)
		if err != nil {
			return f, "", err
		}
		f.Project = project.ID
	}
	if !f.From.IsZero() && !f.To.IsZero() && !f.From.Before(f.To) {
		return f, "", fault.InvalidField("/to", "invalid_range", "to has to be later than from.")
	}
	if strings.Contains(q.Actor, "@") {
		if f.Actor, err = accountID(tx, q.Actor); err != nil {
			return f, "", err
		}
	}
	f.Actors, err = membersNamed(tx, team, f.Text)
	return f, team, err
}

// membersNamed returns the accounts of a team whose e-mail addresses contain a text.
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

// accountID returns the id of the account with an e-mail address. For an unknown
// address it returns an id that no entry has, so that the response does not reveal
// which addresses have an account.
func accountID(tx *models.Tx, email string) (string, error) {
	account, err := tx.AccountByEmail(ascii.Lower(strings.TrimSpace(email)))
	if errors.Is(err, models.ErrNotFound) {
		return "nobody", nil
	}
	return account.ID, err
}

// withNames adds the names of accounts and projects. An account without a role in the team
// is shown as an id: the team must not learn an outsider's e-mail address.
func withNames(tx *models.Tx, team string, rows []models.AuditEntry) ([]Entry, error) {
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
	out := make([]Entry, len(rows))
	for i, row := range rows {
		out[i] = Entry{AuditEntry: row, ActorName: members[row.Actor], ProjectName: names[row.ProjectID]}
	}
	return out, nil
}

// Choice is something that entries can be filtered by.
type Choice struct{ Value, Title string }

// Choices are what a principal can choose from.
type Choices struct {
	Teams        []Choice // whose log they may read
	Projects     []Choice // of the team
	MoreProjects bool     // the team has too many to list, and Projects has none
}

// maxProjects bounds how many projects there are to choose from.
const maxProjects = 200

// Choices lists them for one team's log.
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
		out.Teams = append(out.Teams, Choice{Installation, "The installation"})
	}
	slices.SortFunc(out.Teams, func(a, b Choice) int { return strings.Compare(a.Value, b.Value) })
	if err := out.addMerged(tx, team); err != nil {
		return out, fmt.Errorf("audit: what was merged into teams: %w", err)
	}
	team, err = readerOf(tx, team)
	if err != nil {
		return out, fmt.Errorf("audit: %w", err)
	}
	projects, err := tx.ProjectNamesOfTeam(team, maxProjects+1)
	if err != nil {
		return out, fmt.Errorf("audit: the projects of %s: %w", team, err)
	}
	if len(projects) > maxProjects {
		projects, out.MoreProjects = nil, true
	}
	for _, project := range projects {
		out.Projects = append(out.Projects, Choice{project.Name, project.DisplayName})
	}
	return out, nil
}
