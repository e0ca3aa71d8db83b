package kong

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
)

// domainRoute returns the route of a custom domain. Kong tries routes with a host before those without, then routes
// with methods before those without, then those with a regular expression by their regex_priority, and then those with
// the path / (kong/router/transform.lua, get_priority). So the length of the prefix as the priority keeps our order.
func domainRoute(e *snapshot.Environment, d *snapshot.Domain) route {
	r := route{
		id:   policy.EntityID(e.ID + ":" + string(bundle.NameForm) + ":" + d.Key()),
		name: "host~" + domainName(d), form: bundle.NameForm, domain: d,
	}
	if d.PathPrefix != "" {
		r.path, r.regex, r.priority = d.PathPrefix, prefixRegex(d.PathPrefix), len(d.PathPrefix)
		r.strip = d.StripPrefix
	}
	return r
}

// unsafeInName are characters of prefixes that names on Kong can't have, or that would let two names be equal.
var unsafeInName = regexp.MustCompile(`[^A-Za-z0-9._/-]`)

// domainName returns a readable Kong name for a custom domain: "api.example.com~orders~~GET~POST". It is unique within
// the project: names of environments don't contain dots.
func domainName(d *snapshot.Domain) string {
	name := d.Host + strings.ReplaceAll(unsafeInName.ReplaceAllString(d.PathPrefix, "-"), "/", "~")
	if len(d.Methods) > 0 {
		name += "~~" + strings.Join(d.Methods, "~")
	}
	if unsafeInName.MatchString(d.PathPrefix) {
		name += "~~~" + policy.EntityID(d.Key())[:8]
	}
	return name
}

// taker returns the custom domain of a project that takes a call; nil if none does.
func taker(p *snapshot.Project, host, method, path string) (out *snapshot.Domain) {
	for i := range p.Versions {
		for j := range p.Versions[i].Environments {
			domains := p.Versions[i].Environments[j].Domains
			for n := range domains {
				d := &domains[n]
				if _, takes := d.Takes(method, path); !takes || d.Host != host {
					continue
				}
				if out == nil || d.ByPrecedence(out) < 0 {
					out = d
				}
			}
		}
	}
	return out
}

// domainsByHost returns the custom domains of a project by their host.
func domainsByHost(p *snapshot.Project) map[string][]*snapshot.Domain {
	out := map[string][]*snapshot.Domain{}
	for i := range p.Versions {
		for j := range p.Versions[i].Environments {
			domains := p.Versions[i].Environments[j].Domains
			for n := range domains {
				out[domains[n].Host] = append(out[domains[n].Host], &domains[n])
			}
		}
	}
	return out
}

// unroutedHosts returns the hosts with calls that no custom domain takes. Routes without a host would take some of
// them on Kong, so such a host has a route for the rest, which the plugin refuses. It belongs to no service, so that
// nothing else answers its calls.
func unroutedHosts(p *snapshot.Project) (hosts []string) {
	byHost := domainsByHost(p)
	for _, host := range slices.Sorted(maps.Keys(byHost)) {
		if !slices.ContainsFunc(byHost[host], func(d *snapshot.Domain) bool {
			return d.PathPrefix == "" && len(d.Methods) == 0
		}) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

func unroutedID(host string) string { return policy.EntityID("unrouted:" + host) }

func unroutedIDs(p *snapshot.Project) (ids []string) {
	for _, host := range unroutedHosts(p) {
		ids = append(ids, unroutedID(host))
	}
	return ids
}

// unrouted writes the routes that belong to no service.
func (c *configWriter) unrouted() {
	hosts := unroutedHosts(c.b.Project)
	if len(hosts) == 0 {
		return
	}
	c.out.Raw(",\n  \"routes\": ")
	c.out.Open("[")
	for _, host := range hosts {
		c.out.Next("    ")
		c.out.Value(routeDoc{
			ID: unroutedID(host), Name: "unrouted~" + host, Protocols: []string{"http", "https"},
			Hosts: []string{host}, Paths: []string{"/"},
		})
	}
	c.out.Raw("\n  ]")
}

const pointName = "Point the domain's DNS record to the exported gateway, and configure a certificate for the domain " +
	"there."

func domainFates() []bundle.Fate {
	return []bundle.Fate{{Reason: "dns", Status: bundle.Skipped, How: "routes accept any host name", Always: true,
		Note: "Records that point domains to the hosted gateway are in your own DNS. The exported gateway accepts " +
			"any host name, with and without the project's name in the path.",
		Remedy: "Point the domains to the exported gateway, and configure certificates for them there."},
		{Reason: "route_host", Status: bundle.Exact, How: "a route with the domain in `hosts`",
			Note:   "The exported gateway also serves the domain, with the same paths: the environment is at /.",
			Remedy: pointName},
		{Reason: "route_part", Status: bundle.Exact,
			How: "a route with the host name in `hosts`, the prefix in `paths` and the methods in `methods`",
			Note: "The exported gateway serves the same calls to the host name, in the same order of precedence, and " +
				"removes " +
				"the prefix if the domain's settings say so. Calls to the host name that no domain matches get 404.",
			Remedy: pointName},
		{Reason: "shared", Status: bundle.Approximate,
			How: "a route with the host name in `hosts`; without the domains of other projects",
			Note: "Other projects have custom domains with the same host name, and this zip contains only this " +
				"project's domains. On the exported gateway, calls that belong to the other projects get 404, or " +
				"reach this project if one of its domains matches too. At worst, calls that are meant for another " +
				"project reach this project's upstream.",
			Remedy: "Also export the other projects, and put a proxy in front of the gateways that sends each path " +
				"to the right gateway."},
		{Reason: "grpc", Status: bundle.Approximate,
			How: "a route with the host name in `hosts`; gRPC calls have their own routes",
			Note: "Another domain with the same host name serves gRPC, and Kong tries routes for gRPC first. At " +
				"worst, a gRPC call that the hosted gateway refuses, because this domain matches it and its " +
				"environment doesn't serve gRPC, is forwarded to the gRPC service.",
			Remedy: "Use a separate host name for the gRPC service."},
		{Reason: "unclaimed", Status: bundle.Approximate, How: "a route with the domain in `hosts`; without the caps",
			Note: "The exported gateway also serves the domain, with the same paths. It forwards calls and " +
				"headers that the hosted gateway refuses or removes because the project is unclaimed. At worst, a " +
				"browser keeps the cookies that the upstream sets for the domain.",
			Remedy: pointName},
	}
}

// judgeDomain returns the verdict on a custom domain.
func judgeDomain(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	v := judgePlace(b, s)
	switch {
	case !b.Project.ExpiresAt.IsZero():
		v.Reason = "unclaimed"
	case s.Domain.Shared:
		v.Reason = "shared"
	case besideGRPC(b, s):
		v.Reason = "grpc"
	case s.Domain.PathPrefix != "" || len(s.Domain.Methods) > 0:
		v.Reason = "route_part"
	default:
		v.Reason = "route_host"
	}
	return v
}

// besideGRPC reports whether another domain with the host has a route for gRPC, and this one
// doesn't.
func besideGRPC(b *bundle.Build, s bundle.Subject) bool {
	own, other := false, false
	for _, pl := range layoutOf(b).places {
		for _, r := range pl.grpc {
			own = own || r.domain == s.Domain
			other = other || r.host() == s.Domain.Host
		}
	}
	return other && !own
}
