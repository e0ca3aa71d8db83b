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
	"postern/tokens"
)

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
	project, projectName, version, environment, key, export, code, token, webhook, delivery, tenant, client, provider string
	keyType, product                                                                                                  string
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
	has.tenant, has.client, has.provider = o.loginOf(t, created.Project.ID)
	var shared string
	has.keyType, has.product, shared = o.surroundings(t, has.project)
	switch needs {
	case "shared":
		has.tenant = shared
	case "attached":
		has.tenant = shared
		_, err = o.server.Projects.Attach(t.Context(), o.principal, has.project, shared)
	case "token":
		var minted tokens.Minted
		minted, err = o.server.Tokens.Create(t.Context(), o.principal, tokens.New{Name: "ci", Scopes: []string{"read"}})
		has.token = minted.ID
	case "webhook":
		has.webhook, has.delivery, err = o.webhook(t)
	case "frozen":
		_, err = o.server.Keys.Freeze(t.Context(), o.principal, has.key)
	case "taken":
		_, err = o.server.Projects.TakeDown(t.Context(), o.principal, has.project, "Phishing")
	case "ready":
		err = o.server.Exports.Build(t.Context(), has.export, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	return has
}

// surroundings makes the rest that a project can have and returns the ids; the
// tenant is the team's, and not attached.
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
		":key_type", h.keyType, ":product", h.product, ":key", h.key, ":export", h.export, ":code", h.code, ":token", h.token, ":webhook", h.webhook, ":delivery", h.delivery, ":tenant", h.tenant, ":client", h.client, ":provider", h.provider).Replace(route)
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
