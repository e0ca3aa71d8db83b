package login

import (
	"testing"

	"postern/core/contract"
	"postern/models"
)

// The response mode has a default by issuer, which a change does not bring back unless it asks for that.
func TestFillRow_responseMode(t *testing.T) {
	t.Parallel()
	const apple, other = "https://appleid.apple.com", "https://id.example"
	for name, tt := range map[string]struct {
		kind, issuer, before string
		in                   *string
		want                 string
	}{
		"a new one":                {"oidc", other, "", nil, "query"},
		"Apple":                    {"oidc", apple, "", nil, "form_post"},
		"Apple, by query":          {"oidc", apple, "", new("query"), "query"},
		"another, by form":         {"oidc", other, "", new("form_post"), "form_post"},
		"another change":           {"oidc", apple, "query", nil, "query"},
		"a change":                 {"oidc", other, "query", new("form_post"), "form_post"},
		"back to the default":      {"oidc", apple, "query", new(""), "form_post"},
		"a kind that takes none":   {"github", "", "", nil, ""},
		"a kind that is sent none": {"github", "", "", new(""), ""},
	} {
		row := models.Provider{Type: tt.kind, Issuer: tt.issuer, ResponseMode: tt.before}
		err := fillRow(&row, contract.ProviderSettings{ResponseMode: tt.in})
		if err != nil || row.ResponseMode != tt.want {
			t.Errorf("%s: %q, %v; want %q", name, row.ResponseMode, err, tt.want)
		}
	}
}
