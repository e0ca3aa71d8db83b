package api

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	"postern/service/access"
)

// schemasOf has a type with the schema for each type of the contract whose JSON its fields don't tell.
var schemasOf = map[reflect.Type]reflect.Type{
	reflect.TypeFor[contract.NewTokenType]():              reflect.TypeFor[tokenType](),
	reflect.TypeFor[contract.ExplainStep]():               reflect.TypeFor[explainStep](),
	reflect.TypeFor[contract.OpenAPISource]():             reflect.TypeFor[openAPISource](),
	reflect.TypeFor[contract.RetryCondition]():            reflect.TypeFor[retryCondition](),
	reflect.TypeFor[contract.UpstreamBalance]():           reflect.TypeFor[upstreamBalance](),
	reflect.TypeFor[contract.StatusRange]():               reflect.TypeFor[statusRange](),
	reflect.TypeFor[contract.Metadata]():                  reflect.TypeFor[metadata](),
	reflect.TypeFor[contract.Limits]():                    reflect.TypeFor[limits](),
	reflect.TypeFor[contract.Optional[contract.Limits]](): reflect.TypeFor[nullable[limits]](),
	reflect.TypeFor[contract.Optional[int64]]():           reflect.TypeFor[nullable[int64]](),
	reflect.TypeFor[contract.Optional[time.Time]]():       reflect.TypeFor[nullable[time.Time]](),
	reflect.TypeFor[contract.Optional[string]]():          reflect.TypeFor[nullable[string]](),
}

// rule decides on an operation and carries it out.
type rule[In, Out any] func(context.Context, access.Principal, In) (Out, error)

// serve adds an operation of the contract, which the rule carries out. Its answer has neither an ETag nor no body:
// there is a function for each of these, because all that a generic function mentions is compiled for each operation.
func serve[In, Out any](h *Handler, api huma.API, op *contract.Op[In, Out], carryOut rule[In, Out]) {
	var out Out
	switch any(out).(type) {
	case contract.None, tagger:
		panic("api: " + op.ID + " needs serveNone or serveTagged")
	}
	add(h, api, op.Operation, func(ctx context.Context, in *In) (*body[Out], error) {
		out, err := ask(ctx, in, carryOut)
		if err != nil {
			return nil, err
		}
		return &body[Out]{out}, nil
	})
}

// tagger is an answer with an ETag.
type tagger interface{ Tag() string }

// serveTagged is serve for an answer with an ETag.
func serveTagged[In any, Out tagger](h *Handler, api huma.API, op *contract.Op[In, Out], carryOut rule[In, Out]) {
	add(h, api, op.Operation, func(ctx context.Context, in *In) (*tagged[Out], error) {
		out, err := ask(ctx, in, carryOut)
		if err != nil {
			return nil, err
		}
		return &tagged[Out]{web.FormatETag(out.Tag()), out}, nil
	})
}

// serveNone is serve for an answer without a body.
func serveNone[In any](
	h *Handler, api huma.API, op *contract.Op[In, contract.None], carryOut rule[In, contract.None],
) {
	add(h, api, op.Operation, func(ctx context.Context, in *In) (*struct{}, error) {
		_, err := ask(ctx, in, carryOut)
		return nil, err
	})
}

func ask[In, Out any](ctx context.Context, in *In, carryOut rule[In, Out]) (Out, error) {
	request := *in // it may be asked again
	if c, ok := any(&request).(interface{ Conditional() *contract.Condition }); ok {
		c.Conditional().IfMatch = web.ParseIfMatch(c.Conditional().IfMatch)
	}
	return carryOut(ctx, web.Principal(ctx), request)
}

// serveList is serve for a rule that returns a page of rows.
func serveList[In, Item any](
	h *Handler, api huma.API, op *contract.Op[In, contract.List[Item]], carryOut rule[In, models.List[Item]],
) {
	serve(h, api, op, func(ctx context.Context, who access.Principal, in In) (contract.List[Item], error) {
		found, err := carryOut(ctx, who, in)
		return listOf(found.Items, found.Next), err
	})
}

func add[In, Out any](
	h *Handler, api huma.API, op contract.Operation, handler func(context.Context, *In) (*Out, error),
) {
	route(h, api, op.ID, op.Method, op.Path, cmp.Or(op.Status, http.StatusOK), op.Summary, handler)
	declaredIn(api.OpenAPI().Paths[op.Path], op.Method).Description = op.Doc
}
