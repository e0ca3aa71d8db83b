package movein

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"postern/core/contract"
	"postern/core/kongfile"
)

const (
	mostTimeout = 60 * 60 * 1000
	mostStream  = 24 * mostTimeout
	mostRetries = 10
	kongRetries = 5
	kongTimeout = 60_000
	environment = "prod"
)

var schemes = map[string]string{"http": "http", "https": "https", "grpc": "http", "grpcs": "https"}

// targetOf returns the URL of a service, "" if it can't be one.
func (p *planner) targetOf(e *kongfile.Entity) string {
	v := e.Value
	scheme := schemes[v.Get("protocol").Text]
	host := v.Get("host")
	switch {
	case len(e.Unfilled) > 0:
		return ""
	case scheme == "" || host.Text == "", !p.isTarget(host.Text):
		return ""
	}
	target := scheme + "://" + authority(scheme, host.Text, v.Get("port").Int(80)) +
		strings.TrimSuffix(v.Get("path").Text, "/")
	if u, err := url.Parse(target); err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return ""
	}
	return target
}

// isTarget reports whether calls can be sent to a host, or to the targets of the upstream with this name.
func (p *planner) isTarget(host string) bool {
	upstream := p.found.upstreams[host]
	return isTargetHost(host) || upstream != nil && len(p.targetsOf(upstream)) > 0
}

// isTargetHost reports whether a host can be that of a URL. The names of upstreams often can't.
func isTargetHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return strings.Trim(last, "0123456789") != "" && strings.IndexFunc(host, func(c rune) bool {
		return c < utf8.RuneSelf && c != '.' && c != '-' && c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}) < 0
}

