package login

import (
	"testing"

	"postern/core/contract"
	"postern/models"
)

func TestApplyPKCE(t *testing.T) {
	t.Parallel()
	public, secret := models.AppClient{PKCE: contract.PKCEWhenSent}, models.AppClient{
		PKCE: contract.PKCEWhenSent, SecretHash: []byte{1},
	}
	text := func(s string) *string { return &s }
	for name, tt := range map[string]struct {
		row  models.AppClient
		in   *string
		want string
		code string
	}{
		"kept with a secret":       {secret, nil, contract.PKCEWhenSent, ""},
		"reset by becoming public": {public, nil, contract.PKCERequired, ""},
		"refused without a secret": {public, text(contract.PKCEWhenSent), contract.PKCERequired, "needs_secret"},
		"required without one":     {public, text(contract.PKCERequired), contract.PKCERequired, ""},
		"unknown":                  {secret, text("never"), contract.PKCEWhenSent, "unknown_pkce"},
		"required":                 {secret, text(contract.PKCERequired), contract.PKCERequired, ""},
	} {
		wrong := applyPKCE(&tt.row, tt.in)
		code := ""
		if len(wrong) > 0 {
			code = wrong[0].Code
		}
		if code != tt.code || tt.row.PKCE != tt.want {
			t.Errorf("%s: %q with %q, want %q with %q", name, tt.row.PKCE, code, tt.want, tt.code)
		}
	}
}

func TestSettingWarnings_algorithms(t *testing.T) {
	t.Parallel()
	for algorithm, want := range map[string]int{RS256: 0, ES256: 1, EdDSA: 1} {
		if got := settingWarnings(contract.AppClientSettings{Algorithm: &algorithm}); len(got) != want {
			t.Errorf("choosing %s warns of %v, want %d warnings", algorithm, got, want)
		}
	}
}
