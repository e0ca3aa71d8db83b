package imports_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	everything "postern/testkit/sample"
)

// made is a project that a random source described, with its keys, users and relations.
type made struct {
	project *snapshot.Project
	keys    []snapshot.Key
	users   map[string][]snapshot.User // by tenant id

	relations []snapshot.Relation
}

// maker makes projects as the database of an installation could hold them: lists are in the
// order of their queries, and times have microseconds.
type maker struct {
	*rand.Rand
	ids   uint64
	start time.Time
}

func newMaker(seed uint64) *maker {
	start := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	return &maker{Rand: rand.New(rand.NewPCG(seed, 1)), start: start}
}

var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// id returns ids in ascending order.
func (m *maker) id(kind string) string {
	var raw [16]byte
	m.ids++
	binary.BigEndian.PutUint64(raw[:], m.ids<<16)
	binary.BigEndian.PutUint64(raw[8:], m.Uint64())
	return kind + "_" + crockford.EncodeToString(raw[:])
}

func (m *maker) maybe() bool { return m.IntN(2) == 0 }

func (m *maker) moment() time.Time {
	return m.start.Add(time.Duration(m.IntN(1_000_000_000)) * time.Microsecond)
}

func (m *maker) pick(from ...string) string { return from[m.IntN(len(from))] }

func (m *maker) name(of string, n int) string {
	return fmt.Sprintf("%s-%s%d", of, m.pick("a", "bb", "x9", "z-z"), n)
}

// text returns text as people enter it.
func (m *maker) text() string {
	return m.pick("", "plain", "Ünïcode – “quoted”", `<b>&amp;</b>`, "=1+1", "${HOME} $(id) {vault://env/x}",
		"日本語", "a'b\"c")
}

func (m *maker) limits() (out snapshot.Limits) {
	if m.maybe() {
		return out
	}
	for calls, w := int64(1), snapshot.Second; w < snapshot.Windows; w++ {
		if calls += m.Int64N(1000); m.maybe() {
			out[w] = calls
		}
	}
	return out
}

func (m *maker) ranges() (out []netip.Prefix) {
	for range m.IntN(3) {
		out = append(out, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(len(out)), byte(m.IntN(256))}), 24))
	}
	if m.maybe() {
		out = append(out, netip.MustParsePrefix("2001:db8::/32"))
	}
	return out
}

func (m *maker) hash() [32]byte { return sha256.Sum256([]byte(m.id("any"))) }

// build creates a project.
func (m *maker) build() made {
	p := &snapshot.Project{
		ImportedKeys:  true,
		ID:            m.id("prj"),
		Name:          m.name("shop", m.IntN(1000)),
		DisplayName:   m.text(),
		FallbackOwner: m.pick("shop", "the owner"),
		Limits:        snapshot.ProjectLimits{Key: m.limits(), Owner: m.limits(), IP: m.limits(), Project: m.limits()},
		CreatedAt:     m.moment(),
		Revision:      int64(m.IntN(1_000_000) + 1),
		RevisedAt:     m.moment(),
	}
	if m.maybe() {
		p.ProductID, p.Product, p.ProductTitle = m.id("prd"), m.name("suite", 1), m.pick("", "The Suite")
	}
	if m.maybe() {
		p.API.Audience = "https://" + p.Name + ".example"
	}
	for i := range m.IntN(4) {
		p.API.Scopes = append(p.API.Scopes, snapshot.APIScope{
			Name: fmt.Sprintf("orders%d:read", i), Description: m.text(),
		})
	}
	p.CORS = m.cors()
	out := made{project: p, users: map[string][]snapshot.User{}}
	m.keyTypes(p)
	m.versions(p)
	m.tenants(&out)
	m.makeKeys(&out)
	m.losses(p)
	m.relations(&out)
	slices.SortFunc(p.Clients, func(a, b snapshot.AppClient) int { return strings.Compare(a.ID, b.ID) })
	return out
}

