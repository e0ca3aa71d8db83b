package gateway

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway/balance"
	"postern/gateway/engine"
)

// table is the routing table at one revision. It is immutable once it is published.
type table struct {
	projects  map[string]*project
	compiled  map[*snapshot.Project]*project
	pools     map[string]*engine.Pool // by project id
	upstreams map[upstreamKey]*engine.Upstream
	balances  map[string]*balance.Group // by environment id
	health    map[string]*health        // by environment id
	carried   map[string]*allowance     // by project id
	bodies    map[bodiesOf]*bodyMemory
	clients   map[string]*snapshot.AppClient // of all projects, by issuer
	hosts     map[string]*site               // by host name of a customer, in lowercase
	described map[describedAs]*description

	validators *validators // of all tables
}

// upstreamKey identifies the calls that share connections to an upstream. Projects share no
// connections: surplus bytes after one response would be read as the response to another
// team's call.
//
// Environments with a client certificate share them only with environments that present the
// same one, and those that trust other authorities or require another name only with their like. Environments with
// other timeouts don't share them, because some timeouts are those of connections.
type upstreamKey struct {
	projectID, scheme, host, certificate, trust string

	timeouts engine.Timeouts
	http     snapshot.UpstreamHTTP
}

func keyOf(projectID string, e *environment, host string) upstreamKey {
	return upstreamKey{projectID, e.scheme, host, e.proof.fingerprint(), e.trust.id(), e.timeouts, e.http}
}

// connector creates the connection pool of a project and the upstreams in it.
type connector struct {
	unsealer Unsealer // nil: projects with upstream credentials do not compile
	bodies   int64    // most bytes of one project
	compiled *validators
	pool     func() *engine.Pool
	upstream func(pool *engine.Pool, e *environment, host string) *engine.Upstream
	now      func() time.Time
}

type project struct {
	id, name string
	realm    *policy.Realm
	expires  time.Time // zero: never
	term     *term     // of an unclaimed project; nil: claimed
	versions []version

	pool      *engine.Pool
	allowance *allowance // nil: not capped
	bodies    *bodyMemory
	takenDown bool
	deleted   bool
	signer    *signer             // nil: its calls are not signed
	cors      *policy.ProjectCORS // nil: left to the upstream
}

type version struct {
	id, name      string
	access        snapshot.Access
	places        *policy.KeyPlaces     // where its keys travel; nil: in X-API-Key
	rules         *policy.Rules         // nil: none
	routes        *policy.Routes        // nil: all calls have one route
	introspectors *policy.Introspectors // that its tokens are checked with; nil: none
	answers       *headerChanges        // nil: responses are not transformed
	query         *queryChanges         // nil: queries are not transformed
	description   *description          // nil: the gateway does nothing with its document
	bodies        *bodyChanges          // nil: requests' bodies are not transformed
	answerBodies  *objectChanges        // nil: responses' bodies are not transformed
	environments  []environment
}

// route is the environment that a call's address resolves to.
type route struct {
	project     *project
	version     *version
	environment *environment
	prefix      string           // the matched part of the path, for X-Forwarded-Prefix; "": none
	rest        string           // the part that is forwarded
	table       *table           // that it was found in; nil once the call is decided
	domain      *snapshot.Domain // that it was found by; nil: none
}

// Client returns the app client with that issuer, of this or another project, because tokens of other projects have to
// be recognized to be refused. It implements policy.AppClients.
func (r *route) Client(issuer string) *snapshot.AppClient {
	if client := r.project.realm.Client(issuer); client != nil {
		return client
	}
	return r.table.clients[issuer]
}

// find resolves a normalized path within the project of that name, or, for "", within the
// project that the first segment of the path names. If only the project is found, it returns
// a route to that alone, and false.
func (t *table) find(name, path string) (route, bool) {
	rest := path
	if name == "" {
		var ok bool
		if name, rest, ok = policy.NextSegment(path); !ok {
			return route{}, false
		}
	}
	p := t.projects[name]
	if p == nil {
		return route{}, false
	}
	versionName, envName, rest, ok := policy.SplitPath(rest)
	if !ok {
		return route{project: p}, false
	}
	for i := range p.versions {
		v := &p.versions[i]
		if v.name != versionName {
			continue
		}
		for j := range v.environments {
			if e := &v.environments[j]; e.name == envName {
				return route{
					project:     p,
					version:     v,
					environment: e,
					prefix:      matchedPrefix(path, rest),
					rest:        rest,
					table:       t,
				}, true
			}
		}
	}
	return route{project: p}, false
}

