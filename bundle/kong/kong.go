// Package kong writes the part of an export that runs on Kong Gateway 3.9 without a database: the configuration, the
// plugin that checks keys by their hashes, and the scripts that start and probe the gateway. It owns gateway/ and
// verify/ in the zip, and the table of how Kong supports each feature. It leaves the decisions on a call to package
// core/policy, which the plugin mirrors, and the other files of the zip to package bundle. Standard: Kong's declarative
// configuration, _format_version 3.0, as measured on 3.9.3 (docs.konghq.com, "DB-less mode").
package kong

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
)

// Target is Kong 3.9 in DB-less mode.
var Target = bundle.Target{
	Name: "kong", Title: "Kong 3.9", Format: bundle.FormatGateway,
	Table: table(), NewKeys: newKeys, Start: firstSteps, Judge: judge, Parts: parts,
}

const firstSteps = `Run the gateway. You need Docker or Podman with compose, and curl:

    gateway/start.sh

If there is a gateway/.env.example, copy it to gateway/.env first and fill in the secrets. start.sh starts Kong, waits
until it is ready, calls each upstream once and checks that keys are required. Then call the API as before, at
http://127.0.0.1:8000. For details, see [gateway/README.md](gateway/README.md).

    gateway/add-key.sh OWNER     # creates an API key
    verify/verify.sh             # sends recorded requests and compares the responses
`

const newKeys = `The gateway in this zip already accepts them.

1. Send each consumer the line of minted.csv that has their owner name. Use a channel that is safe for passwords.
2. There is no hurry: existing keys also keep working. To revoke an existing key, look up its sha256 in keys.jsonl,
   delete the line that begins with this hash from gateway/gateway.yaml, and restart the gateway. The line of the new
   key begins with minted_sha256.
3. Delete minted.csv once you have sent all keys. You can't see them again: the gateway has only their hashes.
`

// gatewayFile is Kong's configuration.
const gatewayFile = "gateway/gateway.yaml"

// place is an environment with its service and routes on Kong.
type place struct {
	index       int // of the service in gateway.yaml
	version     *snapshot.Version
	environment *snapshot.Environment
	serviceID   string
	routes      []route
	grpc        []route // of another service
	grpcIndex   int     // of that service in gateway.yaml
}

type route struct {
	id       string
	name     string
	form     bundle.AddressForm
	path     string // the prefix, as callers write it
	regex    string // "" for all paths
	priority int
	strip    bool             // removes the prefix
	domain   *snapshot.Domain // nil: any host
}

// host returns the custom domain's host; "" for any.
func (r route) host() string {
	if r.domain == nil {
		return ""
	}
	return r.domain.Host
}

// paths returns the paths of the route on Kong.
func (r route) paths() []string {
	if r.regex == "" {
		return []string{"/"}
	}
	return []string{r.regex}
}

// hostHeader returns the header that a probe of the route needs.
func (r route) hostHeader() []string {
	if r.domain == nil {
		return nil
	}
	return []string{"Host: " + r.domain.Host}
}

// layout has the places of a project's objects on Kong. It is computed once for an export, because each subject of the
// ledger asks for its place.
type layout struct {
	places        []place // the environments in ledger order; their index is that of the service in gateway.yaml
	byVersion     map[*snapshot.Version][]place
	byEnvironment map[*snapshot.Environment]int
	paths         map[string]bool     // of the routes without a host
	openedBy      map[string][]string // IDs of probes by the environment of a key, "" for all; nil until used
}

func layoutOf(b *bundle.Build) *layout {
	if l, ok := b.Memo.(*layout); ok {
		return l
	}
	l := newLayout(b.Project)
	b.Memo = l
	return l
}

func newLayout(p *snapshot.Project) *layout {
	l := &layout{
		byVersion: map[*snapshot.Version][]place{}, byEnvironment: map[*snapshot.Environment]int{},
		paths: map[string]bool{},
	}
	for i := range p.Versions {
		v := &p.Versions[i]
		for j := range v.Environments {
			one := placeOf(p, v, &v.Environments[j])
			one.index = len(l.places)
			l.byEnvironment[one.environment] = one.index
			l.places = append(l.places, one)
			l.byVersion[v] = append(l.byVersion[v], one)
			for _, r := range one.routes {
				if r.domain == nil {
					l.paths[r.path] = true
				}
			}
		}
	}
	services := len(l.places)
	for i := range l.places {
		if one := &l.places[i]; len(one.grpc) > 0 {
			one.grpcIndex = services
			services++
		}
	}
	return l
}

func placeOf(p *snapshot.Project, v *snapshot.Version, e *snapshot.Environment) place {
	one := place{version: v, environment: e, serviceID: policy.EntityID(e.ID)}
	for priority, form := range []bundle.AddressForm{bundle.HostForm, bundle.PathForm} {
		path := bundle.RoutePath(p, v, e, form)
		one.routes = append(one.routes, route{
			id:   policy.EntityID(e.ID + ":" + string(form)),
			name: entityName(path), form: form, path: path,
			regex: prefixRegex(path), priority: priority, strip: true,
		})
	}
	for i := range e.Domains {
		one.routes = append(one.routes, domainRoute(e, &e.Domains[i]))
	}
	one.grpc = grpcRoutes(e)
	return one
}

