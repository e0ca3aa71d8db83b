package api

import (
	"context"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/models"
	"postern/service/projects"
)

// ProjectRef is the path parameter of a project. It is exported, like all that are
// embedded in inputs, because huma ignores embedded types that are not.
type ProjectRef struct {
	Project string `path:"project" doc:"Name or id"`
}

type projectOutput struct {
	ID            string                 `json:"id"`
	Team          string                 `json:"team" doc:"Id of the owning team"`
	Name          string                 `json:"name"`
	DisplayName   string                 `json:"display_name"`
	FallbackOwner string                 `json:"fallback_owner" doc:"Owner of calls without a key if keyless is owner_fallback"`
	Product       *string                `json:"product" doc:"Name of its product; null: none"`
	Tenants       []string               `json:"tenants" doc:"Names of its tenants"`
	Limits        contract.ProjectLimits `json:"limits" doc:"Allowed calls by window, by what is counted"`
	Versions      []versionOutput        `json:"versions"`
	KeyTypes      []contract.KeyType     `json:"key_types"`
	CreatedAt     time.Time              `json:"created_at"`
	ExpiresAt     *time.Time             `json:"expires_at" doc:"When an unclaimed project is deleted; null once claimed"`
	Deleted       *deletedOutput         `json:"deleted" doc:"In the bin: calls get 410 deleted, changes are refused, exports work; null: not deleted"`
	Frozen        *frozenOutput          `json:"frozen" doc:"Takedown by an operator: calls get 403 project_frozen, exports work; null: none"`
}

type frozenOutput struct {
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
}

type versionOutput struct {
	ID           string              `json:"id"`
	Name         string              `json:"name"`
	RequestsAuth requestsAuthOutput  `json:"requests_auth"`
	IP           contract.IPRules    `json:"ip"`
	ETag         string              `json:"etag" doc:"Send as If-Match to update the version"`
	Environments []environmentOutput `json:"environments"`
	Warnings     []warningOutput     `json:"warnings,omitempty" doc:"In the answer to an update: what is allowed but may surprise"`
}

type requestsAuthOutput struct {
	Mode    string        `json:"mode"`
	Methods []string      `json:"methods"`
	Keyless string        `json:"keyless"`
	JWT     *contract.JWT `json:"jwt,omitempty"`

	Opaque *contract.SavedIntrospection `json:"opaque,omitempty" doc:"Introspection endpoint of the method opaque, without its secret"`
}

// readIssuers returns the issuers of a body: an empty list, not nil, if there are none.
func readIssuers(b contract.JWT) []snapshot.TokenIssuer {
	return append([]snapshot.TokenIssuer{}, b.AllowedPairs...)
}

func showIssuers(issuers []snapshot.TokenIssuer) *contract.JWT {
	if len(issuers) == 0 {
		return nil
	}
	return &contract.JWT{AllowedPairs: issuers}
}

type environmentOutput struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Target string `json:"target"`
	URL    string `json:"url" doc:"Base URL for callers"`
	ETag   string `json:"etag" doc:"Send as If-Match to update the environment"`
}

func (h *Handler) showProject(p projects.Project) projectOutput {
	out := projectOutput{
		ID:            p.ID,
		Team:          p.Team,
		Name:          p.Name,
		DisplayName:   p.DisplayName,
		FallbackOwner: p.FallbackOwner,
		Tenants:       p.Tenants,
		Limits:        p.Limits,
		Versions:      []versionOutput{},
		KeyTypes:      p.KeyTypes,
		CreatedAt:     p.CreatedAt.UTC(),
		ExpiresAt:     contract.UTC(p.ExpiresAt),
	}
	if p.Product != "" {
		out.Product = &p.Product
	}
	if p.Frozen != nil {
		out.Frozen = &frozenOutput{Reason: p.Frozen.Reason, Since: p.Frozen.Since.UTC()}
	}
	if p.Deleted != nil {
		out.Deleted = &deletedOutput{Since: p.Deleted.Since.UTC(), PurgeAt: p.Deleted.PurgeAt.UTC()}
	}
	for _, v := range p.Versions {
		out.Versions = append(out.Versions, h.showVersion(v))
	}
	return out
}

func (h *Handler) showVersion(v projects.Version) versionOutput {
	out := versionOutput{
		ID:           v.ID,
		Name:         v.Name,
		ETag:         web.FormatETag(v.ETag),
		Environments: []environmentOutput{},
		IP:           contract.IPRules{Allow: v.IPAllow, Deny: v.IPDeny},
		RequestsAuth: requestsAuthOutput{
			Mode:    v.Mode,
			Methods: v.Methods,
			Keyless: v.Keyless,
			JWT:     showIssuers(v.Issuers),
			Opaque:  v.Opaque,
		},
	}
	for _, e := range v.Environments {
		out.Environments = append(out.Environments, h.showEnvironment(e))
	}
	return out
}

