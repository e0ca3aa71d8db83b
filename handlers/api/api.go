package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"

	"postern/core/contract"
	"postern/handlers/web"
)

// route registers one typed operation. It turns errors of the handler into problems.
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
		operation.Security = append(operation.Security, map[string][]string{}) // none is needed
	}
	document := method == http.MethodPut && strings.HasSuffix(path, "/openapi")
	lines := method == http.MethodPost && strings.HasSuffix(path, "/relations")
	operation.SkipValidateBody = document || lines // YAML or JSON lines, which the handler reads itself
	switch {
	case document:
		operation.MaxBodyBytes = web.MaxDocument
	case path == "/proxy":
		operation.MaxBodyBytes = web.MaxFile
	}
	if method == http.MethodPost || method == http.MethodPatch {
		operation.Parameters = []*huma.Param{{
			Name:   idempotencyHeader,
			In:     "header",
			Schema: &huma.Schema{Type: huma.TypeString},
			Description: "A random string. If you retry a request with the same key within 24 hours, it isn't " +
				"carried out again and you get the first response.",
		}}
	}
	operation.Middlewares = huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
		spellOut(ctx.Operation(), humagin.Unwrap(ctx).Request.URL)
		if unknown := unknownInput(ctx); len(unknown) > 0 {
			_ = huma.WriteErr(api, ctx, http.StatusUnprocessableEntity, "", unknown...)
			return
		}
		next(huma.WithContext(ctx, web.WithIfMatch(ctx.Context(), ctx.Header("If-Match"))))
	}}
	one := &oneOperation{API: api}
	huma.Register(one, operation, func(ctx context.Context, in *In) (*Out, error) {
		out, err := web.RetryStale(ctx, func() (*Out, error) { return handler(ctx, in) })
		if err == nil {
			return out, nil
		}
		web.RecordError(ctx, err)
		s.Web.LogCause(ctx, err)
		problem := web.ProblemOf(err, web.RequestID(ctx))
		one.place(problem)
		header := http.Header{}
		web.SetProblemHeaders(header, problem, err)
		return nil, huma.ErrorWithHeaders(problem, header)
	})
	one.declared = declaredIn(api.OpenAPI().Paths[operation.Path], method)
	describeSort(api.OpenAPI().Paths[operation.Path].Get)
}

// describeSort describes the parameter sort of a list, unless its own tag does.
func describeSort(list *huma.Operation) {
	if list == nil {
		return
	}
	for _, p := range list.Parameters {
		if p.In == "query" && p.Name == "sort" {
			p.Description = cmp.Or(p.Description, "Sort order; - is descending")
		}
	}
}

// nullable is an optional field that distinguishes null from absent: sent is false for
// absent, and value is nil for null.
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
type Page struct{ contract.Page }

// list is the body of every list.
type list[T any] = contract.List[T]

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

// body is an answer without its own headers.
type body[T any] struct{ Body T }

// tagged is an answer with an ETag (RFC 9110, 8.8.3).
type tagged[T any] struct {
	ETag string `header:"ETag"`
	Body T
}
