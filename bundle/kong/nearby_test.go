package kong

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"postern/core/snapshot"
	"postern/testkit/sample"
)

func TestIPRules_nearby(t *testing.T) {
	everything := prefixes("0.0.0.0/0", "::/0")
	for name, c := range map[string]struct {
		allow, deny []netip.Prefix
		want        string
	}{
		"nothing said":              {nil, nil, nearbyTaken},
		"others allowed":            {prefixes("203.0.113.0/24"), nil, nearbyDenied},
		"all allowed":               {everything, nil, nearbyTaken},
		"all of one kind allowed":   {prefixes("0.0.0.0/0"), nil, nearbyDepends},
		"others denied":             {nil, prefixes("203.0.113.0/24", "2001:db8::/32"), nearbyTaken},
		"all denied":                {nil, everything, nearbyDenied},
		"all allowed and denied":    {everything, everything, nearbyDenied},
		"one address denied":        {nil, prefixes("127.0.0.1/32"), nearbyDepends},
		"one address allowed":       {prefixes("10.1.2.3/32"), nil, nearbyDepends},
		"local allowed":             {local, nil, nearbyTaken},
		"local allowed but for one": {local, prefixes("10.0.0.0/9"), nearbyDepends},
	} {
		if got := fromNearby(snapshot.IPRules{Allow: c.allow, Deny: c.deny}); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Probes that depend on the caller's address are sent only on the gateway's machine.
func TestVerifyScript_nearby(t *testing.T) {
	var walls int
	count := func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/walled/prod/") {
			walls++
		}
	}
	_, out := replay(t, count)
	if walls != 2 || strings.Contains(out, "machine of the gateway") {
		t.Errorf("asked %d times from nearby, want twice:\n%s", walls, out)
	}
	walls = 0
	_, out = replayAt(t, sampleFiles(t), "http://127.0.0.2", count)
	if walls != 0 || !strings.Contains(out, "2 left out because they must be sent from the gateway's machine") {
		t.Errorf("asked %d times from afar, want never:\n%s", walls, out)
	}
}

func TestTenants_served(t *testing.T) {
	tenants := gatewayOf(t, sampleFiles(t)).Plugins[0].Config.Tenants
	if len(tenants) != 2 || tenants["tnt_1"].Name != "default" || tenants["tnt_2"].Name != "acme" {
		t.Errorf("tenants %v, want default and acme", tenants)
	}
}

func TestLimits_absent(t *testing.T) {
	in := sampleInput()
	in.Project, _ = sample.Fresh("https://up.example", sample.RequiresKeys())
	keys := map[string]sample.Plain{"active": sample.Keys()["active"]}
	in.Keys, in.KeyCount = sample.Stream(keys), 1
	if limits := gatewayOf(t, write(t, in)).Plugins[0].Config.Limits; limits != nil {
		t.Errorf("limits %v", limits)
	}
}
