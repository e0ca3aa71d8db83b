package api_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestOpenAPI_everyRoute(t *testing.T) {
	t.Parallel()
	server := controlplane.NewServer(t, state.OpenSQLite(t))
	document := controlplane.Call(t, server.Handler(), "GET", "/openapi.json", "", "")
	var got, want []string
	for path, item := range document.Body["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			got = append(got, strings.ToUpper(method)+" "+path)
		}
	}
	parameter := regexp.MustCompile(`:(\w+)`)
	for _, route := range controlplane.Routes(server) {
		if !controlplane.IsAPI(route.Path) || strings.Contains(route.Path, "/scim/v2/") { // SCIM has /Schemas instead
			continue
		}
		want = append(want, route.Method+" "+parameter.ReplaceAllString(route.Path, "{$1}"))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-routes +document):\n%s", diff)
	}
}
