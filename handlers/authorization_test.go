package handlers_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"postern/access"
	"postern/accounts"
	"postern/exports"
	"postern/handlers"
	"postern/models"
	"postern/projects"
	"postern/testkit/state"
	"postern/tokens"
)

// guard is what a route asks of its caller. Zero statuses mean the usual: not
// found for a stranger; for a viewer forbidden where something changes, else OK;
// for the owner OK, or for a changing form a redirect.
type guard struct {
	open     bool   // to anybody: TestEveryRouteAnswersTheAnonymousAsDeclared says with what
	body     string // JSON on the API, a form on pages, with {code}, {team} and {device}
	own      bool   // about the caller's own account: none of the team's things is asked for
	needs    string // frozen: of the key; ready: of the export; token: one of the owner's
	nobody   int    // without a credential
	stranger int    // another account, with a team of its own
	key      int    // another workspace's key, where it differs from stranger
	viewer   int
	owner    int
}

// guards declares every route there is.
var guards = map[string]guard{
	"GET /healthz": {open: true}, "HEAD /healthz": {open: true}, "GET /readyz": {open: true}, "HEAD /readyz": {open: true}, "GET /static/*file": {open: true}, "HEAD /static/*file": {open: true},
	"GET /openapi.json": {open: true}, "GET /openapi.yaml": {open: true}, "GET /openapi-3.0.json": {open: true}, "GET /openapi-3.0.yaml": {open: true},
	"GET /": {open: true}, "GET /signin": {open: true}, "POST /signin": {open: true}, "POST /signout": {open: true}, "POST /theme": {open: true},
	"GET /welcome/:code": {open: true}, "POST /welcome/:code": {open: true},

	// Who holds a code may look at what it claims; only into a team of one's own.
	"GET /claim/:code":  {stranger: 200},
	"POST /claim/:code": {body: "team={team}"},

	"GET /settings/tokens":                {own: true, stranger: 200},
	"POST /settings/tokens":               {own: true, body: "name=ci&scopes=read", stranger: 201, viewer: 201, owner: 201},
	"POST /settings/tokens/:token/revoke": {own: true, needs: "token", viewer: 404},
	"GET /device":                         {own: true, stranger: 200},
	"POST /device":                        {own: true, body: "user_code={device}&decision=approve", stranger: 200, viewer: 200, owner: 200},
	"POST /oauth/device_authorization":    {open: true},
	"POST /oauth/token":                   {open: true},

	"GET /projects":     {stranger: 200},
	"GET /projects/new": {stranger: 200},
	// In the caller's own team, where a stranger is the owner.
	"POST /projects/new":                                {body: "target=http://127.0.0.1:9/moved", stranger: 201, owner: 201},
	"GET /projects/:project":                            {},
	"GET /exports/:export":                              {},
	"POST /projects/:project/settings":                  {body: "display_name=Renamed"},
	"POST /projects/:project/versions/:version/access":  {body: "mode=passthrough&methods=api_key&keyless=reject"},
	"POST /projects/:project/environments/:environment": {body: "target=http://127.0.0.1:9/moved"},
	"POST /projects/:project/keys":                      {body: "owner=billing", owner: 201},
	"GET /projects/:project/keys/:key":                  {},
	"POST /projects/:project/keys/:key/freeze":          {},
	"POST /projects/:project/keys/:key/unfreeze":        {needs: "frozen"},
	"POST /projects/:project/keys/:key/revoke":          {body: "confirm=true"},
	"POST /projects/:project/keys/:key/rotate":          {body: "grace_seconds=0", owner: 200},
	"GET /projects/:project/export":                     {},
	"GET /audit":                                        {stranger: 200, viewer: 403},
	"GET /projects/:project/usage":                      {},
	"GET /projects/:project/requests":                   {},
	"POST /projects/:project/export":                    {body: "format=data"},
	"GET /exports/:export/download":                     {needs: "ready"},
	"POST /exports/:export/cancel":                      {},

	"POST /api/v1/claim":                                        {body: `{"code":"{code}","team":"{team}"}`, key: 403},
	"POST /proxy":                                               {body: `{"target":"http://127.0.0.1:9/moved"}`, nobody: 201, stranger: 201, owner: 201},
	"GET /api/v1/whoami":                                        {own: true, stranger: 200},
	"GET /api/v1/tokens":                                        {own: true, stranger: 200},
	"POST /api/v1/tokens":                                       {own: true, body: `{"name":"ci","scopes":["read"]}`, stranger: 201, key: 403, viewer: 201, owner: 201},
	"DELETE /api/v1/tokens/:token":                              {own: true, needs: "token", viewer: 404, owner: 204},
	"GET /api/v1/projects":                                      {stranger: 200},
	"GET /api/v1/projects/:project":                             {},
	"PATCH /api/v1/projects/:project":                           {body: `{"display_name":"Renamed"}`},
	"PATCH /api/v1/projects/:project/versions/:version":         {body: `{"requests_auth":{"mode":"passthrough"}}`},
	"PATCH /api/v1/projects/:project/environments/:environment": {body: `{"target":"http://127.0.0.1:9/moved"}`},
	"GET /api/v1/projects/:project/key-types":                   {},
	"POST /api/v1/projects/:project/key-types":                  {body: `{"name":"silver","scopes":["read"]}`, owner: 201},
	"PATCH /api/v1/projects/:project/key-types/:key_type":       {body: `{"limits":{"minute":10}}`},
	"DELETE /api/v1/projects/:project/key-types/:key_type":      {owner: 204},
	"GET /api/v1/products":                                      {stranger: 200},
	// In the caller's own team, where a stranger is the owner.
	"POST /api/v1/products":                            {body: `{"name":"store"}`, stranger: 201, owner: 201},
	"GET /api/v1/products/:product":                    {},
	"PATCH /api/v1/products/:product":                  {body: `{"display_name":"Renamed"}`},
	"DELETE /api/v1/products/:product":                 {owner: 204},
	"GET /api/v1/tenants":                              {stranger: 200},
	"POST /api/v1/tenants":                             {body: `{"name":"acme"}`, stranger: 201, owner: 201},
	"GET /api/v1/tenants/:tenant":                      {},
	"PATCH /api/v1/tenants/:tenant":                    {body: `{"display_name":"Renamed"}`},
	"DELETE /api/v1/tenants/:tenant":                   {owner: 204},
	"PUT /api/v1/projects/:project/tenants/:tenant":    {},
	"DELETE /api/v1/projects/:project/tenants/:tenant": {needs: "attached", owner: 204},
	"GET /api/v1/projects/:project/keys":               {},
	"POST /api/v1/projects/:project/keys":              {body: `{"owner":"billing"}`, owner: 201},
	"GET /api/v1/keys/:key":                            {},
	"PATCH /api/v1/keys/:key":                          {body: `{"description":"For the invoices"}`},
	"POST /api/v1/keys/:key/rotate":                    {},
	"POST /api/v1/keys/:key/freeze":                    {},
	"POST /api/v1/keys/:key/unfreeze":                  {needs: "frozen"},
	"POST /api/v1/keys/:key/revoke":                    {},
	"GET /api/v1/projects/:project/exports":            {},
	"GET /api/v1/projects/:project/usage":              {},
	"GET /api/v1/projects/:project/requests":           {},
	"GET /api/v1/audit":                                {stranger: 200, viewer: 403},
	"GET /api/v1/audit/verify":                         {stranger: 200, viewer: 403},
	"POST /api/v1/projects/:project/exports":           {body: `{"format":"data"}`, owner: 202},
	"GET /api/v1/exports/:export":                      {},
	"POST /api/v1/exports/:export/cancel":              {},
	"GET /api/v1/exports/:export/download":             {needs: "ready"},
}

