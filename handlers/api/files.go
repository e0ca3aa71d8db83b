package api

import (
	"context"
	"maps"
	"net/http"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/platform/listjson"
	"postern/service/access"
)

// serveFile adds an operation whose answer is a file. may allows the rest of the answer while it is sent.
func serveFile[In any](
	h *Handler, api huma.API, op *contract.Op[In, contract.File], open rule[In, contract.File],
	may func(context.Context, access.Principal, In) error,
) {
	declared := addStream(h, api, op, func(c *gin.Context, in In) { web.ServeFile(h.Web, c, op, in, open, may) })
	schema := &huma.Schema{Type: huma.TypeObject}
	if op.Answer != "application/json" {
		schema = binary()
	}
	content := map[string]*huma.MediaType{op.Answer: {Schema: schema}}
	declared.Responses["200"].Content = content
	if op.Ranges {
		declared.Responses["206"] = &huma.Response{Description: "The requested range", Content: content}
	}
}

// serveEvents adds an operation whose answer is a stream of events. may allows the rest of the stream while it is sent.
func serveEvents[In, Item any](
	h *Handler, api huma.API, op *contract.Op[In, contract.Events[Item]],
	follow func(context.Context, access.Principal, In, func(Item) error) error,
	may func(context.Context, access.Principal, In) error,
) {
	event := func(item Item) (web.Event, error) {
		data, err := listjson.Marshal(item)
		return web.Event{Data: data}, err
	}
	declared := addStream(h, api, op, func(c *gin.Context, in In) {
		web.StreamEvents(h.Web, c, in, follow, may, event)
	})
	item := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Item](), true, "")
	declared.Responses["200"].Content = map[string]*huma.MediaType{op.Answer: {Schema: item}}
}

func (h *Handler) answer(c *gin.Context, out any) { h.answerWith(c, http.StatusOK, out) }

func (h *Handler) answerWith(c *gin.Context, status int, out any) {
	text, err := listjson.Marshal(out)
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	c.Data(status, "application/json", append(text, '\n'))
}

// noEmptyParameters refuses parameters without a value: a checksum that is empty would not be checked.
func noEmptyParameters(r *http.Request) error {
	query := r.URL.Query()
	var wrong []fault.Field
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if slices.Contains(query[name], "") {
			wrong = append(wrong, fault.Field{
				Pointer: "/" + name, Code: "empty", Detail: "Set a value, or leave out the parameter.",
			})
		}
	}
	return fault.InvalidFields(wrong)
}

func binary() *huma.Schema { return &huma.Schema{Type: huma.TypeString, Format: "binary"} }

// addStream adds an operation whose answer or body huma would hold in memory. answer reads and writes them itself.
func addStream[In, Out any](
	h *Handler, api huma.API, op *contract.Op[In, Out], answer func(*gin.Context, In),
) *huma.Operation {
	add(h, api, &op.Operation, func(_ context.Context, in *In) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(ctx huma.Context) { answer(humagin.Unwrap(ctx), *in) }}, nil
	})
	return declaredIn(api.OpenAPI().Paths[op.Path], op.Method)
}
