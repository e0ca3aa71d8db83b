package api

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"postern/core/contract"
	"postern/handlers/web"
)

// orEvents is the middleware that streams requests instead of calling the typed handler,
// which has one kind of answer.
func (h *Handler) orEvents(c *gin.Context) {
	if c.FullPath() != "/api/v1/projects/:project/requests" || !web.WantsEvents(c.Request) {
		return
	}
	c.Abort()
	data := func(r contract.Request) ([]byte, error) { return json.Marshal(r) }
	h.Web.StreamRequests(c, h.Usage, c.GetHeader("Last-Event-ID"), data)
}

// describeEvents adds the answer of orEvents to the OpenAPI description, which types cannot express.
func describeEvents(document *huma.OpenAPI) {
	list := document.Paths[contract.ListRequests.Path].Get
	list.Responses["200"].Content["text/event-stream"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
}
