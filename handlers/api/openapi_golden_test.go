package api_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/golden"
	"postern/testkit/state"
)

// TestOpenAPI_golden compares /openapi.json with testdata/openapi.json.golden, which has its members on lines of their
// own.
func TestOpenAPI_golden(t *testing.T) {
	t.Parallel()
	server := controlplane.NewServer(t, state.OpenSQLite(t))
	answer := controlplane.Call(t, server.Handler(), "GET", "/openapi.json", "", "")
	var text bytes.Buffer
	if err := json.Indent(&text, []byte(answer.Raw), "", "  "); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/openapi.json.golden", text.String())
}
