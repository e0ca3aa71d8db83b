package projects

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
)

// CreateInput is the input of POST /proxy. Empty fields get their defaults.
type CreateInput struct {
	Target       string // may be empty where every environment has its own
	Team         string // id; the principal's home team when empty
	Name         string
	DisplayName  string
	Product      string // name; created if the team does not have it
	Tenant       string // name of a tenant to serve in addition to default; created if the team does not have it
	Version      string
	Environments map[string]contract.EnvironmentTarget // by name; empty: prod with Target
	Auth         contract.NewRequestsAuth
	Login        Login // nil for none

	// OpenAPI is a document as JSON, or a JSON string that contains a document in JSON or YAML, or the address of one;
	// nil for none. It fills in Version, DisplayName and Environments.
	OpenAPI json.RawMessage
}

// Login is a hosted login that is created together with the project (login.Setup).
// Check's fields have pointers below prefix; verified reports whether the gateway
// verifies tokens.
type Login interface {
	Check(ctx context.Context, prefix string, unclaimed, verified bool) ([]fault.Field, error)
	InsertIn(tx *models.Tx, p access.Principal, team string, tenant models.Tenant) error
	Warnings() []contract.Warning // about what was inserted
}

// Created is a new project with its secrets, which are shown only once.
type Created struct {
	Project   Project
	Keys      map[string]contract.KeyWithSecret // environment -> first key; empty without the method api_key
	Workspace *accounts.Workspace               // nil if the caller was signed in
	Warnings  []contract.Warning                // about the policy, the login and the OpenAPI document
}

// firstKeyOwner is the owner of the first keys.
const firstKeyOwner = "bootstrap"

// Create creates a project in one of the principal's teams, or in a new workspace for an anonymous caller. Errors:
// Invalid for invalid fields, Conflict with the code name_taken, and TooMany for too many unclaimed projects from one
// network.
func (s *Service) Create(ctx context.Context, p access.Principal, in CreateInput) (Created, error) {
	if !p.Anonymous() || in.Team != "" {
		var err error
		if in.Team, err = teamFor(p, in.Team, access.ProjectCreate); err != nil {
			return Created{}, fmt.Errorf("projects: create: %w", err)
		}
	}
	if s.CapUnclaimed && unclaimed(p) { // before host names are looked up
		if err := s.Quota.Allow(p.RemoteAddr, models.Now()); err != nil {
			return Created{}, fmt.Errorf("projects: create: %w", err)
		}
	}
	plan, err := s.plan(ctx, p, in)
	if err != nil {
		return Created{}, fmt.Errorf("projects: create: %w", err)
	}
	var out Created
	for range nameAttempts {
		out, err = s.create(ctx, p, plan)
		// The name was taken after freeName had looked. A derived name is replaced by
		// another one.
		if !errors.Is(err, models.ErrDuplicate) || plan.nameGiven {
			break
		}
	}
	if errors.Is(err, models.ErrDuplicate) {
		err = nameTaken(plan.Name)
	}
	if err != nil {
		return Created{}, fmt.Errorf("projects: create: %w", err)
	}
	s.Changed(ctx)
	return out, nil
}

// teamFor returns the team that a new object is created in: the named one, or the
// principal's home team. It fails if the principal must not create it there.
func teamFor(p access.Principal, named string, action access.Action) (string, error) {
	team := cmp.Or(named, p.HomeTeam)
	if team == "" && !p.Anonymous() {
		return "", fault.New(fault.Conflict, "no_team", "You aren't in a team. Create one, or ask for an invitation.")
	}
	return team, access.Check(p, team, action)
}

// nameAttempts is how many names are tried before giving up.
const nameAttempts = 5

func (s *Service) create(ctx context.Context, p access.Principal, plan plan) (out Created, err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		team := plan.Team
		switch {
		case p.Anonymous():
			workspace, err := accounts.NewWorkspace(tx, s.UnclaimedTTL)
			if err != nil {
				return err
			}
			out.Workspace = &workspace
			team = workspace.Team
		case p.Roles[team] == access.Workspace:
			if err := accounts.StillUnclaimed(tx, team); err != nil {
				return err
			}
			if err := access.CheckQuota(tx, team, models.QuotaProjects); err != nil {
				return err
			}
		}
		created, err := s.insert(ctx, tx, p, team, plan)
		if err != nil {
			return err
		}
		out.Project, out.Keys, out.Warnings = created.Project, created.Keys, created.Warnings
		return nil
	})
	return out, err
}

// freeName returns the plan's name. A derived name that is taken gets a random suffix.
func freeName(tx *models.Tx, plan plan) (string, error) {
	name := plan.Name
	for range nameAttempts {
		taken, err := tx.ProjectNameTaken(name)
		if err != nil || !taken {
			return name, err
		}
		if plan.nameGiven {
			break
		}
		name = fmt.Sprintf("%.*s-%s", 32, plan.Name, strings.ToLower(rand.Text()[:6]))
	}
	return "", nameTaken(plan.Name)
}

func nameTaken(name string) error {
	return &fault.Error{
		Kind:   fault.Conflict,
		Code:   "name_taken",
		Public: fmt.Sprintf("The name %q is taken.", name),
		Fields: []fault.Field{{
			Pointer: "/name",
			Code:    "name_taken",
			Detail:  "Choose another name, or omit the name to get a generated one.",
		}},
	}
}
