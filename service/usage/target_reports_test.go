package usage_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/usage"
	"postern/testkit/state"
)

// toldEvents keeps the events about targets.
type toldEvents struct {
	mu  sync.Mutex
	all []string // event, target and reason
}

func (e *toldEvents) Emit(_ context.Context, _ *models.Tx, _, event string, data map[string]any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	reason := cmp.Or(data["reason"], any(""))
	e.all = append(e.all, fmt.Sprint(event, " ", data["environment"], " ", data["target"], " ", reason))
	return nil
}

// take returns the events since the last time.
func (e *toldEvents) take() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.all
	e.all = nil
	slices.Sort(all)
	return all
}

// replica is a process that reports on targets and tells webhooks.
type replica struct {
	*usage.Recorder

	bad map[string]string // the reason by target
}

// targetWorld has an environment with two targets, and two replicas.
type targetWorld struct {
	*world

	events   *toldEvents
	replicas [2]*replica
}

const (
	targetA = "a.example.com"
	targetB = "b.example.com:8443"
)

func newTargetWorld(t *testing.T, db *models.DB) *targetWorld {
	t.Helper()
	w := &targetWorld{world: newWorld(t, db), events: &toldEvents{}}
	w.settings(contract.Upstream{
		UpstreamTargets: contract.UpstreamTargets{Targets: []contract.UpstreamTarget{
			{URL: "https://" + targetA + ":443/base"}, {URL: "https://" + targetB + "/base", Weight: new(0)},
		}},
		Checks: contract.UpstreamChecks{Path: new("/healthz"), IntervalMS: new(1000), Unhealthy: new(5)},
	})
	for i := range w.replicas {
		one := &replica{Recorder: w.recorder(), bad: map[string]string{}}
		one.Events = w.events
		one.Targets = func() (out []usage.TargetHealth) {
			for at, target := range []string{targetA, targetB} {
				h := usage.TargetHealth{
					ProjectID: w.project.ID, EnvironmentID: "env_prod", Target: target, Position: at + 1,
					State: contract.HealthHealthy, Since: began,
				}
				if reason, bad := one.bad[target]; bad {
					h.State, h.Reason = contract.HealthUnhealthy, reason
				}
				out = append(out, h)
			}
			return out
		}
		w.replicas[i] = one
	}
	return w
}

