package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"postern/handlers/web"
	"postern/platform/listjson"
)

// SetFrameworks configures the global state of huma and Gin, once: a process, such as a
// test, may create several servers concurrently.
var SetFrameworks = sync.OnceFunc(func() {
	huma.NewError, huma.NewErrorWithContext = frameworkProblem, problemInContext
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
	gin.SetMode(gin.ReleaseMode)
})

// newAPI returns the API that operations are registered with. It serves their OpenAPI
// description, and runs the middleware of every operation.
func (h *Handler) newAPI(r *gin.Engine) huma.API {
	c := huma.DefaultConfig("Postern", h.Version)
	c.Info.Description = "An API gateway that you can always leave."
	c.Info.License = &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"}
	c.Servers = []*huma.Server{{URL: h.Web.Config.PublicURL}}
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "/openapi", "", ""
	c.CreateHooks = nil // they add $schema to answers
	strict := huma.Format{Marshal: listjson.Encode, Unmarshal: web.UnmarshalBody}
	// "json" is for media types with the suffix +json.
	c.Formats = map[string]huma.Format{"application/json": strict, "json": strict}
	for of, like := range schemasOf {
		c.Components.Schemas.RegisterTypeAlias(of, like)
	}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {
			Type:        "http",
			Scheme:      "bearer",
			Description: "An access token, or the workspace key that POST /proxy returned.",
		},
	}
	return humagin.NewWithGroup(r, r.Group("/", h.Web.Identify, h.Web.RequireCredential, h.idempotent, h.orEvents), c)
}

// outlinedOperation has the parts of an operation that outline keeps.
type outlinedOperation struct {
	ID      string       `json:"operationId"`
	Summary string       `json:"summary"`
	Body    outlinedBody `json:"requestBody"`
}

type outlinedBody struct {
	Content map[string]struct{} `json:"content"` // by media type
}

// outline returns an OpenAPI document without parameters, answers and schemas. The whole
// document takes many times as long to write.
func outline(document *huma.OpenAPI) ([]byte, error) {
	paths := map[string]map[string]outlinedOperation{}
	for path, item := range document.Paths {
		paths[path] = map[string]outlinedOperation{}
		for method, operation := range map[string]*huma.Operation{
			http.MethodGet:    item.Get,
			http.MethodPost:   item.Post,
			http.MethodPut:    item.Put,
			http.MethodPatch:  item.Patch,
			http.MethodDelete: item.Delete,
		} {
			if operation == nil {
				continue
			}
			kept := outlinedOperation{ID: operation.OperationID, Summary: operation.Summary}
			if operation.RequestBody != nil {
				kept.Body.Content = map[string]struct{}{}
				for media := range operation.RequestBody.Content {
					kept.Body.Content[media] = struct{}{}
				}
			}
			paths[path][strings.ToLower(method)] = kept
		}
	}
	return json.Marshal(map[string]any{"paths": paths})
}
