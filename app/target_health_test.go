package app_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/platform/secrets"
	"postern/testkit"
	"postern/testkit/state"
)

// TestTargetHealth_replicasOnPostgres has two servers with one database check a target that nothing answers at, and
// reads what both report. After one of them has stopped, its report no longer counts.
func TestTargetHealth_replicasOnPostgres(t *testing.T) {
	databaseURL := state.Postgres(t)
	r := start(t, databaseURL)
	key, err := os.ReadFile(r.settings.SecretsKeyFile())
	if err != nil {
		t.Fatal(err)
	}
	other := settings(t.TempDir(), databaseURL)
	other.SecretsKey = secrets.Secret(key)
	other, stop := serve(t, other)

	in := contract.EnvironmentChange{Upstream: contract.Upstream{
		UpstreamTargets: contract.UpstreamTargets{
			Targets: []contract.UpstreamTarget{{URL: r.upstream}, {URL: r.unanswered, Weight: new(2)}},
		},
		Checks: contract.UpstreamChecks{Path: new("/healthz"), IntervalMS: new(1000), Unhealthy: new(1)},
	}}.Of("shop", "1.0.0", "prod")
	if _, err := client.Do(t.Context(), r.api, contract.UpdateEnvironment, in); err != nil {
		t.Fatal(err)
	}
	health := func() (texts []string) {
		list, err := client.Do(t.Context(), r.api, contract.ListUpstreams, contract.ProjectPath{Project: "shop"})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range list.Items {
			text := fmt.Sprintf("%s %d/%d", h.Health, h.UnhealthyGateways, h.Gateways)
			if h.Reason != nil {
				text += " " + *h.Reason
			}
			texts = append(texts, text)
		}
		return texts
	}
	wants := func(what, want string) {
		t.Helper()
		testkit.Eventually(t, what+": "+want, func() bool { return strings.Join(health(), "; ") == want })
	}
	wants("the reports of both", "healthy 0/2; unhealthy 2/2 connection refused")
	_, text := get(t, http.DefaultClient, "http://"+other.ControlAddr+"/metrics")
	for _, want := range []string{
		`postern_upstream_targets{state="unhealthy"} 1`, `postern_upstream_targets{state="healthy"} 1`, `target="2"} 0`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics don't have %s", want)
		}
	}
	stop()
	wants("the reports of one", "healthy 0/1; unhealthy 1/1 connection refused")
}
