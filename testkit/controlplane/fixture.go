package controlplane

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/handlers"
	"postern/handlers/web"
	"postern/models"
	"postern/service/access"
	"postern/service/accounts"
	"postern/service/exports"
	"postern/service/projects"
	"postern/service/tokens"
	"postern/views/ui"
)

// Fixture is a team with its people, and people outside of it, each as the headers
// that they send.
type Fixture struct {
	DB        *models.DB
	Server    *handlers.Server
	Handler   http.Handler
	Team      string
	Principal access.Principal // the owner's
	furnished int

	Owner, Outsider, OtherWorkspace []string
	Members                         map[access.Role][]string // in the team
	MemberIDs                       map[access.Role]string   // ids of the others
	OutsiderObjects                 Objects
}

func NewFixture(t *testing.T, db *models.DB) *Fixture {
	t.Helper()
	o := &Fixture{
		DB:        db,
		Server:    NewServer(t, db),
		Members:   map[access.Role][]string{},
		MemberIDs: map[access.Role]string{},
	}
	o.Handler = o.Server.Handler()
	code, err := o.Server.Accounts.FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	session, err := o.Server.Accounts.UseLink(t.Context(), code, accounts.SignUp{
		Email:    "ana@example.com",
		Name:     "Ana",
		Password: Password,
	})
	if err != nil {
		t.Fatal(err)
	}
	ana := o.principalOf(t, session)
	o.Owner, o.Team, o.Principal = cookie(session), ana.HomeTeam, ana
	for name, role := range map[string]access.Role{"mia": access.Member, "vic": access.Viewer} {
		session := o.createAccount(t, name, o.Team, role)
		o.Members[role], o.MemberIDs[role] = cookie(session), o.principalOf(t, session).Account
	}

	own := models.Team{ID: models.NewID("team"), Name: "Others", CreatedAt: models.Now()}
	claimed := own.CreatedAt
	own.ClaimedAt = &claimed
	o.insert(t, &own)
	stranger := o.createAccount(t, "sam", own.ID, access.Owner)
	o.Outsider = cookie(stranger)
	theirs := o.CreateProject(t, o.principalOf(t, stranger), "theirs")
	o.OutsiderObjects = Objects{Project: theirs.Project.ID, ProjectName: theirs.Project.Name, Team: own.ID}
	o.OtherWorkspace = []string{"Authorization", "Bearer " + o.CreateProject(t, access.Principal{}, "").Workspace.Key}
	return o
}

func cookie(session string) []string { return []string{"Cookie", "postern=" + session} }

func (o *Fixture) principalOf(t *testing.T, session string) access.Principal {
	t.Helper()
	p, err := o.Server.Accounts.BySession(t.Context(), session)
	if err != nil || p.Anonymous() {
		t.Fatalf("no principal: %v", err)
	}
	return p
}

// account makes an account with a role in a team, and signs it in.
func (o *Fixture) createAccount(t *testing.T, name, team string, role access.Role) (session string) {
	t.Helper()
	now, session := models.Now(), "session-of-"+name
	until, sum := now.Add(accounts.SessionTTL), sha256.Sum256([]byte(session))
	account := models.Account{
		ID:           models.NewID("acc"),
		Email:        name + "@example.com",
		Name:         name,
		PasswordHash: "none",
		CreatedAt:    now,
	}
	o.insert(t, &account, &models.Membership{TeamID: team, AccountID: account.ID, Role: string(role), CreatedAt: now},
		&models.Token{
			ID:        models.NewID("ses"),
			Kind:      "session",
			AccountID: &account.ID,
			Hash:      sum[:],
			CreatedAt: now,
			ExpiresAt: &until,
		})
	return session
}

func (o *Fixture) insert(t *testing.T, rows ...any) {
	t.Helper()
	if err := o.DB.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(rows...) }); err != nil {
		t.Fatal(err)
	}
}

func (o *Fixture) CreateProject(t *testing.T, p access.Principal, name string) projects.Created {
	t.Helper()
	created, err := o.Server.Projects.Create(t.Context(), p, projects.CreateInput{
		Target: "http://127.0.0.1:9", Name: name, Auth: projects.AuthInput{Mode: "authenticate"}})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// AuditNumbers is how far the log of each team has come.
func (o *Fixture) AuditNumbers(t *testing.T) map[string]int64 {
	t.Helper()
	rows, err := o.DB.SQL().QueryContext(t.Context(), "SELECT team_id, number FROM audit_chains")
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]int64{}
	for rows.Next() {
		var team string
		var number int64
		if err := rows.Scan(&team, &number); err != nil {
			t.Fatal(err)
		}
		numbers[team] = number
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	return numbers
}

// AuditSince lists what came to the log since, of these teams or of all.
func (o *Fixture) AuditSince(t *testing.T, before map[string]int64, teams ...string) (list []models.AuditEntry) {
	t.Helper()
	for team, number := range o.AuditNumbers(t) {
		if number == before[team] || len(teams) > 0 && !slices.Contains(teams, team) {
			continue
		}
		entries, err := o.DB.Read(t.Context()).AuditOf(team, int(number-before[team]))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, entries...)
	}
	return list
}

