//go:build conformance

package conformance

import (
	"encoding/csv"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// The projects that most people export have little in them. Each boots, and
// answers a few calls as Postern does.
func TestConformance_freshProjects(t *testing.T) {
	all := bundle.Options{Consumers: true}
	open := snapshot.Access{RequestsAuth: snapshot.RequestsAuth{Mode: snapshot.Passthrough, Keyless: snapshot.Reject}}
	for name, c := range map[string]struct {
		access  snapshot.Access
		options bundle.Options
		keyless bool // the project has no key
		let     int  // how many of the calls are let through
	}{
		"as made":            {sample.RequiresKeys(), all, false, 2},
		"as made, no key":    {sample.RequiresKeys(), all, true, 0},
		"passthrough":        {open, all, true, 6},
		"without keys":       {sample.RequiresKeys(), bundle.Options{Keys: bundle.KeysNone, Consumers: true}, false, 0},
		"without consumers":  {sample.RequiresKeys(), bundle.Options{}, false, 0},
		"open, no consumers": {open, bundle.Options{}, false, 6},
	} {
		t.Run(name, func(t *testing.T) {
			up := newUpstream(t)
			project, keys := sample.Fresh(up.url, c.access)
			if c.keyless {
				keys = nil
			}
			kong, _ := startKong(t, exportOf(t, project, keys, c.options), up)
			if !c.options.Consumers || c.options.Keys == bundle.KeysNone {
				keys = nil // what the ledger says is left out
			}
			postern := startPosternOf(t, up, project, keys)
			let := 0
			for _, call := range freshCalls() {
				want := postern.send(call)
				compare(t, call, postern, kong, want, kong.send(call))
				let += len(want.Seen)
			}
			if let != c.let {
				t.Errorf("%d calls reached the upstream, want %d", let, c.let)
			}
		})
	}
}

func freshCalls() []Case {
	keys := sample.Keys()
	return append([]Case{
		get("no key", prod+"/x"),
		get("its key", prod+"/x?q=1", key(keys["active"])),
		get("a key of another project", prod+"/x", key(keys["allenvs"])),
		get("no proper key", prod+"/x", "X-API-Key: bad"),
		one("path form", "GET", bareHost, "/shop"+prod+"/x", key(keys["active"])),
		get("spoofed", prod+"/x", "X-Consumer-ID: me", "X-Consumer-Username: me"),
	}, differs([]Case{get("no such version", "/9.9.9/prod/x", key(keys["active"]))}, ErrorBodies)...)
}

// Old and new key are let in as the same caller.
func TestConformance_mintedKeys(t *testing.T) {
	up := newUpstream(t)
	project, keys := sample.Fresh(up.url, sample.RequiresKeys())
	folder := exportOf(t, project, keys, bundle.Options{Keys: bundle.KeysMint, Consumers: true})
	kong, _ := startKong(t, folder, up)
	postern := startPosternOf(t, up, project, keys)

	text, err := os.ReadFile(filepath.Join(folder, "tenants", "default", "keys", "minted.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("minted.csv: %d rows, %v", len(rows), err)
	}
	minted := rows[1][len(rows[1])-1]
	if !policy.WellFormedKey(minted) || minted == keys["active"].Plaintext {
		t.Fatal("minted.csv holds no new key")
	}
	old := get("old key", prod+"/x", key(keys["active"]))
	want := postern.send(old)
	if want.Status != http.StatusOK {
		t.Fatalf("postern answers the key %d", want.Status)
	}
	compare(t, old, postern, kong, want, kong.send(old))
	compare(t, old, postern, kong, postern.send(old), kong.send(get("new key", prod+"/x", "X-API-Key: "+minted)))
}

// A key that a caller puts into the query by mistake stays out of the logs, also when the
// upstream fails, when the request is refused, and with buffering turned on, which makes
// nginx's error lines longer.
func TestConformance_keysNotLogged(t *testing.T) {
	for name, buffering := range map[string]string{"as exported": "false", "with buffering": "true"} {
		t.Run(name, func(t *testing.T) {
			up := newUpstream(t)
			project := Project(up)
			project.Versions = append(project.Versions, snapshot.Version{
				ID: "ver_8", Name: "zlost", Access: project.Versions[0].Access,
				Environments: []snapshot.Environment{{ID: "env_8", Name: "prod", Target: "http://unknown.invalid"}},
			})
			folder := exportOf(t, project, sample.Keys(), bundle.Options{Consumers: true})
			config := filepath.Join(folder, "gateway", "gateway.yaml")
			text, err := os.ReadFile(config)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, config, strings.ReplaceAll(string(text), `_buffering":false`, `_buffering":`+buffering))
			kong, log := startKong(t, folder, up)
			leak(t, kong, log)
		})
	}
}

func leak(t *testing.T, kong *peer, log string) {
	t.Helper()
	const canary = "pst_prod_CanaryCanaryCanaryCanaryCanary12"
	k := key(sample.Keys()["active"])
	for _, c := range []struct {
		call   Case
		status int
	}{
		{get("refused", prod+"/x?X-API-Key="+canary), 401},
		{get("let through", "/open/prod/x?X-API-Key="+canary), 200},
		{get("upstream is not there", "/zdead/prod/x?X-API-Key="+canary, k), 502},
		{get("upstream has no address", "/zlost/prod/x?X-API-Key="+canary, k), 503},
		{get("no route", "/none/prod/x?X-API-Key="+canary), 404},
		{one("no proper request", "GET", "two words", prod+"/x?X-API-Key="+canary), 400},
		{get("key in a header", prod+"/x", "X-API-Key: "+canary), 401},
		{get("header too long", prod+"/x?X-API-Key="+canary, "X-Long: "+strings.Repeat("a", 40_000)), 400},
	} {
		if out := kong.send(c.call); out.Status != c.status {
			t.Errorf("%s: status %d, want %d", c.call.Name, out.Status, c.status)
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "start worker process") {
		t.Error("Kong's log is not there to be looked at")
	}
	if at := strings.Index(string(text), "Canary"); at >= 0 {
		t.Errorf("Kong printed the key:\n%s", text[max(0, at-300):min(len(text), at+300)])
	}
}

// The ledger says approximate, because the exported gateway accepts any host name.
func TestConformance_anyHost(t *testing.T) {
	up := newUpstream(t)
	project, keys := sample.Fresh(up.url, sample.RequiresKeys())
	postern := startPosternOf(t, up, project, keys)
	kong, _ := startKong(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up)
	for _, c := range []Case{
		one("host form under another name", "GET", "other.example", prod+"/x", key(keys["active"])),
		one("path form under the project's name", "GET", projectHost, "/shop"+prod+"/x", key(keys["active"])),
	} {
		if out := postern.send(c); out.Status != http.StatusNotFound {
			t.Errorf("%s: postern answers %d, want 404", c.Name, out.Status)
		}
		if out := kong.send(c); out.Status != http.StatusOK {
			t.Errorf("%s: Kong answers %d, want 200", c.Name, out.Status)
		}
	}
}
