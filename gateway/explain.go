package gateway

import (
	"postern/core/policy"
	"postern/core/snapshot"
)

// Explain decides a call by the table that is served, without a credential's secret, without counting
// it and without forwarding it. The steps are those of call.decide.
func (g *Gateway) Explain(q policy.Question) policy.Explanation {
	var out policy.Explanation
	at, denial := g.routeOf(&q)
	if denial != (policy.Denial{}) {
		out.Deny(policy.ExplainRoute, denial, policy.ExplainRoute)
		return out
	}
	out.Pass(policy.ExplainRoute, "Environment "+at.environment.name+" of version "+at.version.name+", path "+
		restOf(at)+".")
	call := policy.Call{
		Access:      &at.version.access,
		Realm:       at.project.realm,
		Environment: at.environment.name,
		Former:      at.environment.former,
		Rules:       at.version.rules,
		Method:      q.Method,
		Path:        at.rest,
		Now:         g.now(),
	}
	if q.KeyHash != nil && call.Access.Allows(snapshot.APIKey) {
		call.KeyLines = 1
		var key snapshot.Key
		if found, old := g.keys.Lookup(*q.KeyHash, &key); found {
			key.AllowedIPs = nil // a question has no address
			call.Key, call.OldSecret = &key, old
		}
	}
	if q.User != nil && call.Access.TakesTokens() {
		if call.Token = call.Realm.TokenOf(q.User); call.Token == nil {
			call.TokenDenial = policy.TokenTenant
		}
	}
	out.Explain(&call)
	if out.Denial == (policy.Denial{}) {
		out.Pass(policy.ExplainForward, "To "+at.environment.scheme+"://"+at.environment.host+
			policy.JoinTarget(at.environment.path, at.rest)+".")
	}
	return out
}

func restOf(at route) string {
	if at.rest == "" {
		return "/"
	}
	return at.rest
}

// routeOf finds what a question is about, or the denial of a call to it.
func (g *Gateway) routeOf(q *policy.Question) (route, policy.Denial) {
	table := g.table.Load()
	for _, p := range table.projects {
		if p.id != q.ProjectID {
			continue
		}
		if denial, ended := p.ended(g.now()); ended {
			return route{}, denial
		}
		path, err := policy.NormalizePath("/" + q.Version + "/" + q.Environment + q.Path)
		if err != nil {
			return route{}, policy.BadPath
		}
		at, found := table.find(p.name, path)
		switch {
		case !found:
			return route{}, policy.NoRoute
		case p.takenDown:
			return route{}, policy.ProjectFrozen
		case policy.HidesDotSegment(path):
			return route{}, policy.BadPath
		}
		return at, policy.Denial{}
	}
	return route{}, policy.NoRoute
}
