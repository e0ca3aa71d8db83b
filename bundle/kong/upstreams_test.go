package kong

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/testkit"
	"postern/testkit/sample"
)

// upstreamsOf returns the upstream entities of an export.
func upstreamsOf(t *testing.T, files map[string]string) []upstreamDoc {
	t.Helper()
	var doc struct{ Upstreams []upstreamDoc }
	if err := json.Unmarshal([]byte(files[gatewayFile]), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Upstreams
}

func TestUpstreams(t *testing.T) {
	several := []snapshot.UpstreamTarget{
		{URL: "https://a.example/v1", Weight: new(3)}, {URL: "https://b.example:8443/v1", Weight: new(0)},
	}
	by := func(b snapshot.UpstreamBalance) snapshot.Upstream {
		return snapshot.Upstream{UpstreamTargets: snapshot.UpstreamTargets{Targets: several, Balance: &b}}
	}
	off, checked, broken := by(snapshot.BalanceRoundRobin), by(snapshot.BalanceLeastConnections), snapshot.Upstream{}
	off.Checks.PassiveFailures = new(0)
	checked.Checks = snapshot.UpstreamChecks{Path: new("/healthz?x=1"), Statuses: []snapshot.StatusRange{"204"}}
	checked.Breaker.Failures = new(5)
	broken.Checks.PassiveFailures = new(9)
	repeated := by(snapshot.BalanceRoundRobin)
	repeated.Retries.On = &[]snapshot.RetryCondition{"503", "timeout"}
	const weighted, hash, passive = "upstream_targets.upstream approximate", "upstream_targets.hash approximate",
		"upstream_checks.passive approximate"
	for name, tc := range map[string]struct {
		set                       snapshot.Upstream
		algorithm, hashOn, header string
		check                     string // type of the active check
		codes                     []string
	}{
		"one target":          {},
		"one, passive checks": {set: broken, codes: []string{"upstream_checks.none exact"}},
		"by weight": {by(snapshot.BalanceRoundRobin), "round-robin", "", "", "tcp",
			[]string{weighted, passive}},
		"repeated":       {repeated, "round-robin", "", "", "tcp", []string{weighted, passive}},
		"without checks": {off, "round-robin", "", "", "", []string{weighted, "upstream_checks.none exact"}},
		"active checks and a breaker": {checked, "least-connections", "", "", "https",
			[]string{weighted, "upstream_checks.active approximate", "upstream_breaker.not_exported lossy"}},
		"by owner":   {by(snapshot.HashOwner), "consistent-hashing", "consumer", "", "tcp", []string{hash, passive}},
		"by address": {by(snapshot.HashIP), "consistent-hashing", "ip", "", "tcp", []string{hash, passive}},
		"by key": {by(snapshot.HashKey), "consistent-hashing", "header", "x_credential_identifier", "tcp",
			[]string{hash, passive}},
		"by a header": {by(snapshot.HashHeader + "x-user"), "consistent-hashing", "header", "x_user", "tcp",
			[]string{hash, passive}},
	} {
		t.Run(name, func(t *testing.T) {
			in := sampleInput()
			e := &in.Project.Versions[0].Environments[0]
			if e.Upstream = tc.set; len(tc.set.Targets) > 0 {
				e.Target = tc.set.Targets[0].URL
			}
			files := write(t, in)
			wantUpstreamItems(t, ledgerOf(t, in), e.ID, tc.codes)
			service := gatewayOf(t, files).Services[0]
			all := upstreamsOf(t, files)
			at := slices.IndexFunc(all, func(u upstreamDoc) bool { return u.Name == service.Host })
			if (at < 0) != (tc.algorithm == "") {
				t.Fatalf("the service has the host %s, and upstream %d", service.Host, at)
			}
			if at < 0 {
				return
			}
			up := all[at]
			if up.Algorithm != tc.algorithm || up.HashOn != tc.hashOn || up.HashOnHeader != tc.header {
				t.Errorf("%s on %q, %q", up.Algorithm, up.HashOn, up.HashOnHeader)
			}
			if len(up.Targets) != 2 || up.Targets[0].Target != "a.example:443" || up.Targets[0].Weight != 3 ||
				up.Targets[1].Target != "b.example:8443" || up.Targets[1].Weight != 0 {
				t.Errorf("targets %+v", up.Targets)
			}
			if service.Path == nil || *service.Path != "/v1" || service.Protocol != "https" {
				t.Errorf("the service is %+v", service)
			}
			wantHealthchecks(t, up.Healthchecks, tc.check)
			if name == "repeated" && !slices.Equal(up.Healthchecks.Passive.Unhealthy.Statuses, []int{503}) {
				t.Errorf("passive checks %+v", up.Healthchecks.Passive)
			}
		})
	}
}

// wantUpstreamItems checks the items of an environment's targets, checks and breaker.
func wantUpstreamItems(t *testing.T, items []bundle.Item, environment string, want []string) {
	t.Helper()
	var codes []string
	for _, item := range items {
		kind, id, _ := strings.Cut(item.ID, ":")
		switch snapshot.Feature(kind) {
		case snapshot.FeatureTargets, snapshot.FeatureChecks, snapshot.FeatureBreaker:
		default:
			continue
		}
		if id != environment {
			continue
		}
		codes = append(codes, strings.TrimPrefix(item.Code, "kong.")+" "+string(item.Status))
		if item.Status != bundle.Exact && !strings.Contains(item.Note, "At worst") {
			t.Errorf("%s doesn't say what happens at worst", item.Code)
		}
	}
	if !slices.Equal(codes, want) {
		t.Errorf("the ledger says %q, want %q", codes, want)
	}
}

func wantHealthchecks(t *testing.T, checks *healthchecksDoc, kind string) {
	t.Helper()
	if (checks == nil) != (kind == "") {
		t.Fatalf("checks %+v, want some of type %q", checks, kind)
	}
	if checks == nil {
		return
	}
	active, passive := checks.Active, checks.Passive
	if active.Type != kind {
		t.Errorf("active checks of type %s, want %s", active.Type, kind)
	}
	switch kind {
	case "tcp":
		if active.Healthy.Interval != 0 || active.Unhealthy.Interval != 10 || active.Healthy.Successes != 1 ||
			passive == nil || passive.Unhealthy.TCPFailures != 5 || passive.Unhealthy.Timeouts != 5 {
			t.Errorf("checks %+v, %+v", active, passive)
		}
	default:
		if passive != nil || active.Path != "/healthz?x=1" || active.Verify == nil || !*active.Verify ||
			!slices.Equal(active.Healthy.Statuses, []int{204}) || len(active.Unhealthy.Statuses) != 499 ||
			slices.Contains(active.Unhealthy.Statuses, 204) {
			t.Errorf("checks %+v, %+v", active, passive)
		}
	}
}

// Kong sends the Host of the target that it chose, and requires that of the certificate. What differs is stated.
func TestUpstreams_hosts(t *testing.T) {
	for name, tc := range map[string]struct {
		serverName, hostHeader string
		server, host           string // reasons; "": no item
	}{
		"nothing":                       {"", "", "", ""},
		"the name of one":               {"a.example", "", "not_host", ""},
		"the name and the Host of both": {"api.internal", "api.internal", "host", "plugin"},
		"the caller's":                  {"", "caller", "", "server_name"},
		"a Host":                        {"", "a.example", "", "server_name"},
	} {
		t.Run(name, func(t *testing.T) {
			in := sampleInput()
			e := &in.Project.Versions[0].Environments[0]
			e.Target, e.Domains = "https://a.example", sample.Domains("own.example")
			e.Upstream.Targets = []snapshot.UpstreamTarget{{URL: "https://a.example"}, {URL: "https://b.example"}}
			e.Upstream.ServerName, e.Upstream.HostHeader = &tc.serverName, &tc.hostHeader
			for feature, want := range map[snapshot.Feature]string{
				snapshot.FeatureServerName: tc.server, snapshot.FeatureHostHeader: tc.host,
			} {
				item := itemOf(t, in, feature, e.ID)
				if (item == nil) != (want == "") || item != nil && item.Code != "kong."+string(feature)+"."+want {
					t.Errorf("%s: the ledger says %+v, want %s", feature, item, want)
				}
			}
		})
	}
}

// Kong's checks know no authorities but those of the image, and require the target's host.
func TestUpstreams_verifyingChecks(t *testing.T) {
	authority, _ := testkit.Certificate(t, "authority")
	for name, tc := range map[string]struct {
		pem, serverName string
		want            bool
	}{
		"by default":              {"", "", true},
		"its own authorities":     {string(authority), "", false},
		"of another server name":  {"", "api.internal", false},
		"both, and a Host header": {string(authority), "api.internal", false},
	} {
		t.Run(name, func(t *testing.T) {
			in := sampleInput()
			e := &in.Project.Versions[0].Environments[0]
			e.Target = "https://a.example"
			e.Upstream.CA.PEM, e.Upstream.ServerName = &tc.pem, &tc.serverName
			e.Upstream.Checks.Path = new("/healthz")
			up := upstreamsOf(t, write(t, in))[0]
			if verify := up.Healthchecks.Active.Verify; verify == nil || *verify != tc.want {
				t.Errorf("the checks are %+v, want that they verify: %t", up.Healthchecks.Active, tc.want)
			}
		})
	}
}

// The service of gRPC calls spreads them over the same targets.
func TestUpstreams_grpc(t *testing.T) {
	in := sampleInput()
	e := &in.Project.Versions[0].Environments[0]
	e.Target, e.Domains = "http://a.example:50051", sample.Domains("own.example")
	e.Upstream = snapshot.Upstream{HTTP: contract.HTTP2}
	e.Upstream.Targets = []snapshot.UpstreamTarget{{URL: "http://a.example:50051"}, {URL: "http://b.example:50051"}}
	files := write(t, in)
	var found []string
	for _, service := range gatewayOf(t, files).Services {
		if service.Host == upstreamName(e) {
			found = append(found, service.Protocol)
		}
	}
	if !slices.Equal(found, []string{"http", "grpc"}) {
		t.Errorf("services of %q have the upstream", found)
	}
	item := itemOf(t, in, snapshot.FeatureUpstreamHTTP, e.ID)
	if item == nil || item.Code != "kong.upstream_http.grpc" {
		t.Errorf("the ledger says %+v", item)
	}
}
