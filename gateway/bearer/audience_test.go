package bearer_test

import (
	"testing"

	"github.com/go-jose/go-jose/v4"

	"postern/core/policy"
)

// TestVerifyOwnTokens_audience has tokens of an app client for one API: no other project of
// the tenant takes them.
func TestVerifyOwnTokens_audience(t *testing.T) {
	known, k := appClients{}, keyOf(jose.ES256, "sig_1")
	client := known.add(t, "cli_1", k)
	const shop, blog = "https://api.shop.example", "https://api.blog.example"
	for name, tt := range map[string]struct {
		aud     any
		project string // its audience
		want    policy.Denial
	}{
		"of the API":                       {shop, shop, accepted},
		"of two APIs":                      {[]string{blog, shop}, shop, accepted},
		"of another API":                   {blog, shop, policy.InvalidToken},
		"at a project without an audience": {shop, "", policy.InvalidToken},
		"of none":                          {"", "", policy.InvalidToken},
		"of an empty list":                 {[]string{}, "", policy.InvalidToken},
		"of the client":                    {client.ID, shop, accepted},
		"of the client, and another API":   {[]string{client.ID, blog}, shop, accepted},
		"of another client":                {"cli_2", shop, policy.InvalidToken},
	} {
		t.Run(name, func(t *testing.T) {
			var got policy.Token
			token := k.Sign(t, nil, ownClaims(client, with("aud", tt.aud), with("scope", "orders:read")))
			denial := offline(t).Verify(t.Context(), token, policy.Issuers{Own: known, Audience: tt.project}, now, &got)
			wantDenial(t, name, denial, tt.want)
		})
	}
}
