package api_test

import (
	"net/http/httptest"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
	"postern/testkit/verifiers"
)

// A client that a public generator makes of the OpenAPI document has good types, and calls a server.
func TestOpenAPI_typescript(t *testing.T) {
	t.Parallel()
	h := controlplane.NewServer(t, state.OpenSQLite(t)).Handler()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	document := controlplane.Call(t, h, "GET", "/openapi.json", "", "")
	const want = `{"owners":["billing","bootstrap"],"refused":"/owner"}` + "\n"
	if got := verifiers.RunTypeScript(t, []byte(document.Raw), server.URL); got != want {
		t.Errorf("the client prints %q, want %q", got, want)
	}
}
