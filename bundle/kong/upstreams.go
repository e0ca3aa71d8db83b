package kong

import (
	"net"
	"net/http"
	"strconv"
	"strings"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
)

// upstreamDoc is an upstream entity: several targets, or one with active checks. The services of other environments
// have their target's address.
type upstreamDoc struct {
	ID           string           `json:"id"`
	Name         string           `json:"name"`
	Algorithm    string           `json:"algorithm"`
	HashOn       string           `json:"hash_on,omitempty"`
	HashOnHeader string           `json:"hash_on_header,omitempty"`
	Healthchecks *healthchecksDoc `json:"healthchecks,omitempty"`
	Targets      []targetDoc      `json:"targets"`
}

type targetDoc struct {
	ID     string `json:"id"`
	Target string `json:"target"`
	Weight int    `json:"weight"`
}

type healthchecksDoc struct {
	Active  activeDoc   `json:"active"`
	Passive *passiveDoc `json:"passive,omitempty"`
}

type activeDoc struct {
	Type      string       `json:"type"`
	Path      string       `json:"http_path,omitempty"`
	Timeout   float64      `json:"timeout"`
	Verify    *bool        `json:"https_verify_certificate,omitempty"`
	Healthy   healthyDoc   `json:"healthy"`
	Unhealthy unhealthyDoc `json:"unhealthy"`
}

type healthyDoc struct {
	Interval  float64 `json:"interval"`
	Successes int     `json:"successes"`
	Statuses  []int   `json:"http_statuses,omitempty"`
}

type unhealthyDoc struct {
	Interval     float64 `json:"interval"`
	TCPFailures  int     `json:"tcp_failures"`
	Timeouts     int     `json:"timeouts"`
	HTTPFailures int     `json:"http_failures"`
	Statuses     []int   `json:"http_statuses,omitempty"`
}

type passiveDoc struct {
	Type      string              `json:"type"`
	Unhealthy passiveUnhealthyDoc `json:"unhealthy"`
}

type passiveUnhealthyDoc struct {
	TCPFailures  int   `json:"tcp_failures"`
	Timeouts     int   `json:"timeouts"`
	HTTPFailures int   `json:"http_failures"`
	Statuses     []int `json:"http_statuses,omitempty"`
}

// mostInRow is Kong's limit on failures in a row.
const mostInRow = 255

// hasUpstream reports whether an environment's service needs an upstream entity.
func hasUpstream(e *snapshot.Environment) bool {
	return len(e.Upstream.Targets) > 0 || e.Upstream.Checks.Active()
}

// serviceHost returns the host of an environment's services: that of the target, or the name of the upstream entity.
func serviceHost(e *snapshot.Environment, up upstream) string {
	if hasUpstream(e) {
		return upstreamName(e)
	}
	return up.host
}

// upstreamName is the name of an environment's upstream. No host name on the internet ends like this (RFC 2606).
func upstreamName(e *snapshot.Environment) string { return policy.EntityID(e.ID) + ".upstream.invalid" }

// upstreams writes the upstream entities, if there are any.
func (c *configWriter) upstreams() error {
	var docs []upstreamDoc
	for _, pl := range layoutOf(c.b).places {
		if !hasUpstream(pl.environment) {
			continue
		}
		doc, err := upstreamOf(pl.environment)
		if err != nil {
			return err
		}
		docs = append(docs, doc)
	}
	if len(docs) == 0 {
		return nil
	}
	c.out.Raw(",\n  \"upstreams\": ")
	c.out.Open("[")
	for _, doc := range docs {
		c.out.Next("    ")
		c.out.Value(doc)
	}
	c.out.Raw("\n  ]")
	return nil
}

