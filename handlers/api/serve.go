package api

import (
	"context"
	"reflect"
	"strconv"
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

// serve adds an operation of the contract, which the rule carries out. Its answer has neither an ETag nor no body.
func serve[In, Out any](h *Handler, api huma.API, op *contract.Op[In, Out], carryOut rule[In, Out]) {
	r := h.route(api, &op.Operation)
	r.serves(reflect.TypeFor[Out]())
	addRule(r, func(ctx context.Context, who access.Principal, in In) (any, error) {
		return carryOut(ctx, who, in)
	})
}

// tagger is an answer with an ETag.
type tagger interface{ Tag() string }

// serveTagged is serve for an answer with an ETag.
func serveTagged[In any, Out tagger](h *Handler, api huma.API, op *contract.Op[In, Out], carryOut rule[In, Out]) {
	r := h.route(api, &op.Operation)
	r.answers(reflect.TypeFor[Out](), true)
	addRule(r, func(ctx context.Context, who access.Principal, in In) (any, error) {
		return carryOut(ctx, who, in)
	})
}

// serveNone is serve for an answer without a body.
func serveNone[In any](
	h *Handler, api huma.API, op *contract.Op[In, contract.None], carryOut rule[In, contract.None],
) {
	r := h.route(api, &op.Operation)
	addRule(r, func(ctx context.Context, who access.Principal, in In) (any, error) {
		_, err := carryOut(ctx, who, in)
		return nil, err
	})
	response := r.one.declared.Responses[strconv.Itoa(r.operation.DefaultStatus)]
	response.Content, response.Headers = nil, nil
}

// serves says which answer without an ETag the operation has.
func (r *route) serves(answer reflect.Type) {
	if answer == reflect.TypeFor[contract.None]() || answer.Implements(reflect.TypeFor[tagger]()) {
		panic("api: " + r.operation.OperationID + " needs serveNone or serveTagged")
	}
	r.answers(answer, false)
}

// addRule adds an operation that a rule carries out. The rule's answer is nil if the operation doesn't have one.
func addRule[In any](r *route, carryOut func(context.Context, access.Principal, In) (any, error)) {
	huma.Register(r.one, r.operation, func(ctx context.Context, in *In) (*answer, error) {
		return r.carryOut(ctx, func(who access.Principal) (any, error) {
			request := *in // it may be called again
			takeIfMatch(&request)
			return carryOut(ctx, who, request)
		})
	})
	r.describe()
}

// takeIfMatch reads the condition of a request, if it can have one.
func takeIfMatch(request any) {
	if c, ok := request.(interface{ Conditional() *contract.Condition }); ok {
		c.Conditional().IfMatch = web.ParseIfMatch(c.Conditional().IfMatch)
	}
}

// carryOut returns the answer of a rule, nil for an operation without one.
func (r *route) carryOut(ctx context.Context, rule func(access.Principal) (any, error)) (*answer, error) {
	var out any
	err := r.answer(ctx, func() (err error) {
		out, err = rule(web.Principal(ctx))
		return err
	})
	if err != nil || out == nil {
		return nil, err
	}
	answered := &answer{Body: out}
	if of, ok := out.(tagger); ok {
		answered.ETag = web.FormatETag(of.Tag())
	}
	return answered, nil
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
