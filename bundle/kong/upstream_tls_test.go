package kong

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"strings"
	"testing"
	"time"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/testkit"
	"postern/testkit/sample"
)

// issued returns a certificate of another authority, which is an authority itself or a server's.
func issued(t *testing.T, isCA bool) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := func(name string, isCA bool) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: isCA, BasicConstraintsValid: true,
			NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour),
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template("leaf", isCA), template("root", true), &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	one, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return contract.EncodeCertificates([]*x509.Certificate{one})
}

// itemOf returns the item of a feature of an environment, and nil if there is none.
func itemOf(t *testing.T, in bundle.Input, feature snapshot.Feature, id string) *bundle.Item {
	t.Helper()
	for _, item := range ledgerOf(t, in) {
		if item.ID == string(feature)+":"+id {
			return &item
		}
	}
	return nil
}

// Services trust the authorities of their environments. Kong refuses a file with a certificate that isn't one.
func TestAuthorities(t *testing.T) {
	root, _ := testkit.Certificate(t, "root")
	other, _ := testkit.Certificate(t, "other")
	intermediate, leaf := issued(t, true), issued(t, false)
	for name, tc := range map[string]struct {
		pem    string
		system bool
		want   int // authorities; -1: those of the image
		code   string
		status bundle.Status
	}{
		"none":                        {"", true, -1, "", ""},
		"its own alone":               {string(root), false, 1, "ca_certificates", bundle.Approximate},
		"two":                         {string(root) + string(other), false, 2, "ca_certificates", bundle.Approximate},
		"the system's too":            {string(root), true, 1, "system", bundle.Approximate},
		"an intermediate one":         {string(root) + intermediate, false, 2, "unsuitable", bundle.Lossy},
		"a server's":                  {leaf, false, 0, "unsuitable", bundle.Lossy},
		"a server's and the system's": {leaf, true, -1, "unsuitable", bundle.Lossy},
	} {
		t.Run(name, func(t *testing.T) {
			in := sampleInput()
			for i := range 2 { // two environments with the same authority, which Kong takes only once
				e := &in.Project.Versions[0].Environments[i]
				e.Target = "https://up.example"
				e.Upstream.CA = snapshot.UpstreamCA{PEM: &tc.pem, System: &tc.system}
			}
			config := gatewayOf(t, write(t, in))
			known := map[string]bool{}
			for _, one := range config.Authorities {
				if known[one.ID] || strings.Count(one.Cert, "BEGIN") != 1 {
					t.Errorf("authority %s is there twice, or isn't one", one.ID)
				}
				known[one.ID] = true
			}
			for _, service := range config.Services[:2] {
				if got := service.Authorities; (got == nil) != (tc.want < 0) || got != nil && len(*got) != tc.want {
					t.Errorf("the service has %v, want %d", got, tc.want)
				} else if got != nil {
					for _, id := range *got {
						if !known[id] {
							t.Errorf("authority %s isn't in the file", id)
						}
					}
				}
			}
			item := itemOf(t, in, snapshot.FeatureUpstreamCA, in.Project.Versions[0].Environments[0].ID)
			switch {
			case tc.code == "" && item != nil:
				t.Errorf("an item without a setting: %+v", item)
			case tc.code != "" && (item == nil || item.Code != "kong.upstream_ca."+tc.code ||
				item.Status != tc.status || !strings.Contains(item.Note, "At worst")):
				t.Errorf("the ledger says %+v", item)
			}
		})
	}
}

// Kong sends the Host as the server name, too: what differs then is stated.
func TestHostHeader(t *testing.T) {
	for name, tc := range map[string]struct {
		target, serverName, hostHeader string
		byPath, byHost                 string // of calls; "": the target's
		server, host, environment      string // reasons
	}{
		"nothing":             {"https://up.example", "", "", "", "", "", "", "service"},
		"the target's":        {"https://up.example", "up.example", "target", "", "", "host", "", "service"},
		"another server name": {"https://up.example", "api.internal", "", "", "", "not_host", "", "service"},
		"both the same": {
			"https://up.example", "api.internal", "api.internal", "api.internal", "api.internal", "host", "plugin",
			"service",
		},
		"for an address": {
			"https://192.0.2.1", "api.internal", "api.internal", "api.internal", "api.internal", "host", "plugin",
			"service",
		},
		"an address": {"https://192.0.2.1", "192.0.2.1", "", "", "", "not_host", "", "https_address"},
		"a Host": {
			"https://up.example", "", "api.internal", "api.internal", "api.internal", "", "server_name", "service",
		},
		"a Host without TLS": {
			"http://up.example", "", "api.internal", "api.internal", "api.internal", "", "plugin", "service",
		},
		"the caller's":          {"https://up.example", "", "caller", "", "own.example", "", "server_name", "service"},
		"the caller's, no TLS":  {"http://up.example", "", "caller", "", "own.example", "", "plugin", "service"},
		"the caller's, its own": {"https://own.example", "", "caller", "", "own.example", "", "plugin", "service"},
	} {
		t.Run(name, func(t *testing.T) {
			in := sampleInput()
			e := &in.Project.Versions[0].Environments[0]
			e.Target, e.Domains = tc.target, sample.Domains("own.example")
			if tc.serverName != "" {
				e.Upstream.ServerName = &tc.serverName
			}
			if tc.hostHeader != "" {
				e.Upstream.HostHeader = &tc.hostHeader
			}
			config := gatewayOf(t, write(t, in))
			for _, r := range config.Services[0].Routes {
				want := tc.byPath
				if len(r.Hosts) > 0 {
					want = tc.byHost
				}
				if got := config.Plugins[0].Config.Routes[r.ID].Host; got != want {
					t.Errorf("route %s sends the Host %q, want %q", r.Name, got, want)
				}
			}
			for feature, want := range map[snapshot.Feature]string{
				snapshot.FeatureServerName: tc.server, snapshot.FeatureHostHeader: tc.host,
				snapshot.FeatureEnvironment: tc.environment,
			} {
				item := itemOf(t, in, feature, e.ID)
				code := "kong." + string(feature) + "." + want
				if (item == nil) != (want == "") || item != nil && item.Code != code {
					t.Errorf("%s: the ledger says %+v, want %s", feature, item, want)
				}
				if feature != snapshot.FeatureEnvironment && item != nil && item.Status == bundle.Lossy &&
					!strings.Contains(item.Note, "At worst") {
					t.Errorf("%s: no worst case: %s", feature, item.Note)
				}
			}
		})
	}
}
