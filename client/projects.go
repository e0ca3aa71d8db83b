package client

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"time"

	"postern/core/contract"
)

// Project is a project with its versions.
type Project struct {
	ID            string                 `json:"id"`
	Team          string                 `json:"team"` // id
	Name          string                 `json:"name"`
	DisplayName   string                 `json:"display_name"`
	FallbackOwner string                 `json:"fallback_owner"`
	Product       *string                `json:"product"` // name; nil for none
	Tenants       []string               `json:"tenants"` // names
	Limits        contract.ProjectLimits `json:"limits"`
	Versions      []Version              `json:"versions"`
	KeyTypes      []KeyType              `json:"key_types"`
	CreatedAt     time.Time              `json:"created_at"`
	ExpiresAt     *time.Time             `json:"expires_at"` // nil once claimed
	Frozen        *Frozen                `json:"frozen"`     // nil while it is served
	Deleted       *Deleted               `json:"deleted"`    // nil unless it is in the bin
}

// Frozen describes a project that the operators have taken down.
type Frozen struct {
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
}

// Takedown is a project of any team. Frozen is nil if the project is not taken down.
type Takedown struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Frozen *Frozen `json:"frozen"`
}

// TakeDownProject stops serving a project, which only operators can.
func (c *Client) TakeDownProject(ctx context.Context, project, reason string) (Takedown, error) {
	return call[Takedown](
		ctx, c, http.MethodPut, map[string]string{"reason": reason}, "api", "v1", "projects", project,
		"takedown",
	)
}

// LiftTakedown undoes TakeDownProject.
func (c *Client) LiftTakedown(ctx context.Context, project string) (Takedown, error) {
	return call[Takedown](ctx, c, http.MethodDelete, nil, "api", "v1", "projects", project, "takedown")
}

// Version is a version of a project.
type Version struct {
	ID           string           `json:"id"`
	Name         string           `json:"name"`
	RequestsAuth Auth             `json:"requests_auth"`
	IP           contract.IPRules `json:"ip"`
	ETag         string           `json:"etag"` // for If-Match
	Environments []Environment    `json:"environments"`
	Warnings     []Warning        `json:"warnings,omitempty"` // in responses to changes
}

// Auth is who may call a version.
type Auth struct {
	Mode    string                       `json:"mode"`
	Methods []string                     `json:"methods"`
	Keyless string                       `json:"keyless"`
	JWT     *contract.JWT                `json:"jwt,omitempty"`
	Opaque  *contract.SavedIntrospection `json:"opaque,omitempty"`
}

// Environment is an environment of a version. URL is empty in the response to a change.
type Environment struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Target string `json:"target"`
	URL    string `json:"url"`
	ETag   string `json:"etag"` // for If-Match
}

// AuthChange changes a version's access; nil leaves a field as it is.
type AuthChange struct {
	Mode    *string                    `json:"mode,omitempty"`
	Methods *[]string                  `json:"methods,omitempty"`
	Keyless *string                    `json:"keyless,omitempty"`
	JWT     *contract.JWT              `json:"jwt,omitempty"`
	Opaque  *contract.NewIntrospection `json:"opaque,omitempty"`
}

// Projects iterates over all projects that the token may see, page by page. It ends
// after the first error.
func (c *Client) Projects(ctx context.Context, options ...ListOptions) iter.Seq2[Project, error] {
	return pagesOf[Project](ctx, c, queryOf(options), "api", "v1", "projects")
}

// Project returns a project by name or id.
func (c *Client) Project(ctx context.Context, project string) (Project, error) {
	return call[Project](ctx, c, http.MethodGet, nil, "api", "v1", "projects", project)
}

// ProjectChange changes a project; nil leaves a field as it is.
type ProjectChange struct {
	DisplayName   *string                       `json:"display_name,omitempty"`
	FallbackOwner *string                       `json:"fallback_owner,omitempty"`
	Product       *Nullable                     `json:"product,omitempty"`
	Limits        *contract.ProjectLimitsChange `json:"limits,omitempty"` // nil: unchanged, empty: removed
}

// Nullable is a text that is sent as null when it is empty.
type Nullable string

// MarshalJSON implements json.Marshaler.
func (n Nullable) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(n))
}

// UpdateProject changes a project's settings.
func (c *Client) UpdateProject(ctx context.Context, project string, change ProjectChange) (Project, error) {
	return call[Project](ctx, c, http.MethodPatch, change, "api", "v1", "projects", project)
}

// VersionChange changes who may call a version; nil leaves a field as it is.
type VersionChange struct {
	RequestsAuth *AuthChange `json:"requests_auth,omitempty"`
	IP           *IPChange   `json:"ip,omitempty"`
}

// IPChange replaces address ranges; nil leaves a list as it is.
type IPChange struct {
	Allow *[]string `json:"allow,omitempty"`
	Deny  *[]string `json:"deny,omitempty"`
}

// UpdateVersion changes who may call a version, by the version's id.
func (c *Client) UpdateVersion(ctx context.Context, project, version string, change VersionChange) (Version, error) {
	return call[Version](ctx, c, http.MethodPatch, change, "api", "v1", "projects", project, "versions", version)
}

// UpdateEnvironment changes the target of an environment, by the environment's id.
func (c *Client) UpdateEnvironment(ctx context.Context, project, environment, target string) (Environment, error) {
	in := map[string]string{"target": target}
	return call[Environment](
		ctx, c, http.MethodPatch, in, "api", "v1", "projects", project, "environments", environment,
	)
}

type page[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

func pages[T any](ctx context.Context, c *Client, segments ...string) iter.Seq2[T, error] {
	return pagesOf[T](ctx, c, url.Values{}, segments...)
}

func pagesOf[T any](ctx context.Context, c *Client, filter url.Values, segments ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		query := maps.Clone(filter)
		query.Set("limit", "200")
		for {
			p, err := exchange[page[T]](ctx, c, http.MethodGet, nil, "?"+query.Encode(), segments)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if p.NextCursor == nil {
				return
			}
			query.Set("cursor", *p.NextCursor)
		}
	}
}
