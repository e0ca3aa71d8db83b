// Package projects manages projects with their versions, environments, tenants and access policies.
//
// It owns the validation of that configuration, and its changes. Package serving compiles it and delivers it to the
// gateway. API keys belong to package keys, except for the first ones of a new project.
package projects

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/secrets"
	"postern/platform/turns"
	"postern/service/access"
	"postern/service/accounts"
	"postern/service/keys"
)

// TargetChecker checks the URL of a target. It refuses one with a fault of kind Invalid.
type TargetChecker interface {
	CheckTarget(ctx context.Context, raw string) (*url.URL, error)
}

// Addresses says under which URLs the gateway serves projects.
type Addresses interface {
	Address(project, version, environment string) string
	ProjectAddress(project string) string
}

// Service implements project management: create, list, update, take down.
type Service struct {
	DB           *models.DB
	Targets      TargetChecker
	Addresses    Addresses // nil: projects are shown without them
	Log          *slog.Logger
	PublicURL    string // of the control plane, where app clients are issuers
	KeyPrefix    string
	UnclaimedTTL time.Duration
	CapUnclaimed bool // limits unclaimed projects to target ports 80 and 443, and their number to Quota
	Quota        CreationQuota
	Events       keys.Events    // receives key.created of the first keys; nil: no events
	Vault        *secrets.Vault // seals the secrets of introspection endpoints
	Usage        Usage          // of calls, for removals; nil: only usage that has been written
	Purger       Purger         // deletes projects permanently
	Client       *http.Client   // fetches documents; it must be the guarded one of package egress

	Outbound accounts.Outbound // bounds how often documents are fetched

	// OwnName reports whether calls with a Host, in lowercase, could reach the installation itself. nil: no Host can.
	OwnName func(host string) bool

	// CheckLogin refuses a change after which a project's login couldn't work. nil: no check.
	CheckLogin func(tx *models.Tx, projectID string) error

	// Changed is called after each commit. It returns once this process serves the change.
	Changed func(context.Context)

	// Gateway explains calls with the current table of this process's gateway; nil: calls can't be explained.
	Gateway func(policy.Question) policy.Explanation

	documents turns.Places // for work on OpenAPI documents, by team
}

// Project is a project together with the parts that have their own operations, as pages show it and the audit log
// compares it.
type Project struct {
	contract.Project

	API      contract.SavedAPI
	CORS     contract.SavedCORS
	Versions []Version // those of the contract's, with more
}

// Version is a version together with the parts that have their own operations.
type Version struct {
	contract.Version

	Rules       snapshot.Rules
	Transforms  snapshot.Transforms
	Validation  snapshot.Validation  // of requests against the OpenAPI document
	Publication snapshot.Publication // of that document
	OpenAPI     string               // SHA-256 of its OpenAPI document, hexadecimal; "": none
}

// Project finds a project by name or id.
func (s *Service) Project(
	ctx context.Context, p access.Principal, in contract.ProjectPath,
) (contract.Project, error) {
	found, err := s.Get(ctx, p, in.Project)
	return found.Project, err
}

// Get finds a project by name or id.
func (s *Service) Get(ctx context.Context, p access.Principal, ref string) (Project, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, ref, access.ProjectRead)
	if err != nil {
		return Project{}, fmt.Errorf("projects: get %s: %w", ref, err)
	}
	return s.view(tx, row)
}

// List returns by name the projects of the principal's teams, or of one of them.
func (s *Service) List(
	ctx context.Context, p access.Principal, in contract.ProjectList,
) (models.List[contract.Project], error) {
	var none models.List[contract.Project]
	teams, err := listedTeams(p, access.ProjectRead, in.Team)
	if err != nil {
		return none, fmt.Errorf("projects: list: %w", err)
	}
	tx := s.DB.Read(ctx)
	page := models.PageOf(in.Page, in.Sort, in.Text)
	rows, err := tx.ProjectsOfTeams(teams, in.State, models.Now(), page)
	if err != nil {
		return none, fmt.Errorf("projects: list: %w", err)
	}
	around, err := s.surroundingsOf(tx, rows.Items)
	if err != nil {
		return none, fmt.Errorf("projects: list: %w", err)
	}
	return models.MapList(rows, around.shown), nil
}

// AnyInBin reports whether List has projects in the trash.
func (s *Service) AnyInBin(ctx context.Context, p access.Principal, team string) (bool, error) {
	teams, err := listedTeams(p, access.ProjectRead, team)
	if err != nil {
		return false, fmt.Errorf("projects: list the trash: %w", err)
	}
	return s.DB.Read(ctx).AnyDeleted(teams, models.Now())
}

// listedTeams returns the teams that a list covers: the one asked for, or with team
// "" all of the principal's. It fails if the principal may not list there.
func listedTeams(p access.Principal, action access.Action, team string) ([]string, error) {
	if p.Anonymous() || team != "" {
		return []string{team}, access.Check(p, team, action)
	}
	return p.Teams(), access.Within(p, action)
}