func (h *Handler) showEnvironment(e projects.Environment) environmentOutput {
	return environmentOutput{
		ID:     e.ID,
		Name:   e.Name,
		Target: e.Target,
		URL:    h.Web.Config.Address(e.Project, e.Version, e.Name),
		ETag:   web.FormatETag(e.ETag),
	}
}

func (h *Handler) listProjects(ctx context.Context, in *struct {
	NamedPage
	Team  string `query:"team" doc:"Id of a team; default: all teams of the caller"`
	State string `query:"state" enum:"served,deleted" doc:"Only projects in the bin (deleted), or the others (served); default: both"`
}) (*body[list[projectOutput]], error) {
	filter := models.ProjectFilter(in.State)
	found, err := h.Projects.List(ctx, web.Principal(ctx), in.Team, filter, in.page())
	return answerPage(found, err, h.showProject)
}

func (h *Handler) getProject(ctx context.Context, in *ProjectRef) (*tagged[projectOutput], error) {
	p, err := h.Projects.Get(ctx, web.Principal(ctx), in.Project)
	if err != nil {
		return nil, err
	}
	return &tagged[projectOutput]{web.FormatETag(p.ETag), h.showProject(p)}, nil
}

func (h *Handler) updateProject(ctx context.Context, in *struct {
	ProjectRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		DisplayName   *string             `json:"display_name,omitempty"`
		FallbackOwner *string             `json:"fallback_owner,omitempty"`
		Product       nullable[string]    `json:"product,omitempty" doc:"Name of a product of the team; null: none. Keys of the old product stop opening the project"`
		Limits        *projectLimitsInput `json:"limits,omitempty" doc:"New limits by what is counted; an absent member is unchanged"`
	}
}) (*tagged[projectOutput], error) {
	change := projects.Settings{
		DisplayName:   in.Body.DisplayName,
		FallbackOwner: in.Body.FallbackOwner,
		Product:       in.Body.Product.value,
		Limits:        in.Body.Limits.rule(),
	}
	if in.Body.Product.sent && change.Product == nil {
		change.Product = new(string)
	}
	p, err := h.Projects.UpdateSettings(ctx, web.Principal(ctx), in.Project, web.ParseIfMatch(in.IfMatch), change)
	if err != nil {
		return nil, err
	}
	return &tagged[projectOutput]{web.FormatETag(p.ETag), h.showProject(p)}, nil
}

func (h *Handler) updateVersion(ctx context.Context, in *struct {
	VersionRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Name         *string `json:"name,omitempty" doc:"New name, which changes the addresses of its environments at once" example:"1.1.0"`
		RequestsAuth struct {
			Mode    *string                    `json:"mode,omitempty" minLength:"1"`
			Methods *[]string                  `json:"methods,omitempty"`
			Keyless *string                    `json:"keyless,omitempty" minLength:"1"`
			JWT     *contract.JWT              `json:"jwt,omitempty"`
			Opaque  *contract.NewIntrospection `json:"opaque,omitempty" doc:"Replaces the introspection endpoint"`
		} `json:"requests_auth,omitempty"`
		IP struct {
			Allow *[]string `json:"allow,omitempty" doc:"Replaces the allowed ranges; []: any"`
			Deny  *[]string `json:"deny,omitempty" doc:"Replaces the denied ranges"`
		} `json:"ip,omitempty"`
	}
}) (*tagged[versionOutput], error) {
	auth := in.Body.RequestsAuth
	change := projects.AccessChange{
		Name:    in.Body.Name,
		Mode:    auth.Mode,
		Methods: auth.Methods,
		Keyless: auth.Keyless,
		Opaque:  readIntrospection(auth.Opaque),
		IPAllow: in.Body.IP.Allow,
		IPDeny:  in.Body.IP.Deny,
	}
	if auth.JWT != nil {
		issuers := readIssuers(*auth.JWT)
		change.Issuers = &issuers
	}
	v, err := h.Projects.UpdateAccess(
		ctx, web.Principal(ctx), in.Project, in.Version, web.ParseIfMatch(in.IfMatch), change,
	)
	if err != nil {
		return nil, err
	}
	out := h.showVersion(v)
	out.Warnings = showWarnings(v.Warnings)
	return &tagged[versionOutput]{web.FormatETag(v.ETag), out}, nil
}

func (h *Handler) updateEnvironment(ctx context.Context, in *struct {
	ProjectRef
	Environment string `path:"environment" doc:"Id of the environment"`
	IfMatch     string `header:"If-Match"`
	Body        struct {
		Name   *string `json:"name,omitempty" doc:"New name, which changes the environment's address at once"`
		Target *string `json:"target,omitempty" doc:"http or https URL that calls are forwarded to"`
	}
}) (*tagged[environmentOutput], error) {
	e, err := h.Projects.UpdateEnvironment(
		ctx, web.Principal(ctx), in.Project, in.Environment, web.ParseIfMatch(in.IfMatch),
		projects.EnvironmentChange{Name: in.Body.Name, Target: in.Body.Target},
	)
	if err != nil {
		return nil, err
	}
	return &tagged[environmentOutput]{web.FormatETag(e.ETag), h.showEnvironment(e)}, nil
}