// of returns the places of a subject: the place of its environment, or of all environments of its version.
func (l *layout) of(s bundle.Subject) []place {
	if s.Environment == nil {
		return l.byVersion[s.Version]
	}
	at, ok := l.byEnvironment[s.Environment]
	if !ok {
		return nil
	}
	return l.places[at : at+1]
}

// entityName returns a readable Kong name for a path: "1.0.0~prod" for "/1.0.0/prod". Our names don't have tildes, so
// every path has its own.
func entityName(path string) string { return strings.ReplaceAll(strings.Trim(path, "/"), "/", "~") }

// prefixRegex returns the pattern of a path and those below it.
func prefixRegex(path string) string { return "~" + escapeRegex(path) + "(?:/|$)" }

// escapeRegex escapes a path for PCRE and for Rust's regex crate, which both parse the pattern. Our names don't have
// characters that the two treat differently.
func escapeRegex(path string) string { return regexp.QuoteMeta(path) }

// shadowed reports whether the path of a route can also be the beginning of another
// environment's longer one, because a version has the project's name.
func shadowed(p *snapshot.Project, s bundle.Subject) bool {
	if s.Form != bundle.HostForm || s.Version.Name != p.Name {
		return false
	}
	for _, v := range p.Versions {
		if v.Name == s.Environment.Name {
			return true
		}
	}
	return false
}

// judge returns the place of a subject on Kong, and the fate that applies to it.
func judge(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	switch s.Feature {
	case snapshot.FeatureProject:
		if !b.Project.ExpiresAt.IsZero() {
			return bundle.Verdict{Reason: "unclaimed"}
		}
	case snapshot.FeatureVersion:
		return bundle.Verdict{Probes: probesOf(b, s)}
	case snapshot.FeatureEnvironment, snapshot.FeatureRoute:
		return judgePlace(b, s)
	case snapshot.FeatureCustomDomains:
		if s.Domain != nil {
			return judgeDomain(b, s)
		}
	case snapshot.FeatureTimeouts:
		return judgeTimeouts(b, s)
	case snapshot.FeatureRetries:
		return judgeRetries(b, s)
	case snapshot.FeatureTargets:
		return judgeTargets(b, s)
	case snapshot.FeatureChecks:
		return judgeChecks(b, s)
	case snapshot.FeatureUpstreamCA:
		return judgeAuthorities(b, s)
	case snapshot.FeatureUpstreamHTTP:
		return judgeHTTP(b, s)
	case snapshot.FeatureServerName:
		return judgeServerName(s)
	case snapshot.FeatureHostHeader:
		return judgeHostHeader(b, s)
	case snapshot.FeatureUpstreamHeader:
		return judgeUpstreamHeader(s)
	case snapshot.FeatureUpstreamCert:
		return judgeCertificate(b, s)
	case snapshot.FeatureCallSigning:
		return bundle.Verdict{Target: bundle.At(gatewayFile, "/plugins/0/config/signing_key")}
	case snapshot.FeatureTransform:
		return judgeTransform(b, s)
	case snapshot.FeatureAccess:
		v := bundle.Verdict{Target: bundle.At(gatewayFile, "/plugins/0/config/routes"), Probes: probesOf(b, s)}
		v.Reason = missingTokens(b.Project, s.Version.Access)
		return v
	case snapshot.FeatureTokenIssuer:
		return judgeIssuer(b, s)
	case snapshot.FeatureIntrospection:
		return judgeIntrospection(b, s)
	case snapshot.FeatureHostedLogin, snapshot.FeatureProvider:
		return judgeLogin(b, s)
	case snapshot.FeatureSecrets:
		if b.Options.Secrets {
			return bundle.Verdict{Reason: bundle.SomeSecrets.Reason}
		}
	case snapshot.FeatureRedirects, snapshot.FeatureSignupPolicy, snapshot.FeatureGroupMapping,
		snapshot.FeatureConsents, snapshot.FeatureAPIScope:
		return judgePeople(b, s)
	case snapshot.FeatureOwnerFallback:
		if s.Tenant != nil {
			return judgeTenantFallback(b.Project, s)
		}
		return bundle.Verdict{
			Target: bundle.At(gatewayFile, "/plugins/0/config/fallback"),
			Probes: probesOf(b, s),
		}
	case snapshot.FeatureObjectOwnership:
		return bundle.Verdict{Reason: b.OwnershipReason()}
	case snapshot.FeatureOpenAPI:
		return bundle.Verdict{Reason: bundle.OpenAPIReason(s.Version)}
	case snapshot.FeatureCORS:
		return judgeCORS(b.Project)
	case snapshot.FeatureTenantCORS:
		return judgeTenantCORS(b.Project, s.Tenant)
	case snapshot.FeatureValidation:
		return judgeValidation(s)
	case snapshot.FeatureKeyType:
		return bundle.Verdict{Target: bundle.At(gatewayFile, "/plugins/0/config/key_types/%s", s.ID)}
	case snapshot.FeatureTenant:
		return judgeTenant(s)
	case snapshot.FeatureIPRules:
		return judgeRule(b, s)
	case snapshot.FeatureRule, snapshot.FeatureRuleDefault:
		return judgeRouteRule(b, s)
	case snapshot.FeatureLimits, snapshot.FeatureKeyIPs:
		if s.Key == nil {
			return judgeLimit(s)
		}
		if b.HasKeys() {
			return judgeOfKey(s)
		}
	case snapshot.FeatureKey, snapshot.FeatureKeyGrace:
		if b.HasKeys() {
			return judgeKey(b, s)
		}
	}
	return bundle.Verdict{}
}

