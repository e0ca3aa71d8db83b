package gateway_test

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"postern/core/snapshot"
	"postern/testkit"
)

// TestChecks_hangingTargets checks that targets of one team that hang leave turns to the checks of other teams.
func TestChecks_hangingTargets(t *testing.T) {
	const mostOfOne = 8
	var hanging atomic.Int32
	hangs := func(_ http.ResponseWriter, req *http.Request) {
		hanging.Add(1)
		<-req.Context().Done()
		hanging.Add(-1)
	}
	r := newRig(t, nil, withProject(func(p *snapshot.Project) { p.TeamID = "team_slow" }),
		withUpstream(func(u *snapshot.Upstream) {
			for range mostOfOne + 4 {
				u.Targets = append(u.Targets, target(servedBy(t, hangs), 1))
			}
			activeChecks("/")(u)
			u.Checks.TimeoutMS = new(60_000)
		}))
	testkit.Eventually(t, "the team's share of checks to hang", func() bool { return hanging.Load() == mostOfOne })
	checked := make(chan struct{}, 1)
	other := *r.project
	other.ID, other.Name, other.TeamID = "prj_other", "other", "team_other"
	other.Versions = slices.Clone(r.project.Versions)
	var checks snapshot.Upstream
	activeChecks("/")(&checks)
	other.Versions[0].Environments = []snapshot.Environment{{ID: "env_other", Name: "prod", Upstream: checks,
		Target: servedBy(t, func(http.ResponseWriter, *http.Request) {
			select {
			case checked <- struct{}{}:
			default:
			}
		})}}
	if err := r.gateway.Publish([]*snapshot.Project{r.project, &other}); err != nil {
		t.Fatal(err)
	}
	within(t, "a check of the other team", checked)
	if n := hanging.Load(); n > mostOfOne {
		t.Errorf("%d checks of one team run at a time", n)
	}
}
