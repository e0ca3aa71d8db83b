package kong

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/snapshot"
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
		"by key": {by(snapshot.HashKey), "consistent-hashing", "header", "X-Credential-Identifier", "tcp",
			[]string{hash, passive}},
		"by a header": {by(snapshot.HashHeader + "x-user"), "consistent-hashing", "header", "X-User", "tcp",
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
