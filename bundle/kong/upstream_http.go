package kong

import (
	"slices"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
)

// grpcContent matches the Content-Type of gRPC, and not that of gRPC-Web. A route with it comes before those with a
// host alone, which take all other calls.
const grpcContent = "~*^application/grpc($|[+;])"

// grpcRoutes returns the routes of gRPC calls to an environment's custom domains. They belong to another service,
// because Kong calls the upstream of a service either with HTTP/1.1 or with HTTP/2. Kong's services for gRPC have no
// base path, and don't verify certificates (kong/db/schema/entities/services.lua).
func grpcRoutes(e *snapshot.Environment) (out []route) {
	up, err := parseTarget(e.Target)
	if err != nil || e.Upstream.Stated().HTTP != contract.HTTP2 || up.protocol != "http" || up.path != nil {
		return nil
	}
	for i := range e.Domains {
		d := &e.Domains[i]
		if d.PathPrefix != "" && d.StripPrefix || len(d.Methods) > 0 && !slices.Contains(d.Methods, "POST") {
			continue // no call of gRPC is one of the domain's, or the gateway refuses it
		}
		r := domainRoute(e, d)
		r.id = policy.EntityID(e.ID + ":" + string(bundle.NameForm) + ":grpc:" + d.Key())
		r.name = "grpc~" + domainName(d)
		if len(d.Methods) > 0 { // Kong takes no methods here, so the priority keeps the order
			r.priority += methodsFirst
			if r.regex == "" {
				r.regex = "~/"
			}
		}
		out = append(out, r)
	}
	return out
}

// methodsFirst is more than the length of any prefix.
const methodsFirst = 1000

// grpcService returns the service of an environment's gRPC calls.
func grpcService(pl place, up upstream) serviceDoc {
	timeouts := timeoutsOf(pl.environment)
	doc := serviceDoc{
		ID:       policy.EntityID(pl.environment.ID + ":grpc"),
		Name:     "grpc~" + entityName("/"+pl.version.Name+"/"+pl.environment.Name),
		Protocol: "grpc", Host: serviceHost(pl.environment, up), Port: up.port,
		Retries:        *pl.environment.Upstream.Retries.Stated().Max,
		ConnectTimeout: timeouts.connect, ReadTimeout: timeouts.read, WriteTimeout: timeouts.write,
	}
	for _, r := range pl.grpc {
		doc.Routes = append(doc.Routes, routeDoc{
			ID: r.id, Name: r.name, Protocols: []string{"grpc", "grpcs"}, Hosts: []string{r.host()}, Paths: r.paths(),
			RegexPriority: r.priority, Headers: map[string][]string{"content-type": {grpcContent}},
			Plugins: aclOf(pl.version),
		})
	}
	return doc
}

// proxyListen returns where Kong listens for calls. Callers of gRPC need HTTP/2.
func proxyListen(p *snapshot.Project) string {
	if slices.ContainsFunc(newLayout(p).places, func(pl place) bool { return len(pl.grpc) > 0 }) {
		return "0.0.0.0:8000 http2"
	}
	return "0.0.0.0:8000"
}

func httpFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "grpc", Status: bundle.Approximate, How: "a service with the protocol grpc for the custom domains",
			Note: "Kong forwards gRPC calls on custom domains over HTTP/2, and all other calls over HTTP/1.1. When " +
				"it refuses a gRPC call, it sends a gRPC status that differs from the hosted gateway's for the " +
				"errors 410, 413 and 502. At worst, other calls get 502 because the upstream accepts only HTTP/2.",
			Remedy: "If callers make non-gRPC calls, have the upstream also accept HTTP/1.1."},
		{Reason: "http1", Status: bundle.Lossy, How: "not available",
			Note: "Kong calls this upstream over HTTP/1.1. Only gRPC on custom domains can be forwarded over HTTP/2, " +
				"and only to an http target without a path, because Kong doesn't verify gRPC upstream certificates. " +
				"At worst, every call gets 502 because the upstream accepts only HTTP/2, and gRPC isn't served.",
			Remedy: "Have the upstream also accept HTTP/1.1. For gRPC, add a custom domain, use an http target " +
				"without a path, and export again."},
		{Reason: "auto", Status: bundle.Approximate, How: "not available",
			Note: "Kong calls this upstream over HTTP/1.1, even if it offers HTTP/2. At worst, calls get 502 because " +
				"the upstream doesn't accept HTTP/1.1.",
			Remedy: "Have the upstream accept HTTP/1.1."},
	}
}

func judgeHTTP(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	found := layoutOf(b).of(s)
	switch {
	case s.Environment.Upstream.HTTP == contract.HTTPAuto:
		return bundle.Verdict{Reason: "auto"}
	case len(found) == 0 || len(found[0].grpc) == 0:
		return bundle.Verdict{Reason: "http1"}
	}
	return bundle.Verdict{Reason: "grpc", Target: bundle.At(gatewayFile, "/services/%d", found[0].grpcIndex)}
}
