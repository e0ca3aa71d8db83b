package client

import (
	"context"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"time"
)

// Relation is a fact that rules decide by: the user owns the object.
type Relation struct {
	Tenant    string     `json:"tenant,omitempty"`   // name; empty for a new one: the project's own
	User      string     `json:"user"`               // usr_…, an app that owns keys, or "subject (issuer)"
	Relation  string     `json:"relation,omitempty"` // owner
	Object    string     `json:"object"`             // such as order:42
	CreatedAt *time.Time `json:"created_at,omitempty"`
}

// RelationFilter selects relations; an empty field selects all.
type RelationFilter struct{ Tenant, User, Relation, Object string }

func (f RelationFilter) query() url.Values {
	query := url.Values{}
	for name, value := range map[string]string{
		"tenant":   f.Tenant,
		"user":     f.User,
		"relation": f.Relation,
		"object":   f.Object,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// Relations iterates over the relations of a project, page by page, in the order of the options. It ends after the
// first error.
func (c *Client) Relations(
	ctx context.Context, project string, f RelationFilter, options ...ListOptions,
) iter.Seq2[Relation, error] {
	query := queryOf(options)
	maps.Copy(query, f.query())
	return pagesOf[Relation](ctx, c, query, "api", "v1", "projects", project, "relations")
}

// RelationsAdded counts what AddRelations has done.
type RelationsAdded struct {
	Added    int64 `json:"added"`
	Existing int64 `json:"existing"`
}

// AddRelations adds at most 10,000 relations, all or none. Those that exist stay as they are.
func (c *Client) AddRelations(ctx context.Context, project string, list []Relation) (RelationsAdded, error) {
	return call[RelationsAdded](ctx, c, http.MethodPost, list, "api", "v1", "projects", project, "relations")
}

// RemoveRelations removes the relations of a user, an object or both, and returns how many there were.
func (c *Client) RemoveRelations(ctx context.Context, project string, f RelationFilter) (int, error) {
	type answer struct {
		Removed int `json:"removed"`
	}
	out, err := exchange[answer](ctx, c, http.MethodDelete, nil, "?"+f.query().Encode(),
		[]string{"api", "v1", "projects", project, "relations"})
	return out.Removed, err
}