func judgePlace(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	found := layoutOf(b).of(s)
	if len(found) == 0 {
		return bundle.Verdict{}
	}
	v, pl := bundle.Verdict{Probes: probesOf(b, s)}, found[0]
	if s.Feature == snapshot.FeatureEnvironment {
		v.Target, v.Reason = bundle.At(gatewayFile, "/services/%d", pl.index), misplacedAny(s.Environment)
		if v.Reason == "" && !b.Project.ExpiresAt.IsZero() {
			v.Reason = "unclaimed"
		}
		return v
	}
	if shadowed(b.Project, s) {
		v.Reason = "shadowed"
	}
	for n, r := range pl.routes {
		if r.form == s.Form || (s.Domain != nil && r.domain == s.Domain) {
			v.Target = bundle.At(gatewayFile, "/services/%d/routes/%d", pl.index, n)
		}
	}
	return v
}

func judgeKey(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	hash := s.Key.Hash
	v := bundle.Verdict{}
	if s.Feature == snapshot.FeatureKeyGrace {
		hash = *s.Key.OldHash
	}
	switch {
	case s.Key.State != snapshot.KeyActive && s.Key.State != snapshot.KeyFrozen:
		return bundle.Verdict{Reason: "revoked"}
	case s.Feature == snapshot.FeatureKey && s.Key.State == snapshot.KeyFrozen:
		v.Reason = "frozen"
	case s.Feature == snapshot.FeatureKey && detached(b.Project, s.Key.TenantID):
		v.Reason = "wrong_tenant"
	case s.Feature == snapshot.FeatureKey && s.Key.OwnerFrozen:
		v.Reason = "user_frozen"
	case s.Feature == snapshot.FeatureKey && b.Options.Keys == bundle.KeysMint && bundle.Mintable(s.Key):
		v.Reason = "minted"
	case s.Feature == snapshot.FeatureKey && !s.Key.ExpiresAt.IsZero():
		v.Reason = "expires"
	}
	if s.Feature == snapshot.FeatureKey && (v.Reason == "" || v.Reason == "minted") && s.Key.ExpiresAt.IsZero() {
		v.Probes = probesOfKey(b, s.Key)
	}
	v.Target = bundle.At(gatewayFile, "/plugins/0/config/keys/%x", hash)
	return v
}

func detached(p *snapshot.Project, tenantID string) bool {
	return slices.ContainsFunc(p.Tenants, func(t snapshot.Tenant) bool { return t.ID == tenantID && t.Detached })
}

// misplacedAny is misplaced for the targets of an environment.
func misplacedAny(e *snapshot.Environment) string {
	for _, one := range e.Upstream.TargetsOr(e.Target) {
		reason := misplaced(one.URL)
		if reason == "https_address" && hasOwnHost(e) {
			continue // Kong checks the certificate against the Host
		}
		if reason != "" {
			return reason
		}
	}
	return ""
}

// misplaced returns the reason why a container that runs Kong can't call an upstream as the hosted gateway does; "" if
// it can.
func misplaced(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return ""
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	ip, err := netip.ParseAddr(host)
	isAddress := err == nil
	ip = ip.Unmap()
	switch {
	case isAddress && u.Scheme == "https":
		return "https_address"
	case isAddress && (ip.IsLoopback() || ip.IsUnspecified()):
		return "loopback"
	case host == "localhost" || strings.HasSuffix(host, ".localhost"): // RFC 6761, section 6.3
		return "loopback"
	}
	return ""
}

// upstream is a service's address in Kong's separate fields; Kong's url shorthand drops
// parts silently.
type upstream struct {
	protocol string
	host     string
	port     int
	path     *string
}

func parseTarget(target string) (upstream, error) {
	u, err := url.Parse(target)
	if err != nil {
		return upstream{}, fmt.Errorf("kong: parse target: %w", err)
	}
	up := upstream{protocol: u.Scheme, host: u.Hostname(), port: 80}
	if u.Scheme == "https" {
		up.port = 443
	}
	if port := u.Port(); port != "" {
		if up.port, err = strconv.Atoi(port); err != nil {
			return upstream{}, fmt.Errorf("kong: port of target: %w", err)
		}
	}
	if ip := net.ParseIP(up.host); ip != nil && ip.To4() == nil {
		up.host = "[" + up.host + "]" // nginx requires the brackets that url.Hostname removes
	}
	if path := strings.TrimSuffix(u.EscapedPath(), "/"); path != "" {
		up.path = &path
	}
	return up, nil
}