// Objects are what the parameters of a route can name. Each route gets its own,
// so that none finds what another has changed.
type Objects struct {
	Project, ProjectName, version, environment, Key, export, code string
	Team, account, invitation, invite, session, identity, token   string
	webhook, delivery, Tenant, client, provider                   string
	user, group, child, approval                                  string
	keyType, Product                                              string
}

func (o *Fixture) NewObjects(t *testing.T, needs, route string) Objects {
	t.Helper()
	o.furnished++
	created := o.CreateProject(t, o.Principal, fmt.Sprintf("shop-%d", o.furnished))
	version := created.Project.Versions[0]
	what := exports.Options{Format: "data"}
	export, err := o.Server.Exports.Request(t.Context(), o.Principal, created.Project.ID, what)
	if err != nil {
		t.Fatal(err)
	}
	has := Objects{
		Project:     created.Project.ID,
		ProjectName: created.Project.Name,
		version:     version.ID,
		environment: version.Environments[0].ID,
		Key:         created.Keys["prod"].ID,
		export:      export.ID,
		code:        o.CreateProject(t, access.Principal{}, "").Workspace.ClaimCode,
	}
	has.Tenant, has.client, has.provider = o.CreateAppClient(t, created.Project.ID)
	o.createDirectory(t, &has, needs)
	var shared string
	has.keyType, has.Product, shared = o.createGroupings(t, has.Project)
	switch needs {
	case "shared":
		has.Tenant = shared
	case "attached":
		has.Tenant = shared
		_, err = o.Server.Projects.Attach(t.Context(), o.Principal, has.Project, shared)
	case "token":
		var minted tokens.Minted
		minted, err = o.Server.Tokens.Create(t.Context(), o.Principal, tokens.New{Name: "ci", Scopes: []string{"read"}})
		has.token = minted.ID
	case "frozen":
		_, err = o.Server.Keys.Freeze(t.Context(), o.Principal, has.Key)
	case "webhook":
		has.webhook, has.delivery, err = o.createWebhook(t)
	case "taken":
		_, err = o.Server.Projects.TakeDown(t.Context(), o.Principal, has.Project, "Phishing")
	case "ready":
		err = o.Server.Exports.Build(t.Context(), has.export, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(
		[]string{"team", "invit", "session", ":identity"},
		func(part string) bool { return strings.Contains(route, part) },
	) {
		o.createPeople(t, &has)
	}
	if strings.HasPrefix(route, "/invite/") {
		has.code = has.invite
	}
	return has
}

// surroundings makes the rest that a project can have and returns the ids; the
// tenant is the team's, and not attached.
func (o *Fixture) createGroupings(t *testing.T, project string) (keyType, product, tenant string) {
	t.Helper()
	kty, err := o.Server.Projects.CreateKeyType(t.Context(), o.Principal, project, projects.KeyType{
		Name:   "gold",
		Scopes: []string{"read"},
	})
	if err != nil {
		t.Fatal(err)
	}
	prd, err := o.Server.Projects.CreateProduct(
		t.Context(), o.Principal, projects.ProductInput{Name: fmt.Sprintf("product-%d", o.furnished)},
	)
	if err != nil {
		t.Fatal(err)
	}
	tnt, err := o.Server.Projects.CreateTenant(
		t.Context(), o.Principal, projects.TenantInput{Name: fmt.Sprintf("tenant-%d", o.furnished)},
	)
	if err != nil {
		t.Fatal(err)
	}
	return kty.ID, prd.ID, tnt.ID
}

// people furnishes a team of its own with an owner to spare, somebody to act on
// and an open invitation; and an invitation, a session and a linked sign-in for
// the owner.
func (o *Fixture) createPeople(t *testing.T, has *Objects) {
	t.Helper()
	now := models.Now()
	until, soon := now.Add(accounts.SessionTTL), now.Add(accounts.InvitationTTL)
	team := func() string {
		row := models.Team{ID: models.NewID("team"), Name: "Team", ClaimedAt: &now, CreatedAt: now}
		o.insert(t, &row)
		return row.ID
	}
	person := func() string {
		row := models.Account{ID: models.NewID("acc"), Name: "Tom", CreatedAt: now}
		row.Email = row.ID + "@example.com"
		o.insert(t, &row)
		return row.ID
	}
	invitation := func(team, by string) (id, code string) {
		code = rand.Text()
		sum := sha256.Sum256([]byte(code))
		row := models.Invitation{
			ID:        models.NewID("inv"),
			TeamID:    team,
			Role:      "member",
			CodeHash:  sum[:],
			CreatedBy: by,
			CreatedAt: now,
			ExpiresAt: soon,
		}
		o.insert(t, &row)
		return row.ID, code
	}
	has.Team, has.account = team(), person()
	host := person() // makes the invitations: they would go with the owner, who leaves
	for account, role := range map[string]access.Role{
		o.Principal.Account:        access.Owner,
		host:                       access.Owner,
		has.account:                access.Member,
		o.MemberIDs[access.Member]: access.Member,
		o.MemberIDs[access.Viewer]: access.Viewer,
	} {
		o.insert(t, &models.Membership{TeamID: has.Team, AccountID: account, Role: string(role), CreatedAt: now})
	}
	has.invitation, _ = invitation(has.Team, host)
	elsewhere := team()
	o.insert(t, &models.Membership{TeamID: elsewhere, AccountID: host, Role: string(access.Owner), CreatedAt: now})
	_, has.invite = invitation(elsewhere, host)
	sum := sha256.Sum256([]byte(has.Team))
	session := models.Token{
		ID:        models.NewID("ses"),
		Kind:      "session",
		AccountID: &o.Principal.Account,
		Hash:      sum[:],
		CreatedAt: now,
		ExpiresAt: &until,
	}
	identity := models.LinkedAccount{
		ID:        models.NewID("idn"),
		AccountID: o.Principal.Account,
		Issuer:    "https://id.example",
		Subject:   has.Team,
		CreatedAt: now,
		SeenAt:    now,
	}
	o.insert(t, &session, &identity)
	has.session, has.identity = session.ID, identity.ID
}

// Path names the project by its id on the API, and by its name on pages.
func (h Objects) Path(route string) string {
	project := h.ProjectName
	if IsAPI(route) {
		project = h.Project
	}
	if strings.HasPrefix(route, "/account/") {
		h.provider = "github"
	}
	id := strings.NewReplacer(
		"/Users/:id", "/Users/"+h.user, "/Groups/:id", "/Groups/"+h.group, "/Schemas/:id",
		"/Schemas/urn:ietf:params:scim:schemas:core:2.0:User", "/ResourceTypes/:id", "/ResourceTypes/User",
	)
	return strings.NewReplacer(
		":user", h.user, ":group", h.group, ":child", h.child, ":approval", h.approval, ":project", project,
		":version", h.version, ":environment", h.environment, ":key_type", h.keyType, ":product", h.Product,
		":key", h.Key, ":export", h.export, ":code", h.code, ":team", h.Team, ":account", h.account,
		":invitation", h.invitation, ":session", h.session, ":identity", h.identity, ":tenant", h.Tenant,
		":client", h.client, ":provider", h.provider, ":token", h.token, ":webhook", h.webhook, ":delivery",
		h.delivery,
	).Replace(
		id.Replace(route),
	)
}

func (o *Fixture) FillBody(t *testing.T, has Objects, body string) string {
	t.Helper()
	if strings.Contains(body, "{device}") { // each code is for one decision
		asked, err := o.Server.Tokens.Ask(t.Context(), tokens.Ask{Machine: "laptop"})
		if err != nil {
			t.Fatal(err)
		}
		body = strings.ReplaceAll(body, "{device}", asked.UserCode)
	}
	return strings.NewReplacer(
		"{code}", has.code, "{tenant}", has.Tenant, "{team}", o.Team, "{invite}", has.invite, "{product}",
		fmt.Sprintf("product-%d", o.furnished), "{name}", fmt.Sprintf("new-%d", o.furnished), "{group}",
		has.group, "{child}", has.child, "{number}", fmt.Sprint(o.furnished),
	).Replace(
		body,
	)
}

func (o *Fixture) Do(t *testing.T, method, path, body string, caller []string) Response {
	t.Helper()
	header := caller
	if !IsAPI(path) {
		header = append([]string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}, caller...)
		if method == http.MethodPost {
			_, session, _ := strings.Cut(strings.Join(caller, " "), cookie("")[1])
			body += "&" + ui.NonceField + "=" + web.FormNonce(session, path, "") // in any state
		}
	}
	return Call(t, o.Handler, method, path, "", body, header...)
}