func upstreamOf(e *snapshot.Environment) (upstreamDoc, error) {
	id := policy.EntityID(e.ID + ":upstream")
	doc := upstreamDoc{ID: id, Name: upstreamName(e), Algorithm: "round-robin"}
	up := e.Upstream.Stated()
	switch by := *up.Balance; {
	case by == snapshot.BalanceLeastConnections:
		doc.Algorithm = "least-connections"
	case by.Hashes():
		doc.Algorithm = "consistent-hashing"
		doc.HashOn, doc.HashOnHeader = hashOn(by)
	}
	scheme := "http"
	for _, one := range up.TargetsOr(e.Target) {
		to, err := parseTarget(one.URL)
		if err != nil {
			return doc, err
		}
		scheme = to.protocol
		address := net.JoinHostPort(strings.Trim(to.host, "[]"), strconv.Itoa(to.port))
		doc.Targets = append(doc.Targets, targetDoc{
			ID: policy.EntityID(e.ID + ":target:" + address), Target: address, Weight: one.WeightOrDefault(),
		})
	}
	doc.Healthchecks = healthchecksOf(up.Checks, *up.Retries.On, scheme)
	if doc.Healthchecks != nil && doc.Healthchecks.Active.Type == "https" {
		// Kong's checks trust the authorities of the image, and require the target's host.
		verify := !up.CA.IsSet() && !isSet(up.ServerName)
		doc.Healthchecks.Active.Verify = &verify
	}
	return doc, nil
}

// hashOn returns what Kong hashes. The plugin authenticates a consumer for each owner, and sets the header with the ID
// of the key before Kong chooses a target. Kong reads headers as nginx's variables, whose names have underscores in
// place of hyphens; without a value, it sends all calls to one target (kong/runloop/balancer/init.lua,
// get_value_to_hash).
func hashOn(by snapshot.UpstreamBalance) (on, header string) {
	switch by {
	case snapshot.HashOwner:
		return "consumer", ""
	case snapshot.HashIP:
		return "ip", ""
	case snapshot.HashKey:
		return "header", nginxName("X-Credential-Identifier")
	}
	name, _ := by.Header()
	return "header", nginxName(name)
}

// nginxName returns a header's name as nginx's variables have it.
func nginxName(header string) string { return strings.ReplaceAll(strings.ToLower(header), "-", "_") }

// healthchecksOf returns the checks of targets. Kong doesn't bring a target back that calls have taken out unless an
// active check succeeds, so connections are tried to such targets.
func healthchecksOf(
	c snapshot.UpstreamChecks, on []snapshot.RetryCondition, scheme string,
) *healthchecksDoc {
	every := float64(*c.IntervalMS) / 1000
	if !c.Active() {
		failures := min(*c.PassiveFailures, mostInRow)
		if failures == 0 {
			return nil
		}
		out := &healthchecksDoc{
			Active: activeDoc{
				Type: "tcp", Timeout: float64(*c.TimeoutMS) / 1000,
				Healthy:   healthyDoc{Successes: 1},
				Unhealthy: unhealthyDoc{Interval: every},
			},
			Passive: &passiveDoc{
				Type:      "http",
				Unhealthy: passiveUnhealthyDoc{TCPFailures: failures, Timeouts: failures},
			},
		}
		for _, condition := range on {
			if isStatus(condition) {
				out.Passive.Unhealthy.HTTPFailures = failures
				out.Passive.Unhealthy.Statuses = append(out.Passive.Unhealthy.Statuses, condition.Status())
			}
		}
		return out
	}
	out := &healthchecksDoc{Active: activeDoc{
		Type: scheme, Path: *c.Path, Timeout: float64(*c.TimeoutMS) / 1000,
		Healthy: healthyDoc{Interval: every, Successes: *c.Healthy},
		Unhealthy: unhealthyDoc{
			Interval: every, TCPFailures: *c.Unhealthy, Timeouts: *c.Unhealthy, HTTPFailures: *c.Unhealthy,
		},
	}}
	for status := http.StatusContinue; status <= 599; status++ {
		good := false
		for _, r := range c.Statuses {
			good = good || r.Contains(status)
		}
		if good {
			out.Active.Healthy.Statuses = append(out.Active.Healthy.Statuses, status)
		} else {
			out.Active.Unhealthy.Statuses = append(out.Active.Unhealthy.Statuses, status)
		}
	}
	return out
}

