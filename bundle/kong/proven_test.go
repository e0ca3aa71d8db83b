package kong

import (
	"encoding/json"
	"testing"
	"time"

	"postern/bundle"
	"postern/testkit/sample"
)

// unproven are the codes of exact items that no recorded request alone proves, each with the reason. The conformance
// tests prove them with keys and upstreams of their own.
var unproven = map[string]string{
	"kong.project.served_alone":                        "the absence of other projects can't be tested",
	"kong.openapi_document.document":                   "a document, which no call reads",
	"kong.openapi_document.generated":                  "a document, which no call reads",
	"kong.key_type.plugin":                             "only upstreams see the scopes",
	"kong.tenant.header":                               "only upstreams see the tenant",
	"kong.key_type.built_in":                           "only upstreams see the scopes",
	"kong.tenant.default_tenant":                       "only upstreams see the tenant",
	"kong.users.no_users":                              "documents, which no call reads",
	"kong.tenant.detached":                             "needs a key of that tenant, which the zip does not have",
	"kong.product.keys":                                "needs a key of the product, which the zip does not have",
	"kong.owner_fallback.plugin":                       "a tenant's own owner: needs a token of the tenant",
	"kong.owner_fallback.unused":                       "nothing to ask for",
	"kong.ip_rules.plugin":                             "a rule for other addresses than the gateway's own machine has",
	"kong.rule.plugin":                                 "needs keys with and without the scopes and groups",
	"kong.rule.acl":                                    "needs keys with and without the groups",
	"kong.rule.off":                                    "nothing to ask for",
	"kong.rule_default.plugin":                         "needs a key without the scopes, or a route that has no rule",
	"kong.rule_default.open":                           "nothing to ask for",
	"kong.rule_default.off":                            "nothing to ask for",
	"kong.key_ip_ranges.plugin":                        "needs the key and an address in and out of its ranges",
	"kong.key.hash":                                    "with address ranges: needs the key and an address in them",
	"kong.rate_limits.plugin":                          "needs as many calls as the limit, which callers would lack",
	"kong.rate_limits.by_address":                      "needs as many calls as the limit, which callers would lack",
	"kong.key.expires":                                 "the key may have expired when the probe is sent",
	"kong.key.frozen":                                  "needs the frozen key, which the zip does not have",
	"kong.key.user_frozen":                             "needs the user's key, which the zip does not have",
	"kong.key.revoked":                                 "needs the revoked key, which the zip does not have",
	"kong.key.wrong_tenant":                            "needs the key, which the zip does not have",
	"kong.rate_limits.revoked":                         "needs the revoked key, which the zip does not have",
	"kong.key_ip_ranges.revoked":                       "needs the revoked key, which the zip does not have",
	"kong.key_rotation_grace.by_the_clock":             "needs the rotated key, and time to pass",
	"kong.key_rotation_grace.revoked":                  "needs the revoked key, which the zip does not have",
	"kong.client_certificate.key_from_environment":     "only upstreams see the certificate",
	"kong.upstream_header.placeholder":                 "only upstreams see the header",
	"kong.upstream_host_header.plugin":                 "only upstreams see the Host header",
	"kong.upstream_server_name.host":                   "only upstreams see the server name",
	"kong.upstream_checks.none":                        "nothing to ask for",
	"kong.upstream_retries.conditions":                 "needs an upstream that fails",
	"kong.upstream_retries.none":                       "needs an upstream that fails",
	"kong.users.document":                              "documents, which no call reads",
	"kong.user_group.document":                         "documents, which no call reads",
	"kong.identity_provider.document":                  "documents, which no call reads",
	"kong.redirect_uris.realm":                         "of the realm, not of the gateway",
	"kong.owner_fallback.tenant":                       "needs a token of the tenant",
	"kong.token_introspection.secret_from_environment": "needs a token of the endpoint",
	"kong.token_introspection.unused":                  "nothing to ask for",
	"kong.token_issuer.unused":                         "nothing to ask for",
	"kong.transform.request_plugin":                    "headers that only the upstream sees",
	"kong.transform.response_plugin":                   "a header that probes do not compare",
	"kong.cors.plugin":                                 "a preflight, whose answer differs only in its header",
	"kong.cors.unused":                                 "nothing to ask for",
	"kong.tenant_cors.unused":                          "nothing to ask for",
	"kong.tenant_cors.detached":                        "nothing to ask for",
	"kong.api_scope.unused":                            "nothing to ask for",
	"kong.token_issuer.plugin":                         "needs a token of the issuer, which the zip does not have",
	"kong.key.minted": "with an end or address ranges: needs the time, or an " +
		"address in them",
	"kong.request_limits.accel_headers": "needs an upstream that answers with such a header",
	"kong.request_limits.header_names":  "only upstreams see the headers",
}

func TestLedger_probes(t *testing.T) {
	tokens, minted := sampleInput(), sampleInput()
	takeTokens(tokens.Project)
	minted.Options.Keys = bundle.KeysMint
	parts := sampleInput()
	prod := &parts.Project.Versions[0].Environments[1]
	prod.Domains = append(prod.Domains, sample.DomainAt("part.shop.example", "/orders", "GET"))
	proven := map[string]bool{}
	for _, in := range []bundle.Input{sampleInput(), tokens, minted, parts} {
		for _, item := range ledgerOf(t, in) {
			switch {
			case item.Status != bundle.Exact:
			case len(item.Probes) > 0:
				proven[item.Code] = true
			case unproven[item.Code] == "":
				t.Errorf("%s %s is exact, and no probe proves it", item.Code, item.Name)
			}
		}
	}
	exact := map[string]bool{}
	for feature, fates := range Target.Table {
		for _, fate := range fates {
			code := Target.Name + "." + string(feature) + "." + fate.Reason
			if fate.Status != bundle.Exact {
				continue
			}
			exact[code] = true
			if !proven[code] && unproven[code] == "" {
				t.Errorf("%s is exact, and no probe proves it", code)
			}
		}
	}
	for code := range unproven {
		if !exact[code] {
			t.Errorf("%s is listed, and no fate is exact with that code", code)
		}
	}
}

// ledgerOf exports, and returns the items of the ledger.
func ledgerOf(t *testing.T, in bundle.Input) []bundle.Item {
	t.Helper()
	var ledger struct{ Items []bundle.Item }
	if err := json.Unmarshal([]byte(write(t, in)["MIGRATION-REPORT.json"]), &ledger); err != nil {
		t.Fatal(err)
	}
	return ledger.Items
}

func TestLedger_environmentOfUnclaimedProject(t *testing.T) {
	in := sampleInput()
	in.Project.ExpiresAt = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	seen := 0
	for _, item := range ledgerOf(t, in) {
		if item.Kind != "environment" {
			continue
		}
		seen++
		if item.Code != "kong.environment.unclaimed" || item.Status != bundle.Approximate {
			t.Errorf("%s is %s, %s", item.Name, item.Code, item.Status)
		}
	}
	if seen == 0 {
		t.Error("there is no item of an environment")
	}
}
