package movein

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/kongfile"
	"postern/core/policy"
)

// authPlugins are the plugins of Kong that authenticate, apart from key-auth. [Kong 3.10: plugins with a priority above
// 1000 that read credentials]
var authPlugins = []string{
	"basic-auth", "hmac-auth", "jwt", "oauth2", "oauth2-introspection", "ldap-auth", "ldap-auth-advanced",
	"openid-connect", "mtls-auth", "key-auth-enc", "vault-auth", "session", "saml", "header-cert-auth", "jwt-signer",
	"jwe-decrypt",
}

// harmless are the plugins that check and block nothing: without them, no call is let through that Kong refuses.
var harmless = []string{
	"prometheus", "file-log", "http-log", "tcp-log", "udp-log", "syslog", "loggly", "statsd", "statsd-advanced",
	"datadog", "zipkin", "opentelemetry", "correlation-id", "proxy-cache", "proxy-cache-advanced", "kafka-log",
	"standard-webhooks", "app-dynamics",
}

// harmlessCodes are the codes of harmless plugins without which targets or callers get something else.
var harmlessCodes = map[string]string{
	"correlation-id": "plugin.correlation", "proxy-cache": "plugin.cache", "proxy-cache-advanced": "plugin.cache",
}

// sayHarmless says what is missing without a harmless plugin.
func (p *planner) sayHarmless(e *kongfile.Entity) {
	code := cmp.Or(harmlessCodes[e.PluginName()], "plugin.harmless")
	if code == "plugin.correlation" {
		p.say(e, code, cmp.Or(e.Config("header_name").Text, "Kong-Request-ID"))
		return
	}
	p.say(e, code)
}

// takenPlugins are the plugins that the import has a meaning for.
var takenPlugins = []string{
	"key-auth", "acl", "rate-limiting", "cors", "ip-restriction", "request-transformer", "response-transformer",
}

// access has the effects of a route's plugins on its calls.
type access struct {
	keyAuth, acl, ip, limit, cors, request, response *kongfile.Entity

	auth   contract.RequestsAuth
	rules  contract.Rules
	ranges contract.IPRules

	closed []reason // why the route isn't opened
}

// reason is why a route is closed.
type reason struct {
	text   string
	plugin *kongfile.Entity // nil: the route itself
}

// readAccess sets the effects of a route's plugins.
func (p *planner) readAccess(r *route) {
	plugins := p.file.Effective(r.entity)
	r.plugins = plugins
	names := make([]string, 0, len(plugins))
	for name := range plugins {
		names = append(names, name)
	}
	slices.Sort(names)
	a := &r.access
	a.keyAuth, a.acl, a.ip = plugins["key-auth"], plugins["acl"], plugins["ip-restriction"]
	a.limit, a.cors = plugins["rate-limiting"], plugins["cors"]
	a.request, a.response = plugins["request-transformer"], plugins["response-transformer"]
	for _, name := range names {
		e := plugins[name]
		switch {
		case slices.Contains(takenPlugins, name), slices.Contains(authPlugins, name):
		case slices.Contains(harmless, name):
			p.use(e)
			p.sayHarmless(e)
		case name == acme:
			p.use(e)
			p.say(e, "plugin.acme")
		default:
			p.use(e)
			p.say(e, "plugin.closed")
			a.closed = append(a.closed, reason{"the plugin " + name + " can't be imported", e})
		}
	}
	p.readAuth(r, plugins, names)
	p.readGroups(r)
	p.readRanges(r)
	p.closeUnknown(r)
}

