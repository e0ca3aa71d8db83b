package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/access"
	"postern/models"
	"postern/testkit/state"
)

// guard is what a route asks of its caller. Zero statuses mean the usual: not
// found for a stranger; for a viewer forbidden where something changes, else OK;
// for the owner OK, or for a changing form a redirect.
type guard struct {
	open     bool   // to anybody: TestEveryRouteAnswersTheAnonymousAsDeclared says with what
	body     string // JSON on the API, a form on pages, with {code}, {team} and {device}
	own      bool   // about the caller's own account: none of the team's things is asked for
	needs    string // frozen: of the key; ready: of the export; token: one of the owner's; shared: a tenant of the team's; attached: that, served
	nobody   int    // without a credential
	stranger int    // another account, with a team of its own
	key      int    // another workspace's key, where it differs from stranger
	viewer   int
	owner    int
}

// guards declares every route there is.
var guards = map[string]guard{
	"GET /healthz": {open: true}, "HEAD /healthz": {open: true}, "GET /readyz": {open: true}, "GET /metrics": {open: true}, "HEAD /readyz": {open: true}, "GET /static/*file": {open: true}, "HEAD /static/*file": {open: true},
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

	"GET /oauth/:client/.well-known/openid-configuration": {open: true}, "GET /oauth/:client/jwks.json": {open: true}, "POST /oauth/:client/token": {open: true},
	"OPTIONS /oauth/:client/token": {open: true}, "GET /oauth/:client/userinfo": {open: true}, "POST /oauth/:client/userinfo": {open: true},
	"OPTIONS /oauth/:client/userinfo": {open: true}, "GET /oauth/:client/authorize": {open: true}, "POST /oauth/:client/authorize": {open: true},
	"GET /oauth/:client/login/:attempt/:provider": {open: true}, "GET /oauth/:client/callback/:provider": {open: true}, "POST /oauth/:client/consent": {open: true},
	"GET /oauth/:client/logout": {open: true}, "POST /oauth/:client/logout": {open: true}, "GET /oauth/:client/brand.css": {open: true},

	"GET /api/v1/tenants/:tenant/app-clients":    {},
	"POST /api/v1/tenants/:tenant/app-clients":   {body: `{"name":"mobile"}`, owner: 201},
	"GET /api/v1/app-clients/:client":            {},
	"PATCH /api/v1/app-clients/:client":          {body: `{"branding":{"title":"Shop"}}`},
	"DELETE /api/v1/app-clients/:client":         {owner: 204},
	"GET /api/v1/app-clients/:client/providers":  {},
	"POST /api/v1/app-clients/:client/providers": {body: `{"type":"google","client_id":"x"}`, owner: 201},
	"PATCH /api/v1/providers/:provider":          {body: `{"enabled":false}`},
	"DELETE /api/v1/providers/:provider":         {owner: 204},

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
	"DELETE /api/v1/tenants/:tenant":                   {needs: "shared", owner: 204},
	"PUT /api/v1/projects/:project/tenants/:tenant":    {needs: "shared"},
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
	"PUT /api/v1/projects/:project/takedown":           {body: `{"reason":"Phishing"}`, viewer: 404},
	"DELETE /api/v1/projects/:project/takedown":        {needs: "taken", viewer: 404},

	"GET /api/v1/webhooks":                                          {stranger: 200, key: 403},
	"POST /api/v1/webhooks":                                         {body: `{"url":"http://8.8.8.8/hook","team":"{team}"}`, owner: 201},
	"GET /api/v1/webhooks/:webhook":                                 {needs: "webhook"},
	"PATCH /api/v1/webhooks/:webhook":                               {needs: "webhook", body: `{"enabled":false}`},
	"POST /api/v1/webhooks/:webhook/rotate":                         {needs: "webhook"},
	"DELETE /api/v1/webhooks/:webhook":                              {needs: "webhook", owner: 204},
	"GET /api/v1/webhooks/:webhook/deliveries":                      {needs: "webhook"},
	"POST /api/v1/webhooks/:webhook/deliveries/:delivery/redeliver": {needs: "webhook"},
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