// Whoever may not do it is refused, which leaves one audit entry that says so; who
// may, leaves one with each change, which says what changed.
func TestEveryRouteGuardsWhatExists(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db)
		declared := map[string]bool{}
		for _, route := range o.server.Routes() {
			name := route.Method + " " + route.Path
			want, ok := guards[name]
			declared[name] = true
			if !ok {
				t.Errorf("%s is not declared in this test: say who may ask it", name)
			}
			if ok && !want.open {
				t.Run(name, func(t *testing.T) { o.check(t, want.filled(route.Method, route.Path), route.Method, route.Path) })
			}
		}
		for name := range guards {
			if !declared[name] {
				t.Errorf("%s is declared here and is no route", name)
			}
		}
	})
}

func isAPI(route string) bool { return strings.HasPrefix(route, "/api/") || route == "/proxy" }

func or(status, usual int) int {
	if status != 0 {
		return status
	}
	return usual
}

// filled replaces zero by the usual.
func (g guard) filled(method, route string) guard {
	nobody, viewer, owner := http.StatusUnauthorized, http.StatusOK, http.StatusOK
	if !isAPI(route) {
		nobody = http.StatusSeeOther // to the sign-in page
	}
	if method != http.MethodGet {
		viewer = http.StatusForbidden
		if !isAPI(route) {
			owner = http.StatusSeeOther
		}
	}
	g.nobody, g.viewer, g.owner = or(g.nobody, nobody), or(g.viewer, viewer), or(g.owner, owner)
	g.stranger = or(g.stranger, http.StatusNotFound)
	g.key = or(g.key, g.stranger)
	return g
}

