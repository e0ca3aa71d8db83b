package gateway

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"postern/core/diagnosis"
	"postern/core/snapshot"
)

// check is the active check of an environment's targets. The zero value is none. Its path is one of the target's host,
// as on Kong, and not below the target's own path.
type check struct {
	path          string // "" for none; may have a query
	every, within time.Duration
	statuses      []snapshot.StatusRange
}

// maxProbes is how many active checks run at a time, and maxProbesOfOne is how many of them a team can have: hanging
// targets must not delay the checks of other teams.
const (
	maxProbes      = 64
	maxProbesOfOne = 8
)

// prober checks the targets of all environments with active checks, each from every gateway process. A check goes the
// way of a call: through the egress guard, with the TLS settings, the credentials and the signature of the environment,
// on its own connection.
type prober struct {
	gateway *Gateway
	turns   chan struct{}            // of checks that run
	probes  map[probeOf]*targetProbe // guarded by Gateway.publish
	teams   map[string]chan struct{} // turns of a team's checks; guarded by Gateway.publish
}

// probeOf identifies a target of an environment.
type probeOf struct{ environmentID, host string }

// targetProbe checks one target until stop is called.
type targetProbe struct {
	prober *prober
	team   chan struct{} // turns
	of     atomic.Pointer[probed]
	wake   chan struct{} // the check has changed
	stop   context.CancelFunc
}

// probed is a target in the last table.
type probed struct {
	project     *project
	environment *environment
	index       int
}

// follow starts and stops checks to match a table. The caller holds Gateway.publish.
func (p *prober) follow(t *table) {
	wanted, teams := map[probeOf]bool{}, map[string]chan struct{}{}
	for s, project := range t.compiled {
		if project.deleted || project.takenDown {
			continue
		}
		for v := range project.versions {
			for e := range project.versions[v].environments {
				env := &project.versions[v].environments[e]
				if env.check.path == "" {
					continue
				}
				team := cmp.Or(s.TeamID, s.ID)
				if teams[team] = cmp.Or(teams[team], p.teams[team]); teams[team] == nil {
					teams[team] = make(chan struct{}, maxProbesOfOne)
				}
				p.followEnvironment(project, env, teams[team], wanted)
			}
		}
	}
	p.teams = teams
	for of, probe := range p.probes {
		if !wanted[of] {
			probe.stop()
			delete(p.probes, of)
		}
	}
}

func (p *prober) followEnvironment(
	project *project, e *environment, team chan struct{}, wanted map[probeOf]bool,
) {
	for i, to := range e.endpoints {
		of, now := probeOf{e.id, to.host}, &probed{project, e, i}
		wanted[of] = true
		if probe := p.probes[of]; probe != nil {
			if was := probe.of.Swap(now); was.environment.check.every != e.check.every {
				select {
				case probe.wake <- struct{}{}:
				default:
				}
			}
			continue
		}
		ctx, stop := context.WithCancel(p.gateway.closing)
		probe := &targetProbe{prober: p, team: team, wake: make(chan struct{}, 1), stop: stop}
		probe.of.Store(now)
		p.probes[of] = probe
		p.gateway.running.Add(1)
		go probe.run(ctx)
	}
}

// run checks the target at intervals, which vary so that the processes don't check at the same time.
func (t *targetProbe) run(ctx context.Context) {
	defer t.prober.gateway.running.Done()
	wait := time.NewTimer(spread(t.of.Load().environment.check.every / 10))
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
			if !t.inTurn(ctx) {
				return
			}
		case <-t.wake:
		}
		every := t.of.Load().environment.check.every
		wait.Reset(every - every/20 + spread(every/10))
	}
}

// inTurn checks the target when it is its turn, and returns false if the probe was stopped before.
func (t *targetProbe) inTurn(ctx context.Context) bool {
	for _, turns := range []chan struct{}{t.team, t.prober.turns} {
		select {
		case <-ctx.Done():
			return false
		case turns <- struct{}{}:
			defer func() { <-turns }()
		}
	}
	t.probe(ctx)
	return true
}

// spread returns a time below most.
func spread(most time.Duration) time.Duration {
	return rand.N(most) //nolint:gosec // nothing secret depends on it
}

// probe checks the target once.
func (t *targetProbe) probe(ctx context.Context) {
	of, g := t.of.Load(), t.prober.gateway
	if _, ended := of.project.ended(g.now()); ended {
		return
	}
	problem := g.problemOf(ctx, of.environment, of.index)
	if ctx.Err() == nil {
		of.environment.balance.Checked(of.index, problem, g.now())
	}
}

// problemOf sends the check of an environment to a target. It returns "" if the target responds with a status of the
// check, and otherwise what is wrong.
func (g *Gateway) problemOf(ctx context.Context, e *environment, index int) string {
	ctx, cancel := context.WithTimeout(ctx, e.check.within)
	defer cancel()
	c := &targetCheck{gateway: g, environment: e, endpoint: &e.endpoints[index]}
	c.found = &diagnosis.Target{}
	conn, err := c.reconnect(ctx)
	if err != nil {
		return connectProblem(err)
	}
	path, query := e.check.path, ""
	if at := strings.IndexByte(path, '?'); at >= 0 {
		path, query = path[:at], path[at:]
	}
	response, err := c.send(ctx, conn, http.MethodGet, path, query)
	switch {
	case err != nil && isTimeout(err):
		return problemTimeout
	case err != nil:
		return problemNoResponse
	case !slices.ContainsFunc(e.check.statuses, func(r snapshot.StatusRange) bool {
		return r.Contains(response.StatusCode)
	}):
		return statusProblem(response.StatusCode)
	}
	return ""
}
