package projects

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
	"postern/service/keys"
)

// CreateInput is what POST /proxy takes. Empty fields take their defaults.
type CreateInput struct {
	Target       string // may be empty where every environment has its own
	Team         string // id; the principal's home team when empty
	Name         string
	DisplayName  string
	Product      string // name; made where the team has none of it
	Tenant       string // name of a tenant to serve beside default; made where the team has none of it
	Version      string
	Environments map[string]string // name -> target; empty: prod -> Target
	Auth         AuthInput
	KeyTypes     []KeyType
	Login        Login // nil for none
}

// Login is a hosted login that is made together with the project (login.Setup).
// Check's fields have pointers below prefix; verified tells whether the gateway looks
// at tokens.
type Login interface {
	Check(ctx context.Context, prefix string, unclaimed, verified bool) ([]fault.Field, error)
	InsertIn(tx *models.Tx, p access.Principal, team string, tenant models.Tenant) error
}

// AuthInput is requests_auth, without the key types.
type AuthInput struct {
	Mode    string
	Methods []string
	Keyless string
	Issuers []snapshot.TokenIssuer // whose tokens the method jwt takes
	Opaque  *IntrospectionInput    // whom the method opaque asks; nil for nobody
}

// Created is a new project with the secrets that are shown this once.
type Created struct {
	Project   Project
	Keys      map[string]keys.Minted // environment -> bootstrap key; empty where keys are not asked for
	Workspace *accounts.Workspace    // nil when the caller was signed in
}

// firstKeyOwner is whom the bootstrap keys belong to.
const firstKeyOwner = "bootstrap"

