package gateway

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway/balance"
	"postern/gateway/engine"
)

// Explain decides a call with the current table, but without a credential's secret. It neither counts nor forwards the
// call. The steps are those of call.decide.
func (g *Gateway) Explain(q policy.Question) policy.Explanation {
	p := g.projectByID(q.ProjectID)
	if p == nil {
		var out policy.Explanation
		out.Deny(policy.ExplainRoute, policy.NoRoute, policy.ExplainRoute)
		return out
	}
	at, denial := g.routeOf(p, &q)
	closed, isClosed := p.ended(g.now())
	if !isClosed && p.takenDown && denial != policy.NoRoute {
		closed, isClosed = policy.ProjectFrozen, true
	}
	out := g.explainAt(at, denial, &q)
	if isClosed {
		exported := out.Exported // neither an end nor a takedown leaves with the project
		out = policy.Explanation{}
		out.Deny(policy.ExplainRoute, closed, policy.ExplainRoute)
		out.Exported = exported
	}
	return out
}

// explainAt explains a call to a route that was found, or the denial of finding it.
func (g *Gateway) explainAt(at route, denial policy.Denial, q *policy.Question) policy.Explanation {
	var out policy.Explanation
	if denial != (policy.Denial{}) {
		out.Deny(policy.ExplainRoute, denial, policy.ExplainRoute)
		return out
	}
	found := "Environment " + at.environment.name + " of version " + at.version.name
	if at.domain != nil {
		found += ", through the custom domain " + at.domain.Address()
		if len(at.domain.Methods) > 0 {
			found += " for " + strings.Join(at.domain.Methods, ", ")
		}
	}
	out.Pass(policy.ExplainRoute, found+", path "+restOf(at)+".")
	call := policy.Call{
		Access:      &at.version.access,
		Realm:       at.project.realm,
		Places:      at.version.places,
		Environment: at.environment.name,
		Former:      at.environment.former,
		Rules:       at.version.rules,
		Method:      q.Method,
		Path:        at.rest,
		Relations:   g.relations(),
		Now:         g.now(),
	}
	if q.KeyHash != nil && call.Access.Allows(snapshot.APIKey) {
		call.KeyLines = 1
		var key snapshot.Key
		if found, old := g.lookUp(at.project.realm, *q.KeyHash, &key); found {
			key.AllowedIPs = nil // a question has no address
			call.Key, call.OldSecret = &key, old
		}
	}
	if q.User != nil && call.Access.TakesTokens() {
		if call.Token = call.Realm.TokenOf(q.User); call.Token == nil {
			call.TokenDenial = policy.TokenTenant
		}
	} else if q.User != nil {
		call.Authorization = "Bearer token"
		if call.Places.ReadsBearer() {
			call.KeyLines++ // an unknown one
		}
	}
	out.Explain(&call)
	if at.isDocument(q.Method) {
		explainDocument(&out, at)
		return out
	}
	if out.Denial == (policy.Denial{}) {
		explainValidation(&out, at, q.Method)
	}
	if out.Denial == (policy.Denial{}) {
		explainForward(&out, at, q.Method, g.now())
	}
	return out
}

// hostNote describes the Host header of calls, if it isn't always the target's.
func hostNote(at route) string {
	switch e := at.environment; {
	case e.hostHeader != "":
		return ", with the Host header " + e.hostHeader
	case e.keepsHost && at.domain != nil:
		return ", with the Host header " + at.domain.Host
	case e.keepsHost:
		return ". Calls to a custom domain keep its name in the Host header"
	}
	return ""
}

// retryNote says when a call is sent again, if that isn't the default.
func retryNote(e *environment, method string) string {
	set := e.retries
	switch {
	case set.max == 0:
		return " It is never retried."
	case set.max == 1 && !set.timeout && len(set.statuses) == 0:
		return ""
	}
	most := " up to " + english.Plural(set.max, "time", "") + "."
	if !engine.IsIdempotent(method) {
		return " If no part of it was sent, it is retried" + most
	}
	when := []string{"the connection ends before a response"}
	if set.timeout {
		when = append(when, "the response doesn't begin in time")
	}
	for _, status := range set.statuses {
		when = append(when, "the status is "+strconv.Itoa(status))
	}
	return " If " + english.OxfordWordSeries(when, "or") + ", it is retried" + most
}

// explainForward names the targets that a call can go to, and the health that this gateway sees.
func explainForward(out *policy.Explanation, at route, method string, now time.Time) {
	e, path := at.environment, policy.JoinTarget(at.environment.path, at.rest)
	if err := e.balance.Available(now); err != nil {
		denial, _ := unavailable(err)
		out.Deny(policy.ExplainForward, denial, policy.ExplainForward)
		return
	}
	if len(e.endpoints) == 1 {
		out.Pass(policy.ExplainForward, "The call is forwarded to "+e.scheme+"://"+e.first().host+path+hostNote(at)+"."+
			retryNote(e, method))
		return
	}
	var text strings.Builder
	text.WriteString("The call is forwarded to one of these targets, with the path " + path + ": ")
	for i, h := range e.balance.Health() {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(e.scheme + "://" + h.Address)
		switch {
		case h.Weight == 0:
			text.WriteString(" (drained)")
		case h.Status != balance.Healthy:
			text.WriteString(" (" + string(h.Status) + ", " + h.Reason + ")")
		}
	}
	text.WriteString(hostNote(at) + "." + retryNote(e, method))
	out.Pass(policy.ExplainForward, text.String())
}

func restOf(at route) string {
	if at.rest == "" {
		return "/"
	}
	return at.rest
}

// routeOf finds the route of a question about a project, or the denial of a call to it.
func (g *Gateway) routeOf(p *project, q *policy.Question) (route, policy.Denial) {
	asked := "/" + q.Version + "/" + q.Environment + q.Path
	if q.Host != "" {
		asked = cmp.Or(q.Path, "/")
	}
	path, err := policy.NormalizePath(asked)
	switch {
	case errors.Is(err, policy.ErrAboveRoot):
		return route{}, policy.BadPath
	case err != nil:
		return route{}, policy.BadRequest
	}
	var at route
	var found bool
	if q.Host == "" {
		at, found = g.table.Load().find(p.name, path)
	} else if at, found = g.table.Load().findHost(bareHost(q.Host), q.Method, path); found {
		found = at.project.id == p.id // the host can also lead to another project
	}
	switch {
	case !found:
		return route{}, policy.NoRoute
	case policy.HidesDotSegment(path):
		return route{}, policy.BadPath
	}
	return at, policy.Denial{}
}

func (g *Gateway) projectByID(id string) *project {
	for _, p := range g.table.Load().projects {
		if p.id == id {
			return p
		}
	}
	return nil
}