func (m *maker) keyTypes(p *snapshot.Project) {
	p.KeyTypes = []snapshot.KeyType{
		{ID: m.id("kty"), Name: "full", Scopes: []string{"*"}, BuiltIn: true},
		{ID: m.id("kty"), Name: "read-only", Scopes: []string{"read"}, BuiltIn: true},
	}
	for i := range m.IntN(4) {
		p.KeyTypes = append(p.KeyTypes, snapshot.KeyType{
			ID:        m.id("kty"),
			Name:      m.name("type", i),
			Scopes:    []string{"orders:*", "a.b-c_d"}[:1+m.IntN(2)],
			ExpiresIn: time.Duration(m.IntN(100)) * time.Hour,
			Limits:    m.limits(),
		})
	}
	slices.SortFunc(p.KeyTypes, func(a, b snapshot.KeyType) int { return strings.Compare(a.Name, b.Name) })
}

func (m *maker) versions(p *snapshot.Project) {
	for i := range 1 + m.IntN(3) {
		v := snapshot.Version{ID: m.id("ver"), Name: fmt.Sprintf("%d.%s", i, m.pick("0", "1-rc", "2_x")),
			Access: m.access()}
		v.Transforms = m.transforms()
		v.Rules = m.rules()
		v.Publication = snapshot.Publication(m.pick("", "callers", "public"))
		if m.maybe() {
			v.OpenAPI = []byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}`)
			v.Validation = snapshot.Validation(m.pick("", "report", "enforce"))
		}
		for j := range 1 + m.IntN(3) {
			v.Environments = append(v.Environments, m.environment(j))
		}
		slices.SortFunc(v.Environments, func(a, b snapshot.Environment) int { return strings.Compare(a.Name, b.Name) })
		p.Versions = append(p.Versions, v)
	}
}

// rules of different methods, so that none are tied.
func (m *maker) rules() snapshot.Rules {
	out := snapshot.Rules{
		Default:         snapshot.RuleDefault(m.pick("allow", "deny")),
		Mode:            snapshot.RuleMode(m.pick("off", "shadow", "enforce")),
		ReadWriteScopes: m.maybe(),
	}
	for _, method := range []string{"GET", "POST", "DELETE", "PATCH"}[:m.IntN(5)] {
		rule := snapshot.Rule{ID: m.id("rul"), Methods: []string{method}, Path: "/orders/{id}/%C3%BC"}
		switch {
		case method == "POST" && m.maybe():
			rule.Remember = "order:{id}/{response.data.0.id}"
		case method == "DELETE" && m.maybe():
			rule.Forget = "order:{id}"
		case m.maybe():
			rule.Owner = "order:{id}"
		default:
			rule.Scopes, rule.Mode = []string{"orders:read"}, snapshot.RuleMode(m.pick("off", "shadow", "enforce"))
		}
		out.List = append(out.List, rule)
	}
	return out
}

func (m *maker) environment(n int) snapshot.Environment {
	e := snapshot.Environment{
		ID: m.id("env"), Name: m.name("env", n), Target: "https://up.example/base" + fmt.Sprint(n),
	}
	if n%2 == 1 {
		e.Upstream.Timeouts = snapshot.UpstreamTimeouts{ResponseMS: new(1 + n), ReuseIdleMS: new(3_600_000)}
		e.Upstream.Retries = snapshot.UpstreamRetries{Max: new(2), On: &[]snapshot.RetryCondition{"504", "timeout"}}
		e.Upstream.CA = snapshot.UpstreamCA{PEM: new(everything.CA), System: new(n%4 == 1)}
		e.Upstream.ServerName, e.Upstream.HostHeader = new("api.internal"), new(contract.HostOfCaller)
	}
	if n%4 == 3 {
		e.Upstream.Targets = []snapshot.UpstreamTarget{
			{URL: e.Target, Weight: new(3)}, {URL: strings.Replace(e.Target, "up", "spare", 1), Weight: new(0)},
		}
		e.Upstream.Balance, e.Upstream.HTTP = new(snapshot.HashHeader+"X-User"), contract.HTTPAuto
		e.Upstream.Checks = snapshot.UpstreamChecks{Path: new("/healthz"), Statuses: []snapshot.StatusRange{"200-299"}}
		e.Upstream.Breaker = snapshot.UpstreamBreaker{Failures: new(9), OpenMS: new(500)}
	}
	if m.maybe() {
		host := strings.ReplaceAll(strings.TrimPrefix(e.ID, "env_"), "_", "-") + ".example.com"
		e.Domains = []snapshot.Domain{everything.DomainAt(host, "/orders", "GET"), everything.DomainAt(host, "")}
		e.Headers = []snapshot.UpstreamHeader{{Name: "X-Secret"}}
		e.Certificate = &snapshot.ClientCertificate{
			Chain: "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n",
		}
	}
	return e
}

func (m *maker) access() snapshot.Access {
	a := snapshot.Access{RequestsAuth: snapshot.RequestsAuth{Mode: snapshot.Passthrough, Keyless: snapshot.Reject}}
	a.IP = snapshot.IPRules{Allow: m.ranges(), Deny: m.ranges()}
	if m.maybe() {
		return a
	}
	a.Mode = snapshot.Authenticate
	for _, method := range []string{snapshot.APIKey, snapshot.JWT, snapshot.Opaque} {
		if m.maybe() {
			a.Methods = append(a.Methods, method)
		}
	}
	if len(a.Methods) == 0 {
		a.Methods = []string{snapshot.APIKey}
	}
	if a.Allows(snapshot.APIKey) && m.maybe() {
		a.Keyless = snapshot.OwnerFallback
	}
	var pairs []snapshot.TokenIssuer
	for i := range m.IntN(3) {
		pairs = append(pairs, snapshot.TokenIssuer{
			Issuer:   fmt.Sprintf("https://idp%d.example", i),
			Audience: "api",
			JWKSURL:  m.pick("", "https://idp.example/keys"),
			Tenant:   m.pick("", snapshot.DefaultTenant),
		})
	}
	if len(pairs) > 0 {
		a.JWT = &snapshot.AllowedPairs{AllowedPairs: pairs}
	}
	if a.Allows(snapshot.Opaque) {
		a.Opaque = &snapshot.Introspection{
			Introspection: contract.Introspection{
				Endpoint: "https://idp.example/introspect",
				Method:   snapshot.SecretPost,
				ClientID: "gateway",
				Audience: m.pick("", "api"),
			},
			HasSecret: m.maybe(),
		}
	}
	return a
}

// tenants gives the project its own tenant, and some of the team's. One that is detached has
// a key, or an export would not have it.
func (m *maker) tenants(to *made) {
	names := []string{"acme", "beta"}[:m.IntN(3)]
	for _, name := range append(names, snapshot.DefaultTenant) {
		t := snapshot.Tenant{ID: m.id("tnt"), Name: name, FallbackOwner: m.pick("", "owner of "+name), CORS: m.cors()}
		if t.Detached = name != snapshot.DefaultTenant && m.maybe(); !t.Detached {
			t.DisplayName = m.text()
			m.people(to, &t)
		}
		to.project.Tenants = append(to.project.Tenants, t)
	}
}

// makeKeys creates keys in every state, and of owners that are users.
func (m *maker) makeKeys(to *made) {
	p := to.project
	var owners []string
	for _, users := range to.users {
		for _, u := range users {
			owners = append(owners, u.ID)
		}
	}
	slices.Sort(owners)
	frozen := map[string]bool{}
	for _, users := range to.users {
		for _, u := range users {
			frozen[u.ID] = u.State == "frozen"
		}
	}
	barred := map[string]bool{}
	for i := range len(p.Tenants)*2 + m.IntN(20) {
		k := m.key(p, p.Tenants[i%len(p.Tenants)])
		if len(owners) > 0 && m.maybe() {
			k.Owner = owners[m.IntN(len(owners))]
			barred[k.Owner] = barred[k.Owner] || frozen[k.Owner] && k.State != snapshot.KeyRevoked
		}
		to.keys = append(to.keys, k)
	}
	for i := range to.keys {
		to.keys[i].OwnerFrozen = barred[to.keys[i].Owner]
	}
	for id, yes := range barred {
		if yes {
			p.Barred = append(p.Barred, snapshot.BarredUser{ID: id})
		}
	}
	slices.SortFunc(p.Barred, func(a, b snapshot.BarredUser) int { return cmp.Compare(a.ID, b.ID) })
}

func (m *maker) key(p *snapshot.Project, t snapshot.Tenant) snapshot.Key {
	of := p.KeyTypes[m.IntN(len(p.KeyTypes))]
	k := snapshot.Key{
		ID:          m.id("key"),
		ProjectID:   p.ID,
		Owner:       m.pick("billing-service", "ana@example.com", "a b"),
		KeyType:     of.Name,
		Scopes:      of.Scopes,
		TenantID:    t.ID,
		Tenant:      t.Name,
		ProductID:   m.pick("", p.ProductID),
		Environment: m.pick("", p.Versions[0].Environments[0].Name, "gone"),
		State:       snapshot.KeyState(m.pick("active", "frozen", "revoked")),
		AllowedIPs:  m.ranges(),
		Hash:        m.hash(),
		KeyDetails: contract.KeyDetails{
			Description: m.text(), Prefix: "pst_prod_", Last4: "aB3x", CreatedAt: m.moment(),
		},
	}
	if m.maybe() {
		limits := m.limits()
		k.Limits = &limits
	}
	if m.maybe() {
		k.Metadata = `{"plan":"gold","n":12345678901234567890}`
		k.Consumer = &contract.Consumer{
			ID: m.pick("", "c-1"), Username: m.pick("ana", "ana b"), CustomID: m.pick("", "7"),
		}
		k.CredentialID = new("5f4dcc3b")
	}
	if m.maybe() {
		k.Prefix, k.Last4 = "", ""
	}
	if m.maybe() {
		old := m.hash()
		k.OldHash, k.GraceEndsAt = &old, m.moment()
	}
	if m.maybe() {
		k.ExpiresAt = m.moment().AddDate(m.IntN(20), 0, 0)
	}
	return k
}

// transforms returns changes to headers in the order in which they are stored.
func (m *maker) transforms() (out snapshot.Transforms) {
	if m.maybe() {
		out.Request = snapshot.Changes{
			Remove: []string{"X-Gone"}, Rename: []string{"X-Old:X-New"}, Add: []string{"X-A:1", "X-B:it's \"quoted\""},
		}
	}
	if m.maybe() {
		out.Query = snapshot.Changes{Rename: []string{"q:query"}, Append: []string{"page:1"}}
	}
	if m.maybe() {
		out.Response = snapshot.Changes{Replace: []string{"X-Powered-By:none"}, Append: []string{"X-A:1", "X-A:2"}}
	}
	if m.maybe() {
		out.RequestBody = snapshot.Changes{Remove: []string{"gone"}, Add: []string{"source:der Laden \u00e4"}}
	}
	if m.maybe() {
		out.ResponseBody.Changes = snapshot.Changes{Rename: []string{"a:b"}, Add: []string{"n:1", "text:1"}}
		if m.maybe() {
			out.ResponseBody.Types.Add = []string{snapshot.JSONNumber, snapshot.JSONString}
		}
	}
	return out
}

// losses adds what an import leaves out.
func (m *maker) losses(p *snapshot.Project) {
	if m.maybe() {
		p.CallSigningKeys = []snapshot.CallSigningKey{{ID: "thumb", Public: make([]byte, 32), SignsFrom: m.start}}
	}
	if m.maybe() {
		p.Webhooks = []snapshot.Webhook{{ID: m.id("whk"), Host: "hooks.example", Events: []string{"key.created"}}}
	}
	if m.maybe() && len(p.Clients) > 0 {
		p.EndedSessions = []string{m.id("ses")}
		p.GroupsLeft = []snapshot.GroupsLeft{{User: m.id("usr"), At: m.start.Unix()}}
		p.Barred = append(p.Barred, snapshot.BarredUser{ID: m.id("usr"), Deleted: true})
	}
}

// cors returns nil for every other project or tenant.
func (m *maker) cors() *snapshot.CORS {
	if m.maybe() {
		return nil
	}
	out := &snapshot.CORS{CORS: contract.CORS{Origins: []string{"*"}, Methods: []string{"GET"}}}
	if m.maybe() {
		out.Origins = []string{"https://app.example", "http://localhost:3000"}[:1+m.IntN(2)]
		out.Headers, out.Credentials = []string{"Content-Type"}, m.maybe()
	}
	if m.maybe() {
		out.MaxAge, out.ExposedHeaders = new(m.IntN(86401)), []string{"ETag"}
	}
	return out
}
