package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"

	"postern/core/contract"
	"postern/handlers/web"
)

// route is an operation on its way to huma. What it does isn't generic, because that would be compiled for each
// operation.
type route struct {
	h         *Handler
	api       huma.API
	op        *contract.Operation
	one       *oneOperation
	operation huma.Operation
}

// add adds an operation. It turns errors of the handler into problems. huma's part of it is compiled for each pair of
// In and Out.
func add[In, Out any](
	h *Handler, api huma.API, op *contract.Operation, handler func(context.Context, *In) (*Out, error),
) {
	r := h.route(api, op)
	huma.Register(r.one, r.operation, func(ctx context.Context, in *In) (out *Out, err error) {
		err = r.answer(ctx, func() error {
			out, err = handler(ctx, in)
			return err
		})
		return out, err
	})
	r.describe()
}

// route returns the route of an operation that isn't added yet.
func (h *Handler) route(api huma.API, op *contract.Operation) *route {
	operation := huma.Operation{
		OperationID:   op.ID,
		Method:        op.Method,
		Path:          op.Path,
		DefaultStatus: cmp.Or(op.Status, http.StatusOK),
		Summary:       op.Summary,
		MaxBodyBytes:  web.MaxBody,
		Security:      []map[string][]string{{"bearer": {}}},
	}
	if op.Path == "/proxy" {
		operation.Security = append(operation.Security, map[string][]string{}) // none is needed
	}
	document := op.Method == http.MethodPut && strings.HasSuffix(op.Path, "/openapi")
	lines := op.Method == http.MethodPost && strings.HasSuffix(op.Path, "/relations")
	operation.SkipValidateBody = document || lines // YAML or JSON lines, which the handler reads itself
	switch {
	case document:
		operation.MaxBodyBytes = web.MaxDocument
	case op.Path == "/proxy":
		operation.MaxBodyBytes = web.MaxFile
	}
	if op.Method == http.MethodPost || op.Method == http.MethodPatch {
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
	return &route{h: h, api: api, op: op, one: &oneOperation{API: api}, operation: operation}
}

// answer runs the handler of the operation, and turns its error into a problem.
func (r *route) answer(ctx context.Context, handler func() error) error {
	_, err := web.RetryStale(ctx, func() (struct{}, error) { return struct{}{}, handler() })
	if err == nil {
		return nil
	}
	web.RecordError(ctx, err)
	r.h.Web.LogCause(ctx, err)
	problem := web.ProblemOf(err, web.RequestID(ctx))
	r.one.place(problem)
	header := http.Header{}
	web.SetProblemHeaders(header, problem, err)
	return huma.ErrorWithHeaders(problem, header)
}

// describe completes the description of the operation, once huma has it.
func (r *route) describe() {
	path := r.api.OpenAPI().Paths[r.op.Path]
	r.one.declared = declaredIn(path, r.op.Method)
	r.one.declared.Description = r.op.Doc
	describeSort(path.Get)
}

// describeSort describes the parameter sort of a list, unless its own tag does.
func describeSort(list *huma.Operation) {
	if list == nil {
		return
	}
	for _, p := range list.Parameters {
		if p.In == "query" && p.Name == "sort" {
			p.Description = cmp.Or(p.Description, "Sort order. A leading - means descending")
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

// answer is what operations answer with. It is one type for all, because huma's code is compiled for each pair of
// types: a type for each answer would make the program 2 MB larger.
type answer struct {
	ETag string `header:"ETag" hidden:"true"` // "": none (RFC 9110, 8.8.3)
	Body any
}

// answers says which answer an operation has, before it is added.
func (r *route) answers(of reflect.Type, isTagged bool) {
	schemas, status := r.api.OpenAPI().Components.Schemas, strconv.Itoa(r.operation.DefaultStatus)
	field := reflect.StructField{Name: "Body", Type: of}
	body := huma.SchemaFromField(schemas, field, r.operation.OperationID+"Response")
	response := &huma.Response{Content: map[string]*huma.MediaType{"application/json": {Schema: body}}}
	if isTagged {
		response.Headers = map[string]*huma.Param{"ETag": {Schema: &huma.Schema{Type: huma.TypeString}}}
	}
	r.operation.Responses = map[string]*huma.Response{status: response}
}