func authority(scheme, host string, port int) string {
	if scheme == "http" && port == 80 || scheme == "https" && port == 443 {
		if strings.Contains(host, ":") {
			return "[" + host + "]"
		}
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// sayService says why a service isn't imported.
func (p *planner) sayService(e *kongfile.Entity) {
	v := e.Value
	switch protocol := v.Get("protocol").Text; {
	case !e.IsOn():
		p.say(e, "service.off")
	case len(e.Routes) == 0:
		p.say(e, "service.no_routes")
	case p.targetOf(e) != "":
	case len(v.Get("url").Unfilled()) > 0: // its protocol isn't known: it wins over the service's
		p.say(e, "service.placeholder")
	case slices.Contains([]string{"tcp", "tls", "udp", "tls_passthrough", "ws", "wss"}, protocol):
		p.say(e, "service.protocol", protocol)
	case len(v.Unfilled()) > 0:
		p.say(e, "service.placeholder")
	default:
		p.say(e, "service.address")
	}
}

// environment returns the environment of a route's service.
func (p *planner) environment(r *route) contract.NewEnvironment {
	e := r.entity.Service
	p.use(e)
	target := p.targetOf(e)
	out := contract.NewEnvironment{Name: environment, Target: target}
	u := &out.Upstream
	p.timeouts(e, u)
	p.retries(e, u)
	if protocol := e.Value.Get("protocol").Text; protocol == "grpc" || protocol == "grpcs" {
		u.HTTP = contract.HTTP2
	}
	if r.entity.Value.Get("preserve_host").Bool(false) {
		u.HostHeader = new(contract.HostOfCaller)
	}
	p.balance(e, &out)
	if strings.HasPrefix(target, "https:") {
		p.verification(e, &out)
	}
	for _, one := range u.TargetsOr(out.Target) {
		p.plan.egress(one.URL)
	}
	return out
}

func (p *planner) timeouts(e *kongfile.Entity, u *contract.Upstream) {
	connect := e.Value.Get("connect_timeout").Int(kongTimeout)
	read := e.Value.Get("read_timeout").Int(kongTimeout)
	write := e.Value.Get("write_timeout").Int(kongTimeout)
	if connect > mostTimeout || read > mostTimeout || write != read {
		p.say(e, "service.timeouts")
	}
	u.Timeouts.ConnectMS = new(clamp(connect, mostTimeout))
	u.Timeouts.ResponseMS = new(clamp(read, mostTimeout))
	u.Timeouts.IdleMS = new(clamp(read, mostTimeout))
	u.Timeouts.StreamIdleMS = new(clamp(read, mostStream))
}

func clamp(n, most int) int { return max(1, min(n, most)) }

func (p *planner) retries(e *kongfile.Entity, u *contract.Upstream) {
	n := e.Value.Get("retries").Int(kongRetries)
	if n > mostRetries {
		p.say(e, "service.retries")
	}
	u.Retries.Max = new(max(0, min(n, mostRetries)))
	if p.options.RetryOnTimeout {
		u.Retries.On = &[]contract.RetryCondition{contract.RetryOnTimeout}
	}
}

// verification sets how the certificates of targets are verified.
func (p *planner) verification(e *kongfile.Entity, out *contract.NewEnvironment) {
	v, u := e.Value, &out.Upstream
	var pems []string
	ids := v.Get("ca_certificates").Texts()
	for _, id := range ids {
		for _, ca := range p.found.authorities[id] {
			p.use(ca)
			pems = append(pems, strings.TrimSpace(ca.Value.Get("cert").Text)+"\n")
		}
	}
	ca := contract.UpstreamCA{PEM: new(strings.Join(pems, ""))}
	if _, err := ca.Certificates(); err != nil || len(pems) < len(ids) {
		p.say(e, "service.ca")
	} else if len(pems) > 0 {
		u.CA = contract.UpstreamCA{PEM: ca.PEM, System: new(false)}
	}
	switch {
	case v.Get("tls_verify").Bool(false):
	case p.options.trusts(v.Get("host").Text, u.TargetsOr(out.Target)):
		p.say(e, trustedCode)
	default:
		p.say(e, "service.unverified")
	}
	if v.Get("client_certificate").IsSet() {
		p.say(e, "service.client_certificate")
	}
}

// balance sets the targets of a service whose host is the name of an upstream.
func (p *planner) balance(e *kongfile.Entity, out *contract.NewEnvironment) {
	upstream := p.found.upstreams[e.Value.Get("host").Text]
	if upstream == nil {
		return
	}
	p.use(upstream)
	if len(upstream.Unfilled) > 0 {
		p.say(upstream, "upstream.placeholder", upstream.Unfilled...)
	}
	scheme, _, _ := strings.Cut(out.Target, ":")
	path := strings.TrimSuffix(e.Value.Get("path").Text, "/")
	var targets []contract.UpstreamTarget
	for _, one := range p.targetsOf(upstream) {
		name, port, _ := net.SplitHostPort(one.Value.Get("target").Text)
		n, _ := strconv.Atoi(port)
		weight := one.Value.Get("weight").Int(100)
		targets = append(targets, contract.UpstreamTarget{
			URL: scheme + "://" + authority(scheme, name, n) + path, Weight: &weight,
		})
	}
	if len(targets) == 0 {
		p.say(upstream, "upstream.no_targets")
		return
	}
	out.Target = ""
	u := &out.Upstream
	u.Targets = targets
	u.Balance = p.algorithm(upstream)
	if name := upstream.Value.Get("host_header").Text; name != "" && u.HostHeader == nil {
		u.HostHeader = &name
	}
	p.checks(upstream, u)
	for _, name := range []string{"client_certificate", "use_srv_name"} {
		if v := upstream.Value.Get(name); v.IsSet() && v.Text != "false" {
			p.say(upstream, "upstream.fields", name)
		}
	}
}

// targetsOf returns the targets of an upstream that can be imported, and says why the others can't.
func (p *planner) targetsOf(upstream *kongfile.Entity) []*kongfile.Entity {
	targets, known := p.found.targets[upstream]
	if known {
		return targets
	}
	for _, one := range upstream.Targets {
		name, port, err := net.SplitHostPort(one.Value.Get("target").Text)
		_, notNumber := strconv.Atoi(port)
		switch {
		case len(one.Value.Unfilled()) > 0:
			p.say(one, "target.placeholder")
		case err != nil || notNumber != nil || !isTargetHost(name):
			p.say(one, "target.address")
		case len(targets) >= contract.MostUpstreamTargets:
			p.say(one, "target.too_many")
		default:
			p.use(one)
			targets = append(targets, one)
		}
	}
	p.found.targets[upstream] = targets
	return targets
}

func (p *planner) algorithm(e *kongfile.Entity) *contract.UpstreamBalance {
	v := e.Value
	hash := v.Get("hash_on").Text
	algorithm := v.Get("algorithm").Text
	if algorithm == "" && hash != "" && hash != "none" {
		algorithm = "consistent-hashing"
	}
	switch algorithm {
	case "", "round-robin":
		return new(contract.BalanceRoundRobin)
	case "least-connections":
		return new(contract.BalanceLeastConnections)
	case "consistent-hashing":
		p.say(e, "upstream.hash")
		switch hash {
		case "consumer":
			return new(contract.HashOwner)
		case "ip", "", "none":
			return new(contract.HashIP)
		case "header":
			return new(contract.HashHeader + contract.UpstreamBalance(v.Get("hash_on_header").Text))
		}
	}
	p.say(e, "upstream.algorithm", strings.TrimSpace(algorithm+" "+hash))
	return new(contract.BalanceRoundRobin)
}

// checks sets the health checks of an upstream. Those of Kong are off unless an interval or a number of failures is
// set.
func (p *planner) checks(e *kongfile.Entity, u *contract.Upstream) {
	active, passive := e.Value.Get("healthchecks", "active"), e.Value.Get("healthchecks", "passive")
	u.Checks.PassiveFailures = new(0)
	good, bad := active.Get("healthy", "interval").Float(0), active.Get("unhealthy", "interval").Float(0)
	if every := max(good, bad); every > 0 {
		kind := active.Get("type").Text
		if kind == "tcp" {
			p.say(e, "upstream.tcp_checks")
			return
		}
		path := active.Get("http_path").Text
		if bare, _, found := strings.Cut(path, "?"); found && active.Get("http_path").IsFilled() {
			path = bare // the query can be a secret
			p.say(e, "upstream.fields", "healthchecks.active.http_path")
		}
		if path == "" {
			path = "/"
		}
		u.Checks.Path = &path
		u.Checks.IntervalMS = new(max(1000, min(int(every*1000), mostTimeout)))
		u.Checks.TimeoutMS = new(max(1, min(int(active.Get("timeout").Float(1)*1000), 60_000)))
		u.Checks.Healthy = new(max(1, min(active.Get("healthy", "successes").Int(1), 100)))
		u.Checks.Unhealthy = new(max(1, min(active.Get("unhealthy", "http_failures").Int(1), 100)))
		for _, status := range active.Get("healthy", "http_statuses").Texts() {
			u.Checks.Statuses = append(u.Checks.Statuses, contract.StatusRange(status))
		}
		u.Checks.PassiveFailures = nil
		p.say(e, "upstream.checks")
		return
	}
	failures := 0
	for _, name := range []string{"http_failures", "tcp_failures", "timeouts"} {
		if n := passive.Get("unhealthy", name).Int(0); n > 0 && (failures == 0 || n < failures) {
			failures = n
		}
	}
	if failures > 0 {
		u.Checks.PassiveFailures = new(min(failures, 1000))
		p.say(e, "upstream.passive")
	}
}

// egress lists a target that probably isn't public. Such addresses have to be allowed.
func (p *Plan) egress(target string) {
	u, err := url.Parse(target)
	if err != nil {
		return
	}
	host := u.Hostname()
	if address, err := netip.ParseAddr(host); err == nil {
		if address.IsPrivate() || address.IsLoopback() || address.IsLinkLocalUnicast() || address.IsUnspecified() {
			p.ByHand.EgressCIDRs = append(p.ByHand.EgressCIDRs, netip.PrefixFrom(address, address.BitLen()).String())
		}
		return
	}
	private := !strings.Contains(host, ".")
	for _, end := range []string{".local", ".internal", ".svc", ".lan", ".home.arpa", ".corp", ".localhost"} {
		private = private || strings.HasSuffix(host, end)
	}
	if private {
		p.ByHand.EgressNames = append(p.ByHand.EgressNames, host)
	}
}