func targetFates() []bundle.Fate {
	const how = "`upstreams` with `targets` and their weights"
	const note = "Kong distributes calls among the same targets with the same weights, and a target with weight 0 " +
		"gets no calls. Each Kong node counts its own calls. At worst, a target whose name resolves to n addresses " +
		"gets n times its share, because Kong gives the weight to each address."
	return []bundle.Fate{
		{Reason: "upstream", Status: bundle.Approximate, How: how + "; `algorithm`", Note: note,
			Remedy: "Use names that each resolve to one address, or divide the weights by the number of addresses."},
		{Reason: "hash", Status: bundle.Approximate, How: how + "; `algorithm: consistent-hashing` and `hash_on`",
			Note: note + " Calls with the same hashed value go to the same target, but Kong computes a different " +
				"hash. At worst, calls with any given value go to a different target than on the hosted gateway.",
			Remedy: "If targets keep state, such as caches or sessions, expect them to rebuild it after the move."},
	}
}

func judgeTargets(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	v := upstreamVerdict(b, s)
	if v.Reason = "upstream"; s.Environment.Upstream.Stated().Balance.Hashes() {
		v.Reason = "hash"
	}
	return v
}

func checkFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "active", Status: bundle.Approximate, How: "`healthchecks.active` of the upstream",
			Note: "Each Kong node checks the targets with the same path, statuses and intervals. Kong's checks use " +
				"HTTP/1.1 and the target's host. They don't include the environment's upstream headers, Host header, " +
				"client certificate or signature. If the environment has its own certificate authorities or server " +
				"name, the checks don't verify certificates. At worst, a target that requires one of these fails its " +
				"checks and gets no calls, or a target with an invalid certificate is considered healthy. If no " +
				"target is healthy, Kong returns 503 with its own body.",
			Remedy: "Have the targets respond to requests for the check path over HTTP/1.1, for any host and without " +
				"credentials."},
		{Reason: "passive", Status: bundle.Approximate,
			How: "`healthchecks.passive` of the upstream, and `healthchecks.active` of type tcp for unhealthy targets",
			Note: "Kong stops sending calls to a target after the same number of failed connections, timeouts or " +
				"retried statuses in a row, up to 255. It tries to connect to the target at the same interval, and " +
				"sends it calls again once a connection succeeds. If all targets are unhealthy, Kong returns 503, " +
				"but the hosted gateway sends calls to all of them. At worst, all calls fail for one interval after " +
				"the targets work again.",
			Remedy: "Set a check path, so that both gateways use the same checks."},
		{Reason: "none", Status: bundle.Exact, How: "no `healthchecks`", Note: "Targets aren't checked."},
	}
}

func judgeChecks(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	c := s.Environment.Upstream.Checks.Stated()
	v := upstreamVerdict(b, s)
	switch {
	case c.Active():
		v.Reason = "active"
	case *c.PassiveFailures == 0 || len(s.Environment.Upstream.Targets) == 0:
		v.Reason = "none"
	default:
		v.Reason = "passive"
	}
	return v
}

func breakerFates() []bundle.Fate {
	return []bundle.Fate{{Reason: "not_exported", Status: bundle.Lossy, How: "not in gateway.yaml",
		Note: "Kong has no circuit breaker that counts failures in a window. At worst, every call to a failing " +
			"target waits until it times out.",
		Remedy: "Set a check path for the environment, so that Kong stops sending calls to failing targets, or use " +
			"shorter timeouts."}}
}

// upstreamVerdict returns the place of an environment's upstream in gateway.yaml, if it has one.
func upstreamVerdict(b *bundle.Build, s bundle.Subject) (v bundle.Verdict) {
	n := 0
	for _, pl := range layoutOf(b).places {
		switch {
		case !hasUpstream(pl.environment):
		case pl.environment == s.Environment:
			v.Target = bundle.At(gatewayFile, "/upstreams/%d", n)
			return v
		default:
			n++
		}
	}
	return v
}