func (o *office) check(t *testing.T, want guard, method, route string) {
	has := o.furnish(t, want.needs)
	type row struct {
		who, path string
		caller    []string
		status    int
	}
	path := has.path(route)
	rows := []row{{"nobody", path, nil, want.nobody}, {"a stranger", path, o.stranger, want.stranger}, {"a viewer", path, o.viewer, want.viewer}}
	if isAPI(route) {
		rows = append(rows, row{"another workspace's key", path, o.otherKey, want.key})
	}
	if strings.Count(route, ":") > 1 {
		below := has
		below.project, below.projectName = o.strangers.project, o.strangers.projectName
		rows = append(rows, row{"a stranger below a project of theirs", below.path(route), o.stranger, http.StatusNotFound})
	}
	for _, r := range rows {
		before := len(o.audit(t))
		got := o.ask(t, method, r.path, o.fill(t, has, want.body), r.caller)
		if got.status != r.status {
			t.Errorf("%s got %d, want %d: %.200q", r.who, got.status, r.status, got.raw)
		}
		if r.status == http.StatusSeeOther && !strings.HasPrefix(got.header.Get("Location"), "/signin") {
			t.Errorf("%s is led to %s, not to the sign-in page", r.who, got.header.Get("Location"))
		}
		known := strings.Contains(r.path, has.project) || strings.Contains(r.path, has.projectName) // answers repeat the address
		if r.who != "a viewer" && !known && (strings.Contains(got.raw, has.project) || strings.Contains(got.raw, has.projectName)) {
			t.Errorf("%s learns of the project: %.200q", r.who, got.raw)
		}
		if want.own {
			continue
		}
		o.checkRefusal(t, r.who, r.status, o.audit(t)[:len(o.audit(t))-before])
	}

	before := o.audit(t)
	got := o.ask(t, method, path, o.fill(t, has, want.body), o.owner)
	if got.status != want.owner || strings.HasPrefix(got.header.Get("Location"), "/signin") {
		t.Fatalf("the owner got %d, want %d: %.200q", got.status, want.owner, got.raw)
	}
	entries := o.audit(t)
	switch added := len(entries) - len(before); {
	case method == http.MethodGet && added != 0:
		t.Errorf("reading left %d audit entries", added)
	case method != http.MethodGet && added != 1:
		t.Errorf("the owner's change left %d audit entries, want 1", added)
	case method != http.MethodGet && (entries[0].Actor != o.principal.Account || entries[0].RequestID == ""):
		t.Errorf("the audit entry does not say who asked in which request: %+v", entries[0])
	case method != http.MethodGet && entries[0].Action != string(access.WorkspaceClaim) && len(entries[0].Changes) == 0:
		t.Errorf("the audit entry does not say what changed: %+v", entries[0])
	}
}