var began = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func (w *targetWorld) settings(u contract.Upstream) {
	w.t.Helper()
	err := w.db.Write(w.t.Context(), func(tx *models.Tx) error {
		row, _, err := tx.EnvironmentByID("env_prod")
		if err != nil {
			return err
		}
		seen := row.UpdatedAt
		row.Target, row.Upstream = "https://"+targetA+"/base", u
		_, err = tx.UpdateEnvironment(row, seen)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *targetWorld) report() {
	w.t.Helper()
	for _, one := range w.replicas {
		if err := one.ReportTargets(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
}

// tell has both replicas tell webhooks at the same time, some time from now.
func (w *targetWorld) tell(later time.Duration) []string {
	w.t.Helper()
	now, err := w.db.Read(w.t.Context()).DatabaseTime()
	if err != nil {
		w.t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, one := range w.replicas {
		all.Go(func() {
			if err := one.TellOfTargets(w.t.Context(), now.Add(later)); err != nil {
				w.t.Error(err)
			}
		})
	}
	all.Wait()
	return w.events.take()
}

func (w *targetWorld) wantTold(what string, later time.Duration, want ...string) {
	w.t.Helper()
	if got := w.tell(later); !slices.Equal(got, want) {
		w.t.Errorf("%s, webhooks are told %q, want %q", what, got, want)
	}
}

// wantHealth compares the health of the two targets, such as unhealthy 1/2 timeout.
func (w *targetWorld) wantHealth(what string, want ...string) []contract.UpstreamTargetHealth {
	w.t.Helper()
	list, err := w.Upstreams(w.t.Context(), w.owner, shop)
	if err != nil {
		w.t.Fatal(err)
	}
	var got []string
	for _, h := range list.Items {
		text := h.Health
		if h.UnhealthyGateways > 0 {
			text += map[int64]string{1: " 1", 2: " 2"}[h.UnhealthyGateways] + " of " +
				map[int64]string{1: "1", 2: "2"}[h.Gateways] + " " + *h.Reason
		}
		got = append(got, text)
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("%s, the health is %q, want %q", what, got, want)
	}
	return list.Items
}

// TestUpstreams_twoReplicas has two replicas report the same target, and tell of it at the same time.
func TestUpstreams_twoReplicas(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newTargetWorld(t, db)
		one, two := w.replicas[0], w.replicas[1]
		const checking, quiet = 5 * time.Second, 30 * time.Second

		w.wantHealth("before a report", "unknown", "unknown")
		w.report()
		w.wantHealth("when all are healthy", "healthy", "healthy")
		w.wantTold("when all are healthy", 0)

		one.bad[targetB] = "status 503"
		w.report()
		w.wantTold("when one replica reports b", 0, "upstream.unhealthy prod "+targetB+" status 503")
		two.bad[targetB] = "timeout"
		w.report()
		w.wantTold("when the other one reports b too", 0)
		list := w.wantHealth("when both report b", "healthy", "unhealthy 2 of 2 status 503")
		if since := list[1].Since; since == nil || !since.Equal(began) {
			t.Errorf("b is unhealthy since %v, want %s", since, began)
		}
		if h := list[1]; h.Weight != 0 || h.URL != "https://"+targetB+"/base" || h.Version != "1.0.0" {
			t.Errorf("b is %+v", h)
		}

		clear(one.bad)
		w.report()
		w.wantTold("when one replica still reports b", time.Hour)
		w.wantHealth("when one replica still reports b", "healthy", "unhealthy 1 of 2 timeout")
		clear(two.bad)
		w.report()
		w.wantTold("when none reports b", 0) // which is noted
		w.wantTold("a while later", checking+quiet-time.Second)
		one.bad[targetB] = "timeout"
		w.report()
		w.wantTold("when b fails again", checking+quiet-time.Second)
		clear(one.bad)
		w.report()
		w.wantTold("when b works again", checking+quiet)
		w.wantTold("after b has worked for long", 2*(checking+quiet)+time.Second, "upstream.healthy prod "+targetB+" ")
		w.wantTold("later", time.Hour)
		if since := w.wantHealth("later", "healthy", "healthy")[1].Since; since == nil {
			t.Error("it isn't known since when b is healthy")
		}

		one.bad[targetB] = "timeout"
		w.report()
		w.wantTold("the next time", 0, "upstream.unhealthy prod "+targetB+" timeout")
	})
}

// TestUpstreams_lostReplica checks that reports of a process that stops or is killed don't count for long.
func TestUpstreams_lostReplica(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newTargetWorld(t, db)
		maps.Copy(w.replicas[0].bad, map[string]string{targetA: "timeout", targetB: "timeout"})
		w.replicas[1].bad[targetA] = "timeout"
		w.report()
		w.wantHealth("at first", "unhealthy 2 of 2 timeout", "unhealthy 1 of 2 timeout")

		silence := func(d time.Duration) {
			t.Helper()
			err := db.Write(t.Context(), func(tx *models.Tx) error {
				now, err := tx.DatabaseTime()
				if err != nil {
					return err
				}
				_, err = tx.SQL().ExecContext(t.Context(), `UPDATE gateways SET seen_at = $1
					WHERE id IN (SELECT gateway_id FROM target_reports WHERE target = $2)`, now.Add(-d), targetB)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		silence(models.GatewaySilence - 10*time.Second)
		w.wantHealth("before it has been silent for long", "unhealthy 2 of 2 timeout", "unhealthy 1 of 2 timeout")
		silence(models.GatewaySilence)
		w.wantHealth("after a replica was silent", "unhealthy 1 of 1 timeout", "healthy")

		err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.ForgetGateways(time.Now().Add(time.Hour)) })
		if err != nil {
			t.Fatal(err)
		}
		w.replicas[0].bad[targetA] = "status 500"
		w.replicas[1].bad[targetB] = "status 500"
		w.report() // both notice that they were forgotten
		w.wantHealth("after both are back", "unhealthy 2 of 2 status 500", "unhealthy 2 of 2 timeout")

		if err := w.replicas[0].Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantHealth("after a replica has stopped", "unhealthy 1 of 1 timeout", "unhealthy 1 of 1 status 500")
	})
}

// TestUpstreams_settings checks that nothing is invented about targets that aren't checked, and that targets that are
// removed cause no event.
func TestUpstreams_settings(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newTargetWorld(t, db)
		w.replicas[0].bad[targetB] = "timeout"
		w.report()
		w.wantTold("at first", 0, "upstream.unhealthy prod "+targetB+" timeout")
		w.settings(contract.Upstream{})
		w.wantHealth("with one target without checks", "not_checked")
		clear(w.replicas[0].bad)
		w.report()
		w.wantTold("after the target was removed", 0)
		w.wantTold("after the target was removed", time.Hour)
		w.replicas[0].bad[targetB] = "timeout" // the gateway is late
		w.report()
		w.wantTold("about a target that was removed", 0)
	})
}
