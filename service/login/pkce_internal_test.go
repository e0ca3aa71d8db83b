package login

import (
	"testing"

	"postern/models"
)

func TestApplyPKCE(t *testing.T) {
	t.Parallel()
	public, secret := models.AppClient{PKCE: PKCEWhenSent}, models.AppClient{PKCE: PKCEWhenSent, SecretHash: []byte{1}}
	text := func(s string) *string { return &s }
	for name, tt := range map[string]struct {
		row  models.AppClient
		in   *string
		want string
		code string
	}{
		"kept with a secret":       {secret, nil, PKCEWhenSent, ""},
		"reset by becoming public": {public, nil, PKCERequired, ""},
		"refused without a secret": {public, text(PKCEWhenSent), PKCERequired, "needs_secret"},
		"required without one":     {public, text(PKCERequired), PKCERequired, ""},
		"unknown":                  {secret, text("never"), PKCEWhenSent, "unknown_pkce"},
		"required":                 {secret, text(PKCERequired), PKCERequired, ""},
	} {
		wrong := ClientInput{PKCE: tt.in}.applyPKCE(&tt.row)
		code := ""
		if len(wrong) > 0 {
			code = wrong[0].Code
		}
		if code != tt.code || tt.row.PKCE != tt.want {
			t.Errorf("%s: %q with %q, want %q with %q", name, tt.row.PKCE, code, tt.want, tt.code)
		}
	}
}

func TestClientInput_warnsOfAlgorithms(t *testing.T) {
	t.Parallel()
	for algorithm, want := range map[string]int{RS256: 0, ES256: 1, EdDSA: 1} {
		if got := (ClientInput{Algorithm: &algorithm}).warnings(); len(got) != want {
			t.Errorf("choosing %s warns of %v, want %d warnings", algorithm, got, want)
		}
	}
}