// checkRefusal looks at what the answer to one caller has added to the log of the
// team whose things were asked for.
func (o *office) checkRefusal(t *testing.T, who string, status int, added []models.AuditEntry) {
	t.Helper()
	trespass := who != "nobody" && (status == http.StatusForbidden || status == http.StatusNotFound)
	if who == "another workspace's key" && status == http.StatusForbidden {
		trespass = false // in a workspace of its own
	}
	switch below := who == "a stranger below a project of theirs"; {
	case below && len(added) == 0: // found nothing where they looked
	case !trespass && len(added) != 0:
		t.Errorf("%s was answered %d, and the log of the team says %+v", who, status, added)
	case trespass && (len(added) != 1 || added[0].Outcome != models.OutcomeRefused || added[0].Actor == o.principal.Account ||
		added[0].RequestID == "" || added[0].Detail["code"] == "" || added[0].Detail["route"] == ""):
		t.Errorf("%s was refused, and the log of the team says %+v", who, added)
	}
}

// office is a team with an owner and a viewer, and people outside of it, each
// as the headers that they send.
type office struct {
	db        *models.DB
	server    *handlers.Server
	handler   http.Handler
	team      string
	principal access.Principal // the owner's
	furnished int

	owner, viewer, stranger, otherKey []string
	strangers                         things
}

func newOffice(t *testing.T, db *models.DB) *office {
	t.Helper()
	o := &office{db: db, server: newServer(t, db)}
	o.handler = o.server.Handler()
	code, err := o.server.Accounts.FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	session, err := o.server.Accounts.UseLink(t.Context(), code, accounts.SignUp{Email: "ana@example.com", Name: "Ana", Password: password})
	if err != nil {
		t.Fatal(err)
	}
	ana := o.principalOf(t, session)
	o.owner, o.team, o.principal = cookie(session), ana.HomeTeam, ana
	o.viewer = cookie(o.account(t, "vic", o.team, access.Viewer))

	own := models.Team{ID: models.NewID("team"), Name: "Others", CreatedAt: models.Now()}
	claimed := own.CreatedAt
	own.ClaimedAt = &claimed
	o.insert(t, &own)
	stranger := o.account(t, "sam", own.ID, access.Owner)
	o.stranger = cookie(stranger)
	theirs := o.create(t, o.principalOf(t, stranger), "theirs")
	o.strangers = things{project: theirs.Project.ID, projectName: theirs.Project.Name}
	o.otherKey = []string{"Authorization", "Bearer " + o.create(t, access.Principal{}, "").Workspace.Key}
	return o
}

func cookie(session string) []string { return []string{"Cookie", "postern=" + session} }

func (o *office) principalOf(t *testing.T, session string) access.Principal {
	t.Helper()
	p, err := o.server.Accounts.BySession(t.Context(), session)
	if err != nil || p.Anonymous() {
		t.Fatalf("no principal: %v", err)
	}
	return p
}

// account makes an account with a role in a team, and signs it in.
func (o *office) account(t *testing.T, name, team string, role access.Role) (session string) {
	t.Helper()
	now, session := models.Now(), "session-of-"+name
	until, sum := now.Add(accounts.SessionTTL), sha256.Sum256([]byte(session))
	account := models.Account{ID: models.NewID("acc"), Email: name + "@example.com", Name: name, PasswordHash: "none", CreatedAt: now}
	o.insert(t, &account, &models.Membership{TeamID: team, AccountID: account.ID, Role: string(role), CreatedAt: now},
		&models.Token{ID: models.NewID("ses"), Kind: "session", AccountID: &account.ID, Hash: sum[:], CreatedAt: now, ExpiresAt: &until})
	return session
}

func (o *office) insert(t *testing.T, rows ...any) {
	t.Helper()
	if err := o.db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(rows...) }); err != nil {
		t.Fatal(err)
	}
}