// matchedPrefix returns the part of path before rest, with the slash after the environment:
// Kong reports the whole match of the route's expression, which ends in (?:/|$)
// (kong/router/atc.lua, get_result("http.path")).
func matchedPrefix(path, rest string) string {
	if rest == "" {
		return path
	}
	return path[:len(path)-len(rest)+1]
}

// projectLabel returns the label of host before the domain, "" if there is not exactly one.
func projectLabel(domain, host string) string {
	label, ok := strings.CutSuffix(host, domain)
	if !ok || len(label) < 2 || label[len(label)-1] != '.' {
		return ""
	}
	if label = label[:len(label)-1]; strings.IndexByte(label, '.') >= 0 {
		return ""
	}
	return label
}

// isOwnHost reports whether host is the gateway's own: its domain, the host of its URL,
// localhost, or the address that the caller connected to. Any loopback address counts, for
// machines that forward a port to this one.
func (g *Gateway) isOwnHost(host string, conn *connInfo) bool {
	switch host {
	case "", "localhost", g.domain, g.host, conn.localHost:
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.Zone() == "" && (addr.IsLoopback() || addr.Unmap() == conn.local)
}

// bareHost returns a Host line without port and trailing dot, in lowercase, as nginx's
// $host.
func bareHost(host string) string {
	if strings.HasPrefix(host, "[") {
		if end := strings.IndexByte(host, ']'); end >= 0 {
			host = host[:end+1]
		}
	} else if colon := strings.IndexByte(host, ':'); colon >= 0 {
		host = host[:colon]
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// RefusedError is the error of Publish for a project that doesn't compile.
type RefusedError struct {
	project *snapshot.Project
	cause   error
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("compile project %s (%s): %v", e.project.Name, e.project.ID, e.cause)
}

// Unwrap returns the cause.
func (e *RefusedError) Unwrap() error { return e.cause }

// ProjectID returns the id of the project, so that the others can be published without it.
func (e *RefusedError) ProjectID() string { return e.project.ID }

// compile returns the table of projects. It reuses projects of last whose snapshot is the
// same pointer, and upstreams whose project and address are the same; connect creates the
// others.
func compile(projects []*snapshot.Project, last *table, caps *Caps, connect connector) (*table, error) {
	next := &table{
		projects:  make(map[string]*project, len(projects)),
		compiled:  make(map[*snapshot.Project]*project, len(projects)),
		pools:     make(map[string]*engine.Pool, len(last.pools)),
		upstreams: make(map[upstreamKey]*engine.Upstream, len(last.upstreams)),
		balances:  make(map[string]*balance.Group, len(last.balances)),
		health:    make(map[string]*health, len(last.health)),
		carried:   make(map[string]*allowance, len(last.carried)),
		bodies:    make(map[bodiesOf]*bodyMemory, len(last.bodies)),
		clients:   make(map[string]*snapshot.AppClient, len(last.clients)),
		hosts:     make(map[string]*site, len(last.hosts)),
		described: make(map[describedAs]*description, len(last.described)),

		validators: connect.compiled,
	}
	for _, s := range projects {
		p := last.compiled[s]
		if p == nil {
			var err error
			if p, err = compileProject(s, caps, connect, next, last); err != nil {
				return nil, &RefusedError{s, err}
			}
		}
		if other := next.projects[p.name]; other != nil {
			return nil, &RefusedError{s, fmt.Errorf("its name is taken by %s", other.id)}
		}
		next.projects[p.name], next.compiled[s], next.pools[p.id] = p, p, p.pool
		if p.allowance != nil {
			next.carried[p.id] = p.allowance
		}
		next.bodies[bodiesOfProject(s, caps)] = p.bodies
		next.addHosts(s, p)
		for i := range s.Clients {
			next.clients[s.Clients[i].Issuer] = &s.Clients[i]
		}
		for i := range p.versions {
			if d := p.versions[i].description; d != nil {
				next.described[d.as] = d
			}
			for j := range p.versions[i].environments {
				e := &p.versions[i].environments[j]
				next.balances[e.id], next.health[e.id] = e.balance, e.health
				for _, to := range e.endpoints {
					next.upstreams[keyOf(p.id, e, to.host)] = to.upstream
				}
			}
		}
	}
	next.orderHosts()
	return next, nil
}

func compileProject(s *snapshot.Project, caps *Caps, connect connector, next, last *table) (*project, error) {
	if s.Name == "" || s.ID == "" {
		return nil, fmt.Errorf("name or id is missing")
	}
	p := &project{
		id:        s.ID,
		name:      s.Name,
		realm:     policy.NewRealm(s),
		expires:   s.ExpiresAt,
		term:      newTerm(s.ExpiresAt),
		takenDown: s.TakenDown,
		deleted:   s.Deleted,
		cors:      policy.NewProjectCORS(s),
	}
	if p.pool = last.pools[s.ID]; p.pool == nil {
		p.pool = connect.pool()
	}
	whose, most := bodiesOfProject(s, caps), connect.bodies
	if p.term != nil && caps != nil {
		most = min(most, caps.Bodies)
		caps.lower(&p.realm.Limits)
		p.allowance = cmp.Or(last.carried[s.ID], &allowance{})
	}
	if p.bodies = cmp.Or(next.bodies[whose], last.bodies[whose]); p.bodies == nil {
		p.bodies = newBodyMemory(most, sharesOfTeam)
	}
	var err error
	if p.signer, err = compileSigner(s, connect.unsealer); err != nil {
		return nil, err
	}
	for _, v := range s.Versions {
		if err := checkAccess(v.Access, s.FallbackOwner); err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Name, err)
		}
		rules, err := policy.CompileRules(&v.Rules)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Name, err)
		}
		out := version{id: v.ID, name: v.Name, access: v.Access, rules: rules, routes: policy.CompileRoutes(&v)}
		if v.Access.Allows(snapshot.APIKey) {
			out.places = policy.CompileKeyPlaces(v.Access.APIKey)
		}
		if out.description, err = compileDescription(s, &v, next, last); err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Name, err)
		}
		out.answers = compileChanges(policy.ResponseChanges(&v.Transforms))
		out.query = compileQueryChanges(v.Transforms.Query)
		out.bodies = compileBodyChanges(v.Transforms.RequestBody)
		out.answerBodies = compileAnswerChanges(v.Transforms.ResponseBody)
		out.introspectors = policy.NewIntrospectors(s, v.ID, &out.access)
		for _, e := range v.Environments {
			env, err := compileEnvironment(s, p, e, connect, next, last)
			if err != nil {
				return nil, fmt.Errorf("version %s, environment %s: %w", v.Name, e.Name, err)
			}
			env.changes = compileChanges(policy.RequestChanges(&v.Transforms, e.Headers))
			out.environments = append(out.environments, env)
		}
		p.versions = append(p.versions, out)
	}
	return p, nil
}