// readAuth decides how calls of a route authenticate. Plugins without anonymous all have to agree (AND); plugins that
// all have it are alternatives (OR).
func (p *planner) readAuth(r *route, plugins map[string]*kongfile.Entity, names []string) {
	a := &r.access
	optional := func(e *kongfile.Entity) bool { return e.Config("anonymous").Text != "" }
	for _, name := range names {
		if !slices.Contains(authPlugins, name) {
			continue
		}
		e := plugins[name]
		p.use(e)
		switch {
		case a.keyAuth == nil:
			p.say(e, authCode(name, "closed"))
			a.closed = append(a.closed, reason{"the plugin " + name + " can't be imported", e})
		case !optional(e):
			p.say(e, authCode(name, "closed"))
			a.closed = append(a.closed, reason{"calls require the plugin " + name + " in addition to a key", e})
		default:
			p.say(e, "plugin.alternative")
		}
	}
	if a.keyAuth == nil {
		a.auth = contract.RequestsAuth{
			Mode: contract.Passthrough, Methods: []string{}, Keyless: contract.KeylessReject,
		}
		return
	}
	p.use(a.keyAuth)
	a.auth = contract.RequestsAuth{
		Mode: contract.Authenticate, Methods: []string{contract.MethodAPIKey}, Keyless: contract.KeylessReject,
	}
	a.auth.APIKey.In = p.keyPlaces(a.keyAuth)
	if !p.closeUnfilled(r, a.keyAuth) && len(a.auth.APIKey.In) == 0 {
		a.closed = append(a.closed, reason{"keys can't be read from any of the places in key-auth", a.keyAuth})
	}
	if optional(a.keyAuth) && !p.refusesAnonymous(a.keyAuth) {
		if p.isOpened(r.entity) {
			r.opened = true
			a.auth.Mode = contract.Passthrough
			p.say(a.keyAuth, "key-auth.anonymous_open")
		} else {
			p.say(a.keyAuth, "key-auth.anonymous")
			r.openable = append(r.openable, "Kong forwards calls without a key (anonymous)")
		}
	}
}

func authCode(name, reason string) string {
	if name == "jwt" {
		return "jwt." + reason
	}
	return "plugin.auth_" + reason
}

// refusesAnonymous reports whether the anonymous consumer of a plugin has request-termination, as Kong's documentation
// recommends for alternatives: then calls without a credential are refused.
func (p *planner) refusesAnonymous(e *kongfile.Entity) bool {
	name := e.Config("anonymous").Text
	for _, c := range p.found.consumers[name] {
		for _, plugin := range c.Plugins {
			if plugin.PluginName() == "request-termination" && plugin.IsOn() && plugin.Service == nil &&
				plugin.Route == nil {
				p.use(plugin)
				p.say(plugin, "plugin.anonymous_refused")
				return true
			}
		}
	}
	return false
}

// argument is a query parameter that can have a key.
var argument = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// keyPlaces returns where callers send their keys, and says what differs.
func (p *planner) keyPlaces(e *kongfile.Entity) []contract.KeyPlace {
	names := e.Config("key_names").Texts()
	if len(names) == 0 {
		names = []string{"apikey"}
	}
	has := func(places []contract.KeyPlace, header, query string) bool {
		return slices.ContainsFunc(places, func(one contract.KeyPlace) bool {
			return strings.EqualFold(one.Header, header) && one.Query == query
		})
	}
	var places []contract.KeyPlace
	for _, name := range names {
		if len(places) > contract.MostKeyPlaces {
			break
		}
		if e.Config("key_in_header").Bool(true) && !has(places, name, "") {
			if policy.CanCarryKeys(name) {
				places = append(places, contract.KeyPlace{Header: name})
				if strings.EqualFold(name, "Authorization") {
					p.say(e, "key-auth.authorization")
				}
			} else {
				p.say(e, "key-auth.place", "header "+name)
			}
		}
		switch {
		case !e.Config("key_in_query").Bool(true), has(places, "", name):
		case argument.MatchString(name):
			places = append(places, contract.KeyPlace{Query: name})
		default:
			p.say(e, "key-auth.place", "query "+name)
		}
	}
	if len(places) > contract.MostKeyPlaces {
		p.say(e, "key-auth.place", fmt.Sprintf("more than %d places", contract.MostKeyPlaces))
		places = places[:contract.MostKeyPlaces]
	}
	if len(places) > 1 {
		p.say(e, "key-auth.places")
	}
	if e.Config("key_in_body").Bool(false) {
		p.say(e, "key-auth.body")
	}
	if !e.Config("hide_credentials").Bool(false) {
		p.say(e, "key-auth.hide_credentials")
	} else {
		p.say(e, "key-auth.query")
	}
	if !e.Config("run_on_preflight").Bool(true) {
		p.say(e, "key-auth.preflight")
	}
	if e.Value.Get("protocols").IsSet() && !servesBoth(e) {
		p.say(e, "plugin.protocols")
	}
	return places
}

