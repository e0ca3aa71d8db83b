package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway/balance"
	"postern/gateway/engine"
	"postern/platform/egress"
)

// compileTargets sets the targets of an environment. Existing targets keep their health and counts.
func (e *environment) compileTargets(
	p *project, s *snapshot.Environment, connect connector, next, last *table,
) error {
	up := s.Upstream.Stated()
	settings := balance.Settings{
		Passive: balance.Passive{Failures: *up.Checks.PassiveFailures, Out: inMilliseconds(*up.Checks.IntervalMS)},
		Breaker: balance.Breaker{
			Failures: *up.Breaker.Failures,
			Window:   inMilliseconds(*up.Breaker.WindowMS),
			Open:     inMilliseconds(*up.Breaker.OpenMS),
		},
	}
	weights := 0
	for _, one := range up.TargetsOr(s.Target) {
		u, err := parseTarget(one.URL)
		if err != nil {
			return err
		}
		if u.Scheme != e.scheme || u.EscapedPath() != e.path {
			return fmt.Errorf("targets differ in more than host and port")
		}
		to := endpoint{host: hostLine(u), oddPort: !egress.IsWebPort(u)}
		key := keyOf(p.id, e, to.host)
		if to.upstream = cmp.Or(next.upstreams[key], last.upstreams[key]); to.upstream == nil {
			to.upstream = connect.upstream(p.pool, e, to.host)
		}
		next.upstreams[key] = to.upstream
		weight := one.WeightOrDefault()
		weights += max(0, weight)
		settings.Targets = append(settings.Targets, balance.Target{Address: to.host, Weight: weight})
		e.endpoints = append(e.endpoints, to)
	}
	if len(e.endpoints) > balance.MostTargets || weights == 0 {
		return fmt.Errorf("%d targets with a total weight of %d", len(e.endpoints), weights)
	}
	var err error
	if settings.Method, e.hash, err = methodOf(*up.Balance); err != nil {
		return err
	}
	if up.Checks.Active() {
		settings.Active = balance.Active{
			Healthy:   *up.Checks.Healthy,
			Unhealthy: *up.Checks.Unhealthy,
			Interval:  inMilliseconds(*up.Checks.IntervalMS),
		}
		e.check = check{
			path:     *up.Checks.Path,
			every:    inMilliseconds(*up.Checks.IntervalMS),
			within:   inMilliseconds(*up.Checks.TimeoutMS),
			statuses: up.Checks.Statuses,
		}
	}
	e.watched = up.WatchesTargets()
	e.balance = balance.New(settings, last.balances[s.ID], connect.now())
	next.balances[s.ID] = e.balance
	return nil
}

func inMilliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// methodOf returns how calls are spread, and by what value.
func methodOf(b snapshot.UpstreamBalance) (balance.Method, snapshot.UpstreamBalance, error) {
	switch {
	case b == snapshot.BalanceRoundRobin:
		return balance.RoundRobin, "", nil
	case b == snapshot.BalanceLeastConnections:
		return balance.LeastConnections, "", nil
	case b.Hashes():
		return balance.Hash, b, nil
	}
	return 0, "", fmt.Errorf("unknown balance %q", b)
}

// first returns the first target of an environment that gets calls.
func (e *environment) first() *endpoint { return &e.endpoints[e.balance.First()] }

// endpoint returns the target that the call was sent to last, and the first one of its environment before that.
func (c *call) endpoint() *endpoint {
	if !c.leased {
		return c.route.environment.first()
	}
	return &c.route.environment.endpoints[c.lease.Index()]
}

// upstreamHost returns the Host header of the call, or of its last try, to the upstream.
func (c *call) upstreamHost() string {
	switch e := c.route.environment; {
	case e.hostHeader != "":
		return e.hostHeader
	case e.keepsHost && c.route.domain != nil:
		return c.route.domain.Host
	}
	return c.endpoint().host
}

// chooseTarget chooses the target of the first try. It returns the denial if no target may get the call.
func (c *call) chooseTarget(header func(string) string) (policy.Denial, bool) {
	c.key = c.hashKey(header)
	err := c.takeTarget(c.start)
	if err == nil {
		return policy.Denial{}, true
	}
	var denial policy.Denial
	denial, c.retryAfter = unavailable(err)
	return denial, false
}

// takeTarget chooses the target of the next try.
func (c *call) takeTarget(now time.Time) error {
	lease, err := c.route.environment.balance.Take(now, c.key, c.tried)
	if err != nil {
		return err //nolint:wrapcheck // it is not shown
	}
	c.lease, c.leased = lease, true
	c.tried.Add(lease)
	return nil
}

// unavailable returns the denial of a call that no target may get, and the seconds until one may.
func unavailable(err error) (policy.Denial, int64) {
	refused, ok := errors.AsType[*balance.UnavailableError](err)
	if !ok {
		return policy.NoHealthyUpstream, 1
	}
	after := max(1, int64((refused.RetryAfter+time.Second-1)/time.Second))
	if refused.Open {
		return policy.UpstreamOpen, after
	}
	return policy.NoHealthyUpstream, after
}

// hashKey returns the value by which the call is spread. header returns the value of a header.
func (c *call) hashKey(header func(string) string) balance.Key {
	switch by := c.route.environment.hash; by {
	case "":
		return balance.Key{}
	case snapshot.HashKey:
		return balance.KeyOf(c.caller.CredentialID)
	case snapshot.HashOwner:
		return balance.KeyOf(c.caller.Account)
	case snapshot.HashIP:
		return balance.KeyOf(c.conn.peer)
	default:
		name, _ := by.Header()
		return balance.KeyOf(header(name))
	}
}

// report tells the target how a try ended. Our own refusals and callers that leave say nothing about it.
func (c *call) report(last *engine.Try) {
	if !c.leased {
		return
	}
	var failed bool
	switch last.Outcome {
	case engine.Answered:
		failed = slices.Contains(c.route.environment.retries.statuses, last.Status)
	case engine.TimedOut, engine.BrokenOff:
		failed = true
	case engine.Unsent:
		if failed = !errors.Is(last.Err, egress.ErrForbidden); !failed {
			return
		}
	default:
		return
	}
	switch {
	case failed:
		c.lease.Failed(tryProblem(last), c.gateway.now())
	case !c.lease.IsSettled():
		c.lease.Succeeded(c.gateway.now())
	}
}

// releaseTarget ends the call, or its last try, for its target.
func (c *call) releaseTarget() {
	if c.leased {
		c.lease.Release()
		c.leased = false
	}
}
