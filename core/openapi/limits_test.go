package openapi_test

import (
	"os"
	"strings"
	"testing"

	"postern/core/openapi"
)

// docs/openapi.md is where those who are refused look for the limits.
func TestLimits_documented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/openapi.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString("| Limit on | At most | Reason |\n| --- | --- | --- |\n")
	for _, l := range openapi.Limits() {
		want.WriteString(l.Row() + "\n")
	}
	if !strings.Contains(string(text), "\n\n"+want.String()+"\n") {
		t.Errorf("docs/openapi.md does not have the table of limits:\n%s", want.String())
	}
}
