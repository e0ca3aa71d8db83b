package gateway

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"postern/core/snapshot"
	"postern/gateway/balance"
	"postern/gateway/engine"
)

type environment struct {
	id, name   string
	former     string         // see snapshot.Environment
	scheme     string         // of the targets
	path       string         // of the targets, escaped
	endpoints  []endpoint     // the targets, in the order of balance
	hostHeader string         // of all calls; "": the target's host, or the caller's
	keepsHost  bool           // calls to a custom domain keep it as their Host
	proof      *proof         // nil: none
	trust      *trust         // nil: the default
	changes    *headerChanges // nil: requests are not transformed
	timeouts   engine.Timeouts
	retries    retries
	balance    *balance.Group
	watched    bool                     // something decides about the health of its targets
	hash       snapshot.UpstreamBalance // "" if calls aren't spread by a value
	check      check
	http       snapshot.UpstreamHTTP
	health     *health
}

// endpoint is one target.
type endpoint struct {
	host     string // with its port unless that is the scheme's
	oddPort  bool   // neither 80 nor 443
	upstream *engine.Upstream
}

// parseTarget parses a target of an environment.
func parseTarget(target string) (*url.URL, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, fmt.Errorf("target must be an http or https URL without a user name, query or fragment")
	}
	if strings.HasPrefix(u.EscapedPath(), "//") {
		return nil, fmt.Errorf("the path of the target starts with an empty segment")
	}
	return u, nil
}

func compileEnvironment(
	s *snapshot.Project, p *project, e snapshot.Environment, connect connector, next, last *table,
) (environment, error) {
	u, err := parseTarget(e.Target)
	if err != nil {
		return environment{}, err
	}
	out := environment{
		id:     e.ID,
		name:   e.Name,
		former: e.Former,
		scheme: u.Scheme,
		path:   u.EscapedPath(),

		timeouts: timeoutsOf(e.Upstream.Timeouts),
		retries:  retriesOf(e.Upstream.Retries),
		http:     e.Upstream.Stated().HTTP,
	}
	out.hostHeader, out.keepsHost = e.Upstream.OwnHost()
	if out.proof, err = compileProof(s, e, p.signer, connect.unsealer); err != nil {
		return environment{}, err
	}
	if out.trust, err = compileTrust(&e); err != nil {
		return environment{}, err
	}
	if err := out.compileTargets(p, &e, connect, next, last); err != nil {
		return environment{}, err
	}
	// Slots are counted per environment, not per host: a team with a proxy to the same host
	// could use up those of the others.
	out.health = cmp.Or(last.health[e.ID], &health{})
	return out, nil
}

// usesHTTP2 reports whether the upstream is called with HTTP/2, or HTTP/2 is offered to it (ALPN, RFC 7301).
func (e *environment) usesHTTP2() bool {
	return e.http == snapshot.HTTP2 || e.http == snapshot.HTTPAuto && e.scheme == "https"
}

// offers returns the protocols that an https upstream can choose from (ALPN), in their order of preference.
func (e *environment) offers() []string {
	switch {
	case !e.usesHTTP2():
		return []string{engine.HTTP1}
	case e.http == snapshot.HTTPAuto:
		return []string{engine.HTTP2, engine.HTTP1}
	}
	return []string{engine.HTTP2}
}

// protocols is offers for net/http.
func (e *environment) protocols() *http.Protocols {
	var out http.Protocols
	out.SetHTTP1(e.http != snapshot.HTTP2)
	out.SetHTTP2(e.scheme == "https" && e.usesHTTP2())
	out.SetUnencryptedHTTP2(e.scheme == "http" && e.usesHTTP2())
	return &out
}

// upgrades reports whether calls can become WebSockets. On HTTP/2 their Upgrade is ignored (RFC 9110 section 7.8).
func (e *environment) upgrades() bool { return e.http != snapshot.HTTP2 }

// hostLine returns the Host line for the upstream: without the scheme's default port, as Kong
// sends it.
func hostLine(u *url.URL) string {
	if (u.Scheme == "http" && u.Port() == "80") || (u.Scheme == "https" && u.Port() == "443") {
		return u.Host[:strings.LastIndexByte(u.Host, ':')]
	}
	return u.Host
}
