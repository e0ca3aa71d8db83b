package api

import (
	"bytes"
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"postern/handlers/web"
	"postern/service/relations"
)

type relationOutput struct {
	Tenant    string    `json:"tenant" doc:"Name"`
	User      string    `json:"user" doc:"Id of a user, an app that owns keys, or subject and issuer of a token" example:"usr_01"`
	Relation  string    `json:"relation" enum:"owner"`
	Object    string    `json:"object" example:"order:42"`
	CreatedAt time.Time `json:"created_at"`
}

// relationRoutes adds the relations of a project.
func (h *Handler) relationRoutes(api huma.API, at string) {
	route(h, api, "list-relations", "GET", at, 200, "List who owns which object", h.listRelations)
	route(h, api, "add-relations", "POST", at, 200, "Add relations: one, a list, or JSON lines", h.addRelations)
	route(h, api, "remove-relations", "DELETE", at, 200, "Remove the relations of a user, an object or both",
		h.removeRelations)
}

// RelationQuery selects relations.
type RelationQuery struct {
	Tenant   string `query:"tenant" doc:"Name"`
	User     string `query:"user"`
	Relation string `query:"relation" enum:"owner"`
	Object   string `query:"object" doc:"Such as order:42"`
}

func (q RelationQuery) filter() relations.Filter {
	return relations.Filter{Tenant: q.Tenant, User: q.User, Relation: q.Relation, Object: q.Object}
}

func (h *Handler) listRelations(ctx context.Context, in *struct {
	ProjectRef
	Page
	RelationQuery
	Sort string `query:"sort" enum:"object,-object,user,-user,created,-created" doc:"Order; - begins at the end"`
	Text string `query:"q" maxLength:"200" doc:"Part of the object or the user, ignoring case"`
}) (*body[list[relationOutput]], error) {
	page := in.sorted(in.Sort, in.Text)
	found, err := h.Relations.List(ctx, web.Principal(ctx), in.Project, in.filter(), page)
	return answerPage(found, err, func(r relations.Relation) relationOutput {
		return relationOutput{r.Tenant, r.User, r.Relation, r.Object, r.CreatedAt.UTC()}
	})
}

type relationsAdded struct {
	Added    int64 `json:"added" doc:"How many are new"`
	Existing int64 `json:"existing" doc:"How many existed already"`
}

func (h *Handler) addRelations(ctx context.Context, in *struct {
	ProjectRef
	RawBody []byte `contentType:"application/json" doc:"{\"user\": …, \"object\": …}, a list of that, or one a line; each with tenant where it is not the project's own"`
}) (*body[relationsAdded], error) {
	all, err := relations.ReadAll(bytes.NewReader(in.RawBody))
	if err != nil {
		return nil, err
	}
	added, err := h.Relations.Add(ctx, web.Principal(ctx), in.Project, all)
	if err != nil {
		return nil, err
	}
	return &body[relationsAdded]{relationsAdded{added, int64(len(all)) - added}}, nil
}

type relationsRemoved struct {
	Removed int `json:"removed"`
}

func (h *Handler) removeRelations(ctx context.Context, in *struct {
	ProjectRef
	RelationQuery
}) (*body[relationsRemoved], error) {
	removed, err := h.Relations.Remove(ctx, web.Principal(ctx), in.Project, in.filter())
	if err != nil {
		return nil, err
	}
	return &body[relationsRemoved]{relationsRemoved{removed}}, nil
}
