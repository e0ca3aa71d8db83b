package validate

import (
	"os"
	"strings"
	"testing"
)

// docs/openapi.md is where users read which keywords do not count.
func TestNotChecked_documented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/openapi.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, keyword := range notChecked {
		if !strings.Contains(string(text), "`"+keyword+"`") {
			t.Errorf("docs/openapi.md does not name %s", keyword)
		}
	}
}
