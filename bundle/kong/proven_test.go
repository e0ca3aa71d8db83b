package kong

import (
	"encoding/json"
	"testing"
	"time"

	"postern/bundle"
)

// unproven are the codes of exact items that no recorded request proves by itself, each with
// the reason. The conformance tests prove them with keys and upstreams of their own.
var unproven = map[string]string{
	"kong.project.served_alone":            "the absence of other projects is no answer",
	"kong.openapi_document.document":       "a document, which no call reads",
	"kong.key_type.plugin":                 "upstreams alone see the scopes",
	"kong.tenant.header":                   "upstreams alone see the tenant",
	"kong.tenant.detached":                 "needs a key of that tenant, which the zip does not have",
	"kong.product.keys":                    "needs a key of the product, which the zip does not have",
	"kong.owner_fallback.plugin":           "a tenant's own owner: needs a token of the tenant",
	"kong.owner_fallback.unused":           "nothing to ask for",
	"kong.ip_rules.plugin":                 "a rule for other addresses than the gateway's own machine has",
	"kong.key_ip_ranges.plugin":            "needs the key and an address in and out of its ranges",
	"kong.key.hash":                        "with address ranges: needs the key and an address in them",
	"kong.rate_limits.plugin":              "needs as many calls as the limit, which callers would lack",
	"kong.rate_limits.by_address":          "needs as many calls as the limit, which callers would lack",
	"kong.key.frozen":                      "needs the frozen key, which the zip does not have",
	"kong.key.user_frozen":                 "needs the user's key, which the zip does not have",
	"kong.key.revoked":                     "needs the revoked key, which the zip does not have",
	"kong.key.wrong_tenant":                "needs the key, which the zip does not have",
	"kong.rate_limits.revoked":             "needs the revoked key, which the zip does not have",
	"kong.key_ip_ranges.revoked":           "needs the revoked key, which the zip does not have",
	"kong.key_rotation_grace.by_the_clock": "needs the rotated key, and time to pass",
	"kong.request_limits.accel_headers":    "needs an upstream that answers with such a header",
	"kong.request_limits.header_names":     "upstreams alone see the headers",
}

func TestExactItemsNameTheProbesThatProveThem(t *testing.T) {
	var ledger struct{ Items []bundle.Item }
	if err := json.Unmarshal([]byte(write(t, sampleInput())["MIGRATION-REPORT.json"]), &ledger); err != nil {
		t.Fatal(err)
	}
	proven := 0
	for _, item := range ledger.Items {
		switch {
		case item.Status != bundle.Exact:
		case len(item.Probes) > 0:
			proven++
		case unproven[item.Code] == "":
			t.Errorf("%s %s is exact, and no probe proves it", item.Code, item.Name)
		}
	}
	if proven < 30 {
		t.Errorf("%d items are proven by a probe", proven)
	}
}

func TestEnvironmentOfAnUnclaimedProject(t *testing.T) {
	in := sampleInput()
	in.Project.ExpiresAt = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	var ledger struct{ Items []bundle.Item }
	if err := json.Unmarshal([]byte(write(t, in)["MIGRATION-REPORT.json"]), &ledger); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, item := range ledger.Items {
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