// servesBoth reports whether a plugin runs for calls with and without TLS.
func servesBoth(e *kongfile.Entity) bool {
	protocols := e.Value.Get("protocols").Texts()
	return slices.Contains(protocols, "http") && slices.Contains(protocols, "https")
}

// readGroups turns acl into a rule for all paths.
func (p *planner) readGroups(r *route) {
	a := &r.access
	a.rules = contract.Rules{Default: contract.RulesAllow, Mode: contract.RulesEnforce, List: []contract.Rule{}}
	if a.acl == nil {
		return
	}
	p.use(a.acl)
	allow, deny := p.allowedGroups(a.acl), a.acl.Config("deny")
	switch {
	case len(deny.Items) > 0 || deny.Text != "":
		p.say(a.acl, "acl.deny")
		a.closed = append(a.closed, reason{"acl denies groups", a.acl})
	case p.closeUnfilled(r, a.acl):
	case len(allow) == 0:
		p.say(a.acl, "acl.empty")
		a.closed = append(a.closed, reason{"acl doesn't name any groups", a.acl})
	case a.keyAuth == nil:
		// Kong refuses every call: acl finds no consumer.
		p.say(a.acl, "acl.no_auth")
		a.closed = append(a.closed, reason{"acl requires an auth plugin that can be imported", a.acl})
	default:
		a.rules.List = []contract.Rule{{Methods: []string{policy.AnyMethod}, Path: "/**", Groups: allow}}
		if a.acl.Config("hide_groups_header").Bool(false) {
			p.say(a.acl, "acl.header")
		}
	}
}

// readRanges turns ip-restriction into the address ranges of a version.
func (p *planner) readRanges(r *route) {
	a := &r.access
	a.ranges = contract.IPRules{Allow: []string{}, Deny: []string{}}
	if a.ip == nil {
		return
	}
	p.use(a.ip)
	if p.closeUnfilled(r, a.ip) {
		return
	}
	rules, ok := p.ipRules(a.ip)
	if !ok {
		p.say(a.ip, "ip-restriction.ranges")
		a.closed = append(a.closed, reason{"ip-restriction has invalid addresses", a.ip})
		return
	}
	a.ranges = rules
	if a.ip.Config("status").Int(403) != 403 {
		p.say(a.ip, "ip-restriction.status")
	}
}

// closeUnfilled closes a route if a field that is read from one of its plugins has a placeholder without a value.
func (p *planner) closeUnfilled(r *route, e *kongfile.Entity) bool {
	if len(e.Unfilled) == 0 {
		return false
	}
	p.say(e, "plugin.placeholder", e.Unfilled...)
	r.access.closed = append(r.access.closed, reason{e.PluginName() + " has a placeholder without a value", e})
	return true
}

// ranges returns addresses in CIDR notation, and false if one can't be read.
func ranges(texts []string) ([]string, bool) {
	out := make([]string, 0, len(texts))
	for _, text := range texts {
		if address, err := netip.ParseAddr(text); err == nil {
			out = append(out, netip.PrefixFrom(address, address.BitLen()).String())
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, false
		}
		out = append(out, prefix.Masked().String())
	}
	return out, true
}

// isRestricted reports whether a route refuses any call that reaches it.
func (a *access) isRestricted() bool {
	return len(a.closed) > 0 || a.auth.Mode == contract.Authenticate || len(a.rules.List) > 0 ||
		len(a.ranges.Allow)+len(a.ranges.Deny) > 0
}

// isAsStrict reports whether calls that a route serves would also be served by another.
func (a *access) isAsStrict(other *access) bool {
	if !other.isRestricted() {
		return true
	}
	if len(a.closed) > 0 {
		return true
	}
	if len(other.closed) > 0 {
		return false
	}
	groups := func(a *access) []string {
		if len(a.rules.List) == 0 {
			return nil
		}
		return a.rules.List[0].Groups
	}
	return a.auth.Mode == other.auth.Mode && isEqual(groups(a), groups(other)) &&
		isEqual(a.ranges.Allow, other.ranges.Allow) && isEqual(a.ranges.Deny, other.ranges.Deny)
}

// isEqual reports whether two lists are equal. Those of one plugin are the same, and can be long.
func isEqual(a, b []string) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}
