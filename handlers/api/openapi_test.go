package api_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// undescribed has the routes that are not in the OpenAPI description, and why.
var undescribed = map[string]string{
	"GET /api/v1/exports/{export}/ledger/download": "a file out of the zip, of any size, which huma holds in memory",
	"GET /api/v1/exports/{export}/events":          "a stream of server-sent events, which huma describes as one body",
	"GET /api/v1/exports/{export}/download":        "it has ranges, which huma has not; an export's download_url names it",
}

func TestOpenAPI_describesEveryRoute(t *testing.T) {
	t.Parallel()
	server := controlplane.NewServer(t, state.OpenSQLite(t))
	document := controlplane.Call(t, server.Handler(), "GET", "/openapi.json", "", "")
	var got, want []string
	for path, item := range document.Body["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			got = append(got, strings.ToUpper(method)+" "+path)
		}
	}
	except := maps.Clone(undescribed)
	parameter := regexp.MustCompile(`:(\w+)`)
	for _, route := range server.Routes() {
		if !controlplane.IsAPI(route.Path) || strings.Contains(route.Path, "/scim/v2/") { // SCIM has /Schemas instead
			continue
		}
		name := route.Method + " " + parameter.ReplaceAllString(route.Path, "{$1}")
		if _, ok := except[name]; ok {
			delete(except, name)
			continue
		}
		want = append(want, name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-routes +document):\n%s", diff)
	}
	for name := range except {
		t.Errorf("%s is excepted and is no route", name)
	}
}