func (o *office) create(t *testing.T, p access.Principal, name string) projects.Created {
	t.Helper()
	created, err := o.server.Projects.Create(t.Context(), p, projects.CreateInput{
		Target: "http://127.0.0.1:9", Name: name, Auth: projects.AuthInput{Mode: "authenticate"}})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func (o *office) audit(t *testing.T) []models.AuditEntry {
	t.Helper()
	entries, err := o.db.Read(t.Context()).AuditOf(o.team, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// things are what the parameters of a route can name. Each route gets its own,
// so that none finds what another has changed.
type things struct {
	project, projectName, version, environment, key, export, code, token string
	keyType, product, tenant                                             string
}

func (o *office) furnish(t *testing.T, needs string) things {
	t.Helper()
	o.furnished++
	created := o.create(t, o.principal, fmt.Sprintf("shop-%d", o.furnished))
	version := created.Project.Versions[0]
	export, err := o.server.Exports.Request(t.Context(), o.principal, created.Project.ID, exports.Wish{Format: "data"})
	if err != nil {
		t.Fatal(err)
	}
	has := things{project: created.Project.ID, projectName: created.Project.Name, version: version.ID, environment: version.Environments[0].ID,
		key: created.Keys["prod"].ID, export: export.ID, code: o.create(t, access.Principal{}, "").Workspace.ClaimCode}
	has.keyType, has.product, has.tenant = o.surroundings(t, has.project)
	switch needs {
	case "attached":
		_, err = o.server.Projects.Attach(t.Context(), o.principal, has.project, has.tenant)
	case "token":
		var minted tokens.Minted
		minted, err = o.server.Tokens.Create(t.Context(), o.principal, tokens.New{Name: "ci", Scopes: []string{"read"}})
		has.token = minted.ID
	case "frozen":
		_, err = o.server.Keys.Freeze(t.Context(), o.principal, has.key)
	case "ready":
		err = o.server.Exports.Build(t.Context(), has.export, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	return has
}

// surroundings makes the rest that a project can have, and returns the ids.
func (o *office) surroundings(t *testing.T, project string) (keyType, product, tenant string) {
	t.Helper()
	kty, err := o.server.Projects.CreateKeyType(t.Context(), o.principal, project, projects.KeyType{Name: "gold", Scopes: []string{"read"}})
	if err != nil {
		t.Fatal(err)
	}
	prd, err := o.server.Projects.CreateProduct(t.Context(), o.principal, fmt.Sprintf("product-%d", o.furnished), "")
	if err != nil {
		t.Fatal(err)
	}
	tnt, err := o.server.Projects.CreateTenant(t.Context(), o.principal, projects.TenantInput{Name: fmt.Sprintf("tenant-%d", o.furnished)})
	if err != nil {
		t.Fatal(err)
	}
	return kty.ID, prd.ID, tnt.ID
}

// path names the project by its id on the API, and by its name on pages.
func (h things) path(route string) string {
	project := h.projectName
	if isAPI(route) {
		project = h.project
	}
	return strings.NewReplacer(":project", project, ":version", h.version, ":environment", h.environment,
		":key_type", h.keyType, ":product", h.product, ":tenant", h.tenant, ":key", h.key, ":export", h.export, ":code", h.code, ":token", h.token).Replace(route)
}

func (o *office) fill(t *testing.T, has things, body string) string {
	t.Helper()
	if strings.Contains(body, "{device}") { // each code is for one decision
		asked, err := o.server.Tokens.Ask(t.Context(), tokens.Ask{Machine: "laptop"})
		if err != nil {
			t.Fatal(err)
		}
		body = strings.ReplaceAll(body, "{device}", asked.UserCode)
	}
	return strings.NewReplacer("{code}", has.code, "{team}", o.team).Replace(body)
}

func (o *office) ask(t *testing.T, method, path, body string, caller []string) answer {
	t.Helper()
	header := caller
	if !isAPI(path) {
		header = append([]string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}, caller...)
	}
	return call(t, o.handler, method, path, "", body, header...)
}
