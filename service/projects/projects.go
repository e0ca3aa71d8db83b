// Package projects manages projects with their versions, environments, tenants and
// access policies, and the Feed that brings them to the gateway.
//
// It owns the validation of that configuration, its changes, and its compilation from
// rows to a snapshot. API keys belong to package keys, except for the first ones of a new
// project; what a policy means for a call belongs to package policy.
package projects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/keys"
)

// TargetChecker checks an address that a customer wants calls forwarded to. It refuses
// one with a fault of kind Invalid.
type TargetChecker interface {
	CheckTarget(ctx context.Context, raw string) (*url.URL, error)
}

// Service implements project management: create, list, update, take down.
type Service struct {
	DB           *models.DB
	Targets      TargetChecker
	Log          *slog.Logger
	PublicURL    string // of the control plane, where app clients are issuers
	KeyPrefix    string
	UnclaimedTTL time.Duration
	CapUnclaimed bool // limits unclaimed projects to target ports 80 and 443, and their number to Quota
	Quota        CreationQuota
	Events       keys.Events    // receives key.created of the first keys; nil: no events
	Vault        *secrets.Vault // seals the secrets of introspection endpoints
	Usage        Usage          // of calls, which removals look at; nil: what is written already
	Purger       Purger         // deletes projects for good
	Client       *http.Client   // fetches documents; it must be the guarded one of package egress

	// Suits refuses a change after which a project's login could not work. nil: no check.
	Suits func(tx *models.Tx, projectID string) error

	// Changed is called after each commit. It returns when this process serves the change.
	Changed func(context.Context)

	// Gateway explains calls by what the gateway of this process serves; nil: calls are not explained.
	Gateway func(policy.Question) policy.Explanation
}

// Project is a project as its team sees it.
type Project struct {
	ID            string
	Team          string `audit:"-"`
	Name          string
	DisplayName   string
	FallbackOwner string
	Product       string               // name, "" for none
	Tenants       []string             // names of those it serves
	Limits        models.ProjectLimits // what is counted, and up to where
	API           API
	CORS          CORS
	ETag          string `audit:"-"` // of all that is here
	SettingsETag  string `audit:"-"` // of the project's own settings, without its versions
	CreatedAt     time.Time
	ExpiresAt     *time.Time `audit:"-"` // when an unclaimed project ends
	Frozen        *Frozen    // nil: not taken down
	Deleted       *Deleted   // nil: not in the bin
	Versions      []Version
	KeyTypes      []KeyType
}

// Version is one version of a project.
type Version struct {
	ID           string
	Project      string `audit:"-"` // name
	Name         string `audit:"-"`
	Mode         string
	Methods      []string
	Keyless      string
	Issuers      []snapshot.TokenIssuer
	Opaque       *snapshot.Introspection // nil for none
	IPAllow      []string                // CIDRs; empty: all addresses
	IPDeny       []string                // CIDRs; takes precedence over IPAllow
	Rules        snapshot.Rules
	Transforms   snapshot.Transforms
	Validation   snapshot.Validation  // of requests against the OpenAPI document
	Publication  snapshot.Publication // of that document
	OpenAPI      string               // SHA-256 of its OpenAPI document, hexadecimal; "": none
	ETag         string               `audit:"-"`
	Environments []Environment
	Warnings     []fault.Warning `audit:"-"` // set by UpdateAccess
}

// Environment is one upstream of a version.
type Environment struct {
	ID      string
	Project string `audit:"-"` // name
	Version string `audit:"-"` // name
	Name    string `audit:"-"`
	Target  string
	ETag    string `audit:"-"`
}

// Get finds a project by name or id.
func (s *Service) Get(ctx context.Context, p access.Principal, ref string) (Project, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, ref, access.ProjectRead)
	if err != nil {
		return Project{}, fmt.Errorf("projects: get %s: %w", ref, err)
	}
	return view(tx, row)
}

// List returns the projects of the principal's teams by name, or of one of them. The filter
// selects those in the bin, or those that are not.
func (s *Service) List(
	ctx context.Context, p access.Principal, team string, filter models.ProjectFilter, page models.Page,
) (models.List[Project], error) {
	teams, err := listedTeams(p, access.ProjectRead, team)
	if err != nil {
		return models.List[Project]{}, fmt.Errorf("projects: list: %w", err)
	}
	tx := s.DB.Read(ctx)
	rows, err := tx.ProjectsOfTeams(teams, filter, models.Now(), page)
	if err != nil {
		return models.List[Project]{}, fmt.Errorf("projects: list: %w", err)
	}
	list := models.List[Project]{Next: rows.Next}
	for _, row := range rows.Items {
		project, err := view(tx, row)
		if err != nil {
			return models.List[Project]{}, fmt.Errorf("projects: list: %w", err)
		}
		list.Items = append(list.Items, project)
	}
	return list, nil
}