// Create makes a project in a team of the principal's, or in a new workspace for
// an anonymous caller.
func (s *Service) Create(ctx context.Context, p access.Principal, in CreateInput) (Created, error) {
	if !p.Anonymous() || in.Team != "" {
		var err error
		if in.Team, err = teamFor(p, in.Team, access.ProjectCreate); err != nil {
			return Created{}, fmt.Errorf("projects: create: %w", err)
		}
	}
	if s.CapUnclaimed && unclaimed(p) { // before names are looked up for a caller who asks for a thousand
		if err := s.Newcomers.Allow(p.RemoteAddr, models.Now()); err != nil {
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
		// Somebody took the name between our look and our insert. Another derived
		// name will do; a given one will not.
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

// teamFor is the team that something new goes to, the one that is named or the
// principal's home, where the principal may make it.
func teamFor(p access.Principal, named string, action access.Action) (string, error) {
	team := cmp.Or(named, p.HomeTeam)
	if team == "" && !p.Anonymous() {
		return "", fault.New(fault.Conflict, "no_team", "You are in no team. Make one first, or have somebody "+
			"invite you to theirs.")
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
			if err := access.Room(tx, team, models.HeldProjects); err != nil {
				return err
			}
		}
		return s.insert(ctx, tx, p, team, plan, &out)
	})
	return out, err
}

// plan is a checked CreateInput with every default filled in.
type plan struct {
	CreateInput
	nameGiven    bool
	environments []models.Environment // without ids
}

func (s *Service) plan(ctx context.Context, p access.Principal, in CreateInput) (plan, error) {
	wrong := in.applyLoginDefaults()
	out := plan{CreateInput: in, nameGiven: in.Name != ""}
	if out.Version == "" {
		out.Version = "1.0.0"
	}
	if !validVersion(out.Version) {
		wrong = append(wrong, fault.Field{
			Pointer: "/version",
			Code:    "invalid_version",
			Detail: "Use 1 to 32 letters, digits, dots, underscores and hyphens, such as 1.0.0; the first is a " +
				"letter or a digit.",
		})
	}
	if out.nameGiven && !ValidName(in.Name) {
		wrong = append(wrong, nameFault("/name"))
	}
	wrong = append(wrong, checkDisplayName(in.DisplayName)...)
	if in.Product != "" && !ValidName(in.Product) {
		wrong = append(wrong, nameFault("/product"))
	}
	if in.Tenant != "" {
		wrong = append(wrong, checkTenantName("/tenant", in.Tenant)...)
	}
	var authWrong, typesWrong, targetsWrong []fault.Field
	out.Auth, authWrong = normalizeAuth(in.Auth, "/requests_auth",
		around{
			tenants:   []string{snapshot.DefaultTenant, in.Tenant},
			login:     in.Login != nil,
			publicURL: s.PublicURL,
			webPorts:  s.CapUnclaimed && unclaimed(p),
		})
	if len(in.Auth.Issuers) > 0 {
		addressesWrong, err := s.checkIssuerAddresses(ctx, "/requests_auth", in.Auth.Issuers)
		if err != nil {
			return out, err
		}
		authWrong = append(append(authWrong, needsJWT(out.Auth, "/requests_auth")...), addressesWrong...)
	}
	if in.Auth.Opaque != nil {
		authWrong = append(authWrong, needsOpaque(out.Auth, "/requests_auth")...)
		endpointWrong, err := s.checkEndpoint(ctx, p, "/requests_auth", in.Auth.Opaque)
		if err != nil {
			return out, err
		}
		authWrong = append(authWrong, endpointWrong...)
	}
	out.KeyTypes, typesWrong = withBuiltIns(in.KeyTypes)
	wrong = append(append(wrong, authWrong...), typesWrong...)
	targetsWrong, err := s.planTargets(ctx, p, &out)
	if err != nil {
		return out, err
	}
	wrong = append(wrong, targetsWrong...)
	if in.Login != nil {
		bounded, stop := context.WithTimeout(ctx, resolveWithin)
		defer stop()
		loginWrong, err := in.Login.Check(
			bounded, "/login", s.CapUnclaimed && unclaimed(p),
			slices.Contains(out.Auth.Methods, string(snapshot.JWT)),
		)
		if err != nil {
			return out, err
		}
		wrong = append(wrong, loginWrong...)
	}
	return out, fault.InvalidFields(wrong)
}

func (s *Service) insert(
	ctx context.Context, tx *models.Tx, p access.Principal, team string, plan plan, out *Created,
) error {
	name, err := freeName(tx, plan)
	if err != nil {
		return err
	}
	now := models.Now()
	project := models.Project{ID: models.NewID("prj"), TeamID: team, Name: name, DisplayName: plan.DisplayName,
		FallbackOwner: name, CreatedAt: now, UpdatedAt: now}
	if project.DisplayName == "" {
		project.DisplayName = name
	}
	if plan.Product != "" {
		product, _, err := ensureProduct(tx, p, team, plan.Product, "")
		if err != nil {
			return err
		}
		project.ProductID = &product.ID
	}
	version := models.Version{
		ID:           models.NewID("ver"),
		ProjectID:    project.ID,
		Name:         plan.Version,
		AuthMode:     plan.Auth.Mode,
		AuthMethods:  plan.Auth.Methods,
		Keyless:      plan.Auth.Keyless,
		TokenIssuers: issuerRows(plan.Auth.Issuers),
		CreatedAt:    now,
		UpdatedAt:    now,
	}
	tenant := models.Tenant{
		ID:        models.NewID("tnt"),
		ProjectID: &project.ID,
		Name:      snapshot.DefaultTenant,
		CreatedAt: now,
		UpdatedAt: now,
	}
	if err := s.setIntrospection(tx, team, &version, plan.Auth.Opaque); err != nil {
		return err
	}
	if err := tx.Insert(&project, &version, &tenant); err != nil {
		return err
	}
	if plan.Tenant != "" {
		shared, _, err := ensureTenant(tx, p, team, TenantInput{Name: plan.Tenant})
		if err != nil {
			return err
		}
		if _, err := tx.AttachTenant(models.ProjectTenant{
			ProjectID: project.ID,
			TenantID:  shared.ID,
			CreatedAt: now,
		}); err != nil {
			return err
		}
	}
	full, err := insertKeyTypes(tx, project.ID, plan.KeyTypes)
	if err != nil {
		return err
	}
	out.Keys = map[string]keys.Minted{}
	for _, environment := range plan.environments {
		environment.ID, environment.VersionID, environment.CreatedAt, environment.UpdatedAt = models.NewID(
			"env",
		), version.ID, now, now
		if err := tx.Insert(&environment); err != nil {
			return err
		}
		if !slices.Contains(plan.Auth.Methods, string(snapshot.APIKey)) {
			continue
		}
		row, plaintext, err := keys.Mint(s.KeyPrefix, project.ID, tenant.ID, full, keys.CreateInput{
			Owner: firstKeyOwner, Environment: environment.Name, Description: "Made together with the project"}, now)
		if err != nil {
			return err
		}
		if err := tx.Insert(&row); err != nil {
			return err
		}
		if err := keys.Tell(ctx, s.Events, tx, project, row, "key.created"); err != nil {
			return err
		}
		out.Keys[environment.Name] = keys.Minted{Key: keys.Key{ID: row.ID, Owner: row.Owner}, Plaintext: plaintext}
	}
	if plan.Login != nil {
		if err := plan.Login.InsertIn(tx, p, team, tenant); err != nil {
			return err
		}
	}
	if (plan.Tenant != "" || plan.Auth.Opaque != nil) && s.Suits != nil {
		if err := s.Suits(tx, project.ID); err != nil {
			return err
		}
	}
	if out.Project, err = view(tx, project); err != nil {
		return err
	}
	entry := access.Entry{
		Action: access.ProjectCreate,
		Object: project.ID,
		Team:   project.TeamID,
		Detail: map[string]string{"name": name},
		After:  out.Project,
	}
	if err := access.Record(tx, p, entry); err != nil {
		return err
	}
	return tx.AddRevision(project.ID, "", now)
}

// freeName returns the wanted name, or for a derived one that is taken the name
// with a random ending.
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
			Detail:  "Choose another name, or leave it out to have one made.",
		}},
	}
}
