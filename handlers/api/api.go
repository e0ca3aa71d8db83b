package api

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"postern/handlers/web"
	"postern/models"
	"postern/platform/fault"
)

// route registers one typed operation. Errors of every handler become problems
// here.
func route[In, Out any](
	s *Handler, api huma.API, id, method, path string, status int, summary string,
	handler func(context.Context, *In) (*Out, error),
) {
	operation := huma.Operation{
		OperationID:   id,
		Method:        method,
		Path:          path,
		DefaultStatus: status,
		Summary:       summary,
		MaxBodyBytes:  web.MaxBody,
		Security:      []map[string][]string{{"bearer": {}}},
	}
	if path == "/proxy" {
		operation.Security = nil
	}
	if method == http.MethodPost || method == http.MethodPatch {
		operation.Parameters = []*huma.Param{{
			Name:   idempotencyHeader,
			In:     "header",
			Schema: &huma.Schema{Type: huma.TypeString},
			Description: "A random text, the same when the request is sent again: it is carried out once, and for " +
				"24 hours answered as the first time.",
		}}
	}
	operation.Middlewares = huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
		if unknown := unknownQuery(ctx); len(unknown) > 0 {
			_ = huma.WriteErr(api, ctx, http.StatusUnprocessableEntity, "", unknown...)
			return
		}
		next(huma.WithContext(ctx, web.WithIfMatch(ctx.Context(), ctx.Header("If-Match"))))
	}}
	huma.Register(api, operation, func(ctx context.Context, in *In) (*Out, error) {
		out, err := web.RetryStale(ctx, func() (*Out, error) { return handler(ctx, in) })
		if err == nil {
			return out, nil
		}
		web.RecordError(ctx, err)
		s.Web.LogCause(ctx, err)
		problem := web.ProblemOf(err, web.RequestID(ctx))
		header := http.Header{}
		web.SetProblemHeaders(header, problem, err)
		return nil, huma.ErrorWithHeaders(problem, header)
	})
}

// unknownQuery lists the parameters of a query that the operation does not have: a
// filter that is spelled wrong must not pass for one that matched everything. Every
// list may be asked for by pages; one that is never long comes whole.
func unknownQuery(ctx huma.Context) []error {
	var unknown []error
	at := ctx.URL()
	for _, name := range slices.Sorted(maps.Keys(at.Query())) {
		if name == "cursor" || name == "limit" {
			continue
		}
		if !slices.ContainsFunc(
			ctx.Operation().Parameters, func(p *huma.Param) bool { return p.In == "query" && p.Name == name },
		) {
			unknown = append(unknown, &huma.ErrorDetail{
				Location: "query." + name,
				Message:  validation.MsgUnexpectedProperty,
			})
		}
	}
	return unknown
}

// unavailable is a part of a request body that is part of the contract but not
// built yet: named when it is used, never accepted and ignored.
type unavailable struct{ sent bool }

// UnmarshalJSON implements json.Unmarshaler.
func (u *unavailable) UnmarshalJSON(raw []byte) error {
	u.sent = string(raw) != "null"
	return nil
}

// MarshalJSON implements json.Marshaler.
func (u unavailable) MarshalJSON() ([]byte, error) { return json.Marshal(nil) }

// Schema implements huma.SchemaProvider: anything may stand there, it is
// answered not_available_yet.
func (u unavailable) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Description: "Not available yet: a request that sets it is answered 422 not_available_yet."}
}

// refuseUnavailable names each field that was sent and is not built yet.
func refuseUnavailable(fields map[string]unavailable) error {
	var wrong []fault.Field
	for pointer, field := range fields {
		if field.sent {
			wrong = append(wrong, fault.Field{
				Pointer: pointer,
				Code:    "not_available_yet",
				Detail:  "This is not available yet. Leave the field out.",
			})
		}
	}
	return fault.InvalidFields(wrong)
}

// nullable is a field that null says something of: sent tells it from an absent
// one, and value is nil for null.
type nullable[T any] struct {
	sent  bool
	value *T
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *nullable[T]) UnmarshalJSON(raw []byte) error {
	n.sent = true
	return json.Unmarshal(raw, &n.value)
}

// MarshalJSON implements json.Marshaler.
func (n nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// Schema implements huma.SchemaProvider.
func (n nullable[T]) Schema(r huma.Registry) *huma.Schema {
	schema := *huma.SchemaFromType(r, reflect.TypeFor[T]())
	schema.Nullable = true
	return &schema
}

// Page is the query of every list.
type Page struct {
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Most items to answer"`
}

// inTeam is the query of the lists of what belongs to teams.
type inTeam struct {
	Page
	Team string `query:"team" doc:"Id of one team; all of the caller's when absent"`
}

// list is the body of every list.
type list[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor" doc:"Cursor of the next page, null on the last"`
}

// answerPage returns the body of a list, each item as show shows it.
func answerPage[Item, Output any](
	found models.List[Item], err error, show func(Item) Output,
) (*body[list[Output]], error) {
	if err != nil {
		return nil, err
	}
	shown := models.MapList(found, show)
	return &body[list[Output]]{listOf(shown.Items, shown.Next)}, nil
}

func listOf[T any](items []T, next string) list[T] {
	out := list[T]{Items: items}
	if items == nil {
		out.Items = []T{}
	}
	if next != "" {
		out.NextCursor = &next
	}
	return out
}

// utc shows a time the way every answer does (RFC 3339, UTC); nil stays null.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// body wraps an answer without headers of its own.
type body[T any] struct{ Body T }

// tagged wraps an answer with an ETag (RFC 9110, 8.8.3).
type tagged[T any] struct {
	ETag string `header:"ETag"`
	Body T
}