// listedTeams returns the teams that a list covers: the one asked for, or with team
// "" all of the principal's. It fails if the principal may not list there.
func listedTeams(p access.Principal, action access.Action, team string) ([]string, error) {
	if p.Anonymous() || team != "" {
		return []string{team}, access.Check(p, team, action)
	}
	return p.Teams(), access.Within(p, action)
}

func view(tx *models.Tx, row models.Project) (Project, error) {
	out := Project{
		ID:            row.ID,
		Team:          row.TeamID,
		Name:          row.Name,
		DisplayName:   row.DisplayName,
		FallbackOwner: row.FallbackOwner,
		Limits:        row.Limits,
		API:           viewAPI(row),
		SettingsETag:  access.ETag(row.UpdatedAt),
		CreatedAt:     row.CreatedAt,
	}
	var err error
	if out.CORS, err = viewCORS(tx, row); err != nil {
		return out, err
	}
	if row.FrozenAt != nil {
		out.Frozen = &Frozen{Reason: row.FrozenReason, Since: *row.FrozenAt}
	}
	if row.DeletedAt != nil && row.PurgeAt != nil {
		out.Deleted = &Deleted{Since: *row.DeletedAt, PurgeAt: *row.PurgeAt}
	}
	changed := row.UpdatedAt
	team, err := tx.TeamByID(row.TeamID)
	if err != nil {
		return out, err
	}
	if team.ClaimedAt == nil {
		out.ExpiresAt = team.ExpiresAt
	}
	environments, err := tx.EnvironmentsOf(row.ID)
	if err != nil {
		return out, err
	}
	versions, err := tx.VersionsOf(row.ID)
	if err != nil {
		return out, err
	}
	documents, err := tx.OpenAPISums(row.ID)
	if err != nil {
		return out, err
	}
	for _, v := range versions {
		version := viewVersion(row.Name, v, environments)
		version.OpenAPI = hex.EncodeToString(documents[v.ID])
		out.Versions = append(out.Versions, version)
		changed = later(changed, v.UpdatedAt)
	}
	for _, e := range environments {
		changed = later(changed, e.UpdatedAt)
	}
	if err := viewSurroundings(tx, row, &out); err != nil {
		return out, err
	}
	out.ETag = access.ETag(changed) + "-" + digest(out.KeyTypes, out.Tenants)
	return out, nil
}

// viewSurroundings adds the project's key types, tenants and product.
func viewSurroundings(tx *models.Tx, row models.Project, out *Project) error {
	types, err := tx.KeyTypesOf(row.ID)
	if err != nil {
		return err
	}
	for _, t := range types {
		out.KeyTypes = append(out.KeyTypes, viewKeyType(t))
	}
	tenants, err := tx.TenantsOf(row.ID)
	if err != nil {
		return err
	}
	for _, t := range tenants {
		out.Tenants = append(out.Tenants, t.Name)
	}
	if row.ProductID == nil {
		return nil
	}
	product, err := tx.ProductByID(*row.ProductID)
	if err != nil {
		return err
	}
	out.Product = product.Name
	return nil
}

// digest returns a hash of values without a time of their last change, for an ETag.
func digest(state ...any) string {
	sum := sha256.Sum256(fmt.Append(nil, state...))
	return hex.EncodeToString(sum[:8])
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func viewVersion(project string, v models.Version, environments []models.Environment) Version {
	out := Version{
		ID:          v.ID,
		Project:     project,
		Name:        v.Name,
		Mode:        v.AuthMode,
		Methods:     v.AuthMethods,
		Keyless:     v.Keyless,
		IPAllow:     keys.Texts(v.IPAllow),
		IPDeny:      keys.Texts(v.IPDeny),
		Rules:       compileRules(v.Rules),
		Transforms:  compileTransforms(v.Transforms),
		Validation:  snapshot.Validation(v.OpenAPISettings.Validation),
		Publication: snapshot.Publication(v.OpenAPISettings.Publication),
		Issuers:     issuersOf(v.TokenIssuers),
		ETag:        access.ETag(v.UpdatedAt),
	}
	if v.Introspection.Endpoint != "" {
		opaque := introspectionOf(v)
		out.Opaque = &opaque
	}
	for _, e := range environments {
		if e.VersionID == v.ID {
			out.Environments = append(out.Environments, viewEnvironment(project, v.Name, e))
		}
	}
	return out
}

func viewEnvironment(project, version string, e models.Environment) Environment {
	return Environment{
		ID:      e.ID,
		Project: project,
		Version: version,
		Name:    e.Name,
		Target:  e.Target,
		ETag:    access.ETag(e.UpdatedAt),
	}
}
