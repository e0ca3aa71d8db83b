package projects

import (
	"bytes"
	"strings"
	"testing"

	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func TestPrintChanges_warnings(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := printChanges(terminal.Terminal{Out: &out}, contract.OpenAPI{
		Title: "Shop", Version: "1", Saved: true,
		Changes:  &contract.OpenAPIChanges{Added: []string{"GET /a"}},
		Warnings: []contract.Warning{{Code: "openapi_no_items", Detail: "An array doesn't have items."}},
	})
	const want = "+ GET /a\n\nNote: An array doesn't have items.\n"
	if err != nil || !strings.HasSuffix(out.String(), want) {
		t.Errorf("%v: %q", err, out.String())
	}
}
