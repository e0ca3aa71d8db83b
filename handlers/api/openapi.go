package api

import (
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"postern/handlers/web"
)

// SetFrameworks configures the global state of huma and Gin, once: a process, such as a
// test, may create several servers concurrently.
var SetFrameworks = sync.OnceFunc(func() {
	huma.NewError, huma.NewErrorWithContext = frameworkProblem, problemInContext
	huma.ValidateStrictCasing = true
	gin.SetMode(gin.ReleaseMode)
})

// newAPI returns the API that operations are registered with. It serves their OpenAPI
// description, and runs the middleware of every operation.
func (h *Handler) newAPI(r *gin.Engine) huma.API {
	c := huma.DefaultConfig("Postern", h.Version)
	c.Info.Description = "An API gateway that its customers can always leave."
	c.Servers = []*huma.Server{{URL: h.Web.Config.PublicURL}}
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "/openapi", "", ""
	c.CreateHooks = nil // they add $schema to answers
	strict := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: web.UnmarshalBody}
	// "json" is for media types with the suffix +json.
	c.Formats = map[string]huma.Format{"application/json": strict, "json": strict}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {
			Type:        "http",
			Scheme:      "bearer",
			Description: "An access token of an account, or the workspace key that POST /proxy returned.",
		},
	}
	return humagin.NewWithGroup(r, r.Group("/", h.Web.Identify, h.Web.RequireCredential, h.idempotent, h.orEvents), c)
}