// checkAccess returns an error for a policy that this gateway cannot enforce. Skipping an unknown policy would open
// routes that are meant to be closed.
func checkAccess(a snapshot.Access, fallbackOwner string) error {
	switch {
	case a.Mode != snapshot.Passthrough && a.Mode != snapshot.Authenticate:
		return fmt.Errorf("unknown mode %q", a.Mode)
	case a.Keyless != snapshot.Reject && a.Keyless != snapshot.OwnerFallback:
		return fmt.Errorf("unknown keyless %q", a.Keyless)
	case a.Keyless == snapshot.OwnerFallback && fallbackOwner == "":
		return fmt.Errorf("keyless %q without a fallback owner", a.Keyless)
	case a.Mode == snapshot.Authenticate && len(a.Methods) == 0:
		return fmt.Errorf("mode %q without a method", a.Mode)
	}
	for _, m := range a.Methods {
		switch {
		case m == snapshot.Opaque && a.Introspection().Endpoint == "":
			return fmt.Errorf("method %q without an endpoint", m)
		case m != snapshot.APIKey && m != snapshot.JWT && m != snapshot.Opaque:
			return fmt.Errorf("method %q is not enforced here", m)
		}
	}
	return nil
}

// ended returns the denial of all calls to a project that has ended at the given time: its team deleted it, or it was
// never claimed.
func (p *project) ended(now time.Time) (policy.Denial, bool) {
	switch {
	case p.deleted:
		return policy.Deleted, true
	case !p.expires.IsZero() && !p.expires.After(now):
		return policy.ExpiredProxy, true
	}
	return policy.Denial{}, false
}
