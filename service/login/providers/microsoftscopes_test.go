package providers_test

import (
	"testing"

	"postern/service/login/providers"
)

func TestUnverifiableMicrosoftTokens(t *testing.T) {
	const (
		common       = ""
		organization = "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0"
		personal     = "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"
		app          = "6731de76-14a6-49ae-97bc-6eba6914391e"
	)
	tests := []struct {
		name, issuer, scope string
		ok                  bool
	}{
		{"Graph's default, any account", common, "User.Read", false},
		{"Graph by its address, any account", common, "https://graph.microsoft.com/User.Read", false},
		{"Graph, personal accounts", personal, "User.Read", false},
		{"Graph, an organization", organization, "User.Read", true},
		{"Graph, organizations", "https://login.microsoftonline.com/organizations/v2.0", "User.Read", true},
		{"own API, any account", common, "api://" + app + "/access", true},
		{"own API by the client id", common, app + "/.default", true},
		{"own API at an own domain", personal, "https://contoso.com/orders/read", true},
		{"another app's id", common, "00000003-0000-0000-c000-000000000000/.default", false},
		{"Azure Resource Manager", organization, "https://management.azure.com/.default", false},
		{"Azure Resource Manager, two slashes", organization, "https://management.azure.com//.default", false},
		{"a vault", organization, "https://VAULT.azure.net/.default", false},
		{"a site that only ends alike", organization, "https://notazure.com/access", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			why := providers.UnverifiableMicrosoftTokens(tt.issuer, app, []string{"openid", tt.scope})
			if (why == "") != tt.ok {
				t.Errorf("%q, want ok = %t", why, tt.ok)
			}
		})
	}
}
