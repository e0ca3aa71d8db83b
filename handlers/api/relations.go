package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"postern/handlers/web"
	"postern/models"
	"postern/platform/fault"
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
}) (*body[list[relationOutput]], error) {
	found, err := h.Relations.List(ctx, web.Principal(ctx), in.Project, in.filter(), models.Page(in.Page))
	return answerPage(found, err, func(r relations.Relation) relationOutput {
		return relationOutput{r.Tenant, r.User, r.Relation, r.Object, r.CreatedAt.UTC()}
	})
}

type relationInput struct {
	Tenant   string `json:"tenant,omitempty" doc:"Name; without it the project's own tenant"`
	User     string `json:"user" doc:"Id of a user, the owner of keys, or subject and issuer of a token" example:"usr_01"`
	Relation string `json:"relation,omitempty" enum:"owner" doc:"owner, which it is without it"`
	Object   string `json:"object" doc:"A type and an id, written as in a path" example:"order:42"`
}

type relationsAdded struct {
	Added    int64 `json:"added" doc:"How many are new"`
	Existing int64 `json:"existing" doc:"How many existed already"`
}

func (h *Handler) addRelations(ctx context.Context, in *struct {
	ProjectRef
	RawBody []byte `contentType:"application/json" doc:"{\"user\": …, \"object\": …}, a list of that, or one a line; each with tenant where it is not the project's own"`
}) (*body[relationsAdded], error) {
	all, err := readRelations(in.RawBody)
	if err != nil {
		return nil, err
	}
	added, err := h.Relations.Add(ctx, web.Principal(ctx), in.Project, all)
	if err != nil {
		return nil, err
	}
	return &body[relationsAdded]{relationsAdded{added, int64(len(all)) - added}}, nil
}

// readRelations reads one relation, a list of them, or one a line.
func readRelations(text []byte) ([]relations.Relation, error) {
	var inputs []relationInput
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '[' {
		if err := decodeRelation(json.NewDecoder(bytes.NewReader(text)), &inputs, true); err != nil {
			return nil, badRelations(err)
		}
	} else {
		lines := json.NewDecoder(bytes.NewReader(text))
		for {
			var one relationInput
			err := decodeRelation(lines, &one, false)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, badRelations(fmt.Errorf("relation %d: %w", len(inputs)+1, err))
			}
			if inputs = append(inputs, one); len(inputs) > relations.MaxImport {
				break // which the rule refuses
			}
		}
	}
	out := make([]relations.Relation, 0, len(inputs))
	for _, one := range inputs {
		out = append(out, relations.Relation{
			Tenant:   one.Tenant,
			User:     one.User,
			Relation: one.Relation,
			Object:   one.Object,
		})
	}
	return out, nil
}

var errTrailing = errors.New("something follows the list")

func decodeRelation(from *json.Decoder, into any, alone bool) error {
	from.DisallowUnknownFields()
	if err := from.Decode(into); err != nil {
		return err //nolint:wrapcheck // shown as it is
	}
	if alone && from.More() {
		return errTrailing
	}
	return nil
}

func badRelations(err error) error {
	return fault.InvalidField("", "invalid_relations", "Send {\"user\": …, \"object\": …}, a list of that, or one a "+
		"line, each with tenant and relation where needed: %v.", err)
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
