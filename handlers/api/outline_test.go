package api_test

import (
	"encoding/json"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"

	"postern/handlers/api"
	"postern/handlers/web"
)

// described has the parts of an OpenAPI document that an outline keeps.
type described struct {
	Paths map[string]map[string]struct {
		OperationID string
		Summary     string
		RequestBody struct{ Content map[string]struct{} }
	}
}

// The outline describes the operations that the document describes.
func TestMount_outline(t *testing.T) {
	api.SetFrameworks()
	document, outline := (&api.Handler{Web: &web.Site{}}).Mount(gin.New())
	whole, short := describe(t, document), describe(t, outline)
	if len(whole.Paths) < 100 || whole.Paths["/proxy"]["post"].RequestBody.Content == nil {
		t.Errorf("the document has %d paths, among them /proxy: %+v", len(whole.Paths), whole.Paths["/proxy"])
	}
	if diff := cmp.Diff(whole, short); diff != "" {
		t.Errorf("the outline differs (-document +outline):\n%s", diff)
	}
}

func describe(t *testing.T, write func() ([]byte, error)) (out described) {
	t.Helper()
	text, err := write()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
