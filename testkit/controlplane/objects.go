package controlplane

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/movein"
	"postern/core/snapshot"
	"postern/service/access"
	"postern/service/exports"
	"postern/service/projects"
	"postern/service/tokens"
	"postern/testkit"
)

// Objects has the ids of what the parameters of a route can name. Each route gets its
// own, so that no route finds what another one has changed.
type Objects struct {
	Project, ProjectName, version, environment, Key, Export, code string
	Team, account, invitation, invite, session, identity, token   string
	webhook, delivery, Tenant, client, provider, mapping          string
	user, group, child, approval                                  string
	keyType, Product, userSession, domain, apiScope, entry        string
	plan                                                          string

	sharedTenant string // of the team, not attached to the project
}

// NewObjects creates a project of the owner, and what else the parameters of the route
// name. needs is the state that the object must be in:
//
//	frozen       the key is frozen
//	frozen client      the app client is frozen
//	ready        the export is built
//	taken        the project is taken down
//	applied      the import was applied
//	approved     the host name is verified by an operator
//	two versions       the project has a second version
//	two environments   the version has a second environment, and no key is limited to the first
//	deleted      the project is in the trash
//	token        the owner has an access token
//	webhook      the team has a webhook with a delivery
//	shared       the tenant is a tenant of the team
//	attached     the tenant is a tenant of the team, attached to the project
//	frozen user  the user is frozen
//	member       the user is a member of the group
//	signed in    the user has a session at the app client, and agreed to its scopes
//	nested       the child is nested in the group
func (o *Fixture) NewObjects(t testing.TB, needs, route string) Objects {
	t.Helper()
	return o.createObjects(t, needs, route, false)
}

// NewAllObjects is NewObjects with all kinds of objects, for pages that list them.
func (o *Fixture) NewAllObjects(t testing.TB, needs, route string) Objects {
	t.Helper()
	return o.createObjects(t, needs, route, true)
}

func (o *Fixture) createObjects(t testing.TB, needs, route string, all bool) Objects {
	t.Helper()
	o.number++
	created := o.CreateProject(t, o.Principal, fmt.Sprintf("shop-%d", o.number))
	version := created.Project.Versions[0]
	has := Objects{
		Project:     created.Project.ID,
		ProjectName: created.Project.Name,
		version:     version.ID,
		environment: version.Environments[0].ID,
		Key:         created.Keys["prod"].ID,
	}
	about := func(words ...string) bool {
		for _, word := range words {
			if all || strings.Contains(strings.ToLower(route), word) {
				return true
			}
		}
		return false
	}
	if about("claim", ":code") {
		has.code = o.CreateProject(t, access.Principal{}, "").Workspace.ClaimCode
	}
	if about(":export") {
		export, err := o.Server.Exports.Request(t.Context(), o.Principal, has.Project, exports.Options{Format: "data"})
		must(t, err)
		has.Export = export.ID
	}
	if about("tenant", "login", ":client", ":provider", "user", "group", "approval") {
		has.Tenant, has.client, has.provider = o.CreateAppClient(t, has.Project)
	}
	if about("user", "group", "approval") {
		o.createDirectory(t, &has, needs)
	}
	if about(":mapping") {
		has.mapping = o.createGroupMapping(t, has.provider, has.group)
	}
	if about("versions/:version/openapi") {
		o.setOpenAPI(t, &has)
	}
	if strings.Contains(route, ":import") && slices.Contains([]string{"", "applied", "webhook"}, needs) {
		has.plan = o.createPlan(t, needs)
	}
	if about(":domain") {
		has.domain = o.createDomain(t, has.Project)
	}
	if about("api-scopes") {
		has.apiScope = o.createAPIScope(t, has.Project)
	}
	if about(":key_type") {
		has.keyType = o.createKeyType(t, has.Project)
	}
	if about("product") {
		has.Product = o.createProduct(t)
	}
	if about(":entry") {
		entries, err := o.DB.Read(t.Context()).AuditOf(o.Team, 1)
		must(t, err)
		has.entry = entries[0].ID
	}
	if all || needs == "shared" || needs == "attached" {
		has.sharedTenant = o.createTenant(t)
	}
	if strings.Contains(route, "team") || strings.Contains(route, "invit") || strings.Contains(route, "session") ||
		strings.Contains(route, ":identity") {
		o.createPeople(t, &has)
	}
	if strings.HasPrefix(route, "/invite/") {
		has.code = has.invite
	}
	o.prepare(t, &has, needs)
	return has
}

// prepare brings the objects into the state that the route needs.
func (o *Fixture) prepare(t testing.TB, has *Objects, needs string) {
	t.Helper()
	var err error
	project := contract.ProjectPath{Project: has.Project}
	switch needs {
	case "shared":
		has.Tenant = has.sharedTenant
	case "attached":
		has.Tenant = has.sharedTenant
		_, err = o.Server.Projects.Attach(t.Context(), o.Principal, contract.Attachment(has.Project, has.Tenant))
	case "token":
		var minted contract.TokenWithSecret
		minted, err = o.Server.Tokens.Create(t.Context(), o.Principal, contract.TokenCreation{
			Body: contract.NewToken{Name: "ci", Scopes: []string{"read"}},
		})
		has.token = minted.ID
	case "frozen":
		_, err = o.Server.Keys.Freeze(t.Context(), o.Principal, contract.KeyPath{Key: has.Key})
	case "frozen client":
		_, err = o.Server.AppClients.FreezeClient(t.Context(), o.Principal, contract.AppClientPath{Client: has.client})
	case "webhook":
		has.webhook, has.delivery, err = o.createWebhook(t)
	case "upstream header":
		_, err = o.Server.Projects.SetUpstreamHeader(t.Context(), o.Principal, contract.UpstreamHeaderUpdate{
			UpstreamHeaderPath: contract.UpstreamHeaderPath{
				EnvironmentPath: contract.EnvironmentOf(has.Project, has.version, has.environment),
				Name:            "X-Upstream-Token",
			},
			Body: contract.UpstreamHeaderValue{Value: "s3cret"},
		})
	case "https target":
		err = o.retarget(t, has)
	case "client certificate":
		err = o.presentCertificate(t, has)
	case "cors":
		_, err = o.Server.Projects.SetCORS(t.Context(), o.Principal, contract.CORSUpdate{
			ProjectPath: project,
			Body:        contract.CORS{Origins: []string{"https://app.example"}},
		})
	case "tenant cors":
		_, err = o.Server.Projects.SetTenantCORS(t.Context(), o.Principal, contract.TenantCORSUpdate{
			TenantPath: contract.TenantPath{Tenant: has.Tenant},
			Body:       contract.CORS{Origins: []string{"https://app.example"}},
		})
	case "call signing":
		_, err = o.Server.Projects.EnableCallSigning(t.Context(), o.Principal, project)
	case "taken":
		_, err = o.Server.Projects.TakeDown(t.Context(), o.Principal, contract.TakedownUpdate{
			ProjectPath: project, Body: contract.TakedownReason{Reason: "Phishing"},
		})
	case "approved":
		_, err = o.Server.Domains.Approve(t.Context(), o.Principal, contract.DomainOf(has.Project, has.domain))
	case "two versions":
		in := contract.NewVersion{Name: "2.0.0"}
		_, err = o.Server.Projects.CreateVersion(t.Context(), o.Principal, in.In(has.Project))
	case "two environments":
		in := contract.NewEnvironment{Name: "dev", Target: "http://127.0.0.1:9"}
		_, err = o.Server.Projects.CreateEnvironment(t.Context(), o.Principal, in.In(has.Project, has.version))
		if err == nil {
			_, err = o.Server.Keys.Revoke(t.Context(), o.Principal, contract.KeyPath{Key: has.Key})
		}
	case "signed in":
		has.userSession = o.signIn(t, has.user, has.client, has.provider)
	case "deleted":
		_, err = o.Server.Projects.Delete(t.Context(), o.Principal, contract.ProjectRemoval{ProjectPath: project})
	case "ready":
		err = o.Server.Exports.Build(t.Context(), has.Export, true)
	}
	must(t, err)
}

// CreateProject creates a project of the caller that requires keys.
func (o *Fixture) CreateProject(t testing.TB, p access.Principal, name string) projects.Created {
	t.Helper()
	created, err := o.Server.Projects.Create(t.Context(), p, projects.CreateInput{
		Target: "http://127.0.0.1:9",
		Name:   name,
		Auth:   contract.NewRequestsAuth{Mode: "authenticate"},
	})
	must(t, err)
	return created
}

// createDomain adds a host name with its TXT record, which is not verified yet.
func (o *Fixture) createDomain(t testing.TB, project string) string {
	t.Helper()
	added, err := o.Server.Domains.Create(t.Context(), o.Principal, contract.DomainCreation{
		ProjectPath: contract.ProjectPath{Project: project},
		Body:        contract.NewDomain{Host: fmt.Sprintf("api-%d.example.com", o.number), Environment: "prod"},
	})
	must(t, err)
	o.Names.Set(added.Record.Name, added.Record.Value)
	return added.ID
}

func (o *Fixture) createAPIScope(t testing.TB, project string) string {
	t.Helper()
	scope := snapshot.APIScope{Name: "orders:read", Description: "see your orders"}
	_, err := o.Server.Projects.AddAPIScope(t.Context(), o.Principal, project, scope)
	must(t, err)
	return scope.Name
}

func (o *Fixture) createKeyType(t testing.TB, project string) string {
	t.Helper()
	created, err := o.Server.Projects.CreateKeyType(t.Context(), o.Principal, contract.KeyTypeCreation{
		ProjectPath: contract.ProjectPath{Project: project},
		Body:        contract.NewKeyType{Name: "gold", Scopes: []string{"read"}},
	})
	must(t, err)
	return created.ID
}

func (o *Fixture) createProduct(t testing.TB) string {
	t.Helper()
	created, err := o.Server.Projects.CreateProduct(t.Context(), o.Principal, contract.ProductCreation{
		Body: contract.NewProduct{Name: fmt.Sprintf("product-%d", o.number)},
	})
	must(t, err)
	return created.ID
}

func (o *Fixture) createTenant(t testing.TB) string {
	t.Helper()
	created, err := o.Server.Projects.CreateTenant(t.Context(), o.Principal, contract.TenantCreation{
		Body: contract.NewTenant{Name: fmt.Sprintf("tenant-%d", o.number)},
	})
	must(t, err)
	return created.ID
}

// Path returns the route with its parameters replaced: the project by its id on the API,
// by its name on pages.
func (h Objects) Path(route string) string {
	project, provider := h.ProjectName, h.provider
	if IsAPI(route) {
		project = h.Project
	}
	if strings.HasPrefix(route, "/account/") {
		provider = "github"
	}
	scim := strings.NewReplacer(
		"/Users/:id", "/Users/"+h.user,
		"/Groups/:id", "/Groups/"+h.group,
		"/Schemas/:id", "/Schemas/urn:ietf:params:scim:schemas:core:2.0:User",
		"/ResourceTypes/:id", "/ResourceTypes/User",
	)
	if strings.Contains(route, "/users/:user/sessions/") {
		route = strings.ReplaceAll(route, ":session", h.userSession)
	}
	parameters := strings.NewReplacer(
		":account", h.account,
		":approval", h.approval,
		":child", h.child,
		":client", h.client,
		":code", h.code,
		":delivery", h.delivery,
		":domain", h.domain,
		":entry", h.entry,
		":environment", h.environment,
		":export", h.Export,
		":group", h.group,
		":identity", h.identity,
		":invitation", h.invitation,
		":key_type", h.keyType,
		":mapping", h.mapping,
		":name", "X-Upstream-Token",
		":import", h.plan,
		":key", h.Key,
		":product", h.Product,
		":project", project,
		":provider", provider,
		":scope", h.apiScope,
		":session", h.session,
		":team", h.Team,
		":tenant", h.Tenant,
		":token", h.token,
		":user", h.user,
		":version", h.version,
		":webhook", h.webhook,
	)
	return parameters.Replace(scim.Replace(route))
}

// FillBody replaces the placeholders in a body: {team} is the owner's team; {product},
// {name} and {number} are unique to the objects; {device} is the user code of a new
// device request; {certificate} and {private_key} are a new pair in PEM; {zip} is an export
// of the project; the others name one of the objects.
func (o *Fixture) FillBody(t testing.TB, has Objects, body string) string {
	t.Helper()
	if strings.Contains(body, "{device}") { // a code is for one decision
		asked, err := o.Server.Tokens.RequestDevice(t.Context(), tokens.DeviceRequest{Machine: "laptop"})
		must(t, err)
		body = strings.ReplaceAll(body, "{device}", asked.UserCode)
	}
	if strings.Contains(body, "{certificate}") {
		certificate, key := testkit.Certificate(t, "client.test")
		write := func(text []byte) string { return url.QueryEscape(string(text)) }
		if strings.HasPrefix(body, "{\"") {
			write = func(text []byte) string { return strings.ReplaceAll(string(text), "\n", `\n`) }
		}
		body = strings.NewReplacer("{certificate}", write(certificate), "{private_key}", write(key)).Replace(body)
	}
	if strings.Contains(body, "{zip}") {
		body = strings.ReplaceAll(body, "{zip}", o.exported(t, has))
	}
	return strings.NewReplacer(
		"{child}", has.child,
		"{code}", has.code,
		"{group}", has.group,
		"{invite}", has.invite,
		"{key}", has.Key,
		"{name}", fmt.Sprintf("new-%d", o.number),
		"{number}", fmt.Sprint(o.number),
		"{product}", fmt.Sprintf("product-%d", o.number),
		"{project}", has.Project,
		"{team}", o.Team,
		"{tenant}", has.Tenant,
	).Replace(body)
}

// createPlan creates the plan of an import, or an import that was applied. A team can't have many plans, so the oldest
// one is deleted.
func (o *Fixture) createPlan(t testing.TB, needs string) string {
	t.Helper()
	list, err := o.Server.Plans.List(t.Context(), o.Principal, contract.ImportList{Team: o.Team})
	must(t, err)
	earlier := slices.DeleteFunc(list.Items, func(one contract.ImportSummary) bool {
		return one.State != contract.ImportPlanned
	})
	if len(earlier) > 5 {
		oldest := contract.ImportPath{Import: earlier[len(earlier)-1].ID}
		_, err := o.Server.Plans.Delete(t.Context(), o.Principal, oldest)
		must(t, err)
	}
	file := KongFile
	if needs == "applied" {
		file = fmt.Sprintf(`{"_format_version": "3.0", "services": [{"name": "moved-%d", "url": "http://127.0.0.1:9",
			"routes": [{"paths": ["/"]}]}]}`, o.number)
	}
	plan, err := o.Server.Plans.Create(t.Context(), o.Principal, contract.NewImport{Team: o.Team},
		[]movein.File{{Text: []byte(file)}})
	must(t, err)
	if needs != "applied" {
		return plan.ID
	}
	plan, err = o.Server.Plans.Update(t.Context(), o.Principal, contract.ImportPlanUpdate{
		ImportPath: contract.ImportPath{Import: plan.ID},
		Body:       contract.ImportPlanChange{Name: new(fmt.Sprintf("moved-%d", o.number))},
	})
	must(t, err)
	did, err := o.Server.Plans.Apply(t.Context(), o.Principal, contract.ImportApplication{
		ImportPath: contract.ImportPath{Import: plan.ID}, Condition: contract.Condition{IfMatch: plan.ETag},
	})
	must(t, err)
	return did.ID
}

// KongFile is a file with a service that is imported, and a route that stays closed.
const KongFile = `_format_version: "3.0"
services:
- name: orders
  url: http://${UPSTREAM}:8080
  routes:
  - {name: orders, hosts: [api.example.com], paths: [/orders]}
  - {name: admin, hosts: [api.example.com], paths: [/admin], plugins: [{name: oauth2}]}
- name: stock
  url: http://stock.example.net
  routes: [{name: stock, hosts: [api.example.com], paths: [/stock]}]
plugins: [{name: key-auth}]
consumers:
- {username: web, keyauth_credentials: [{key: 4d1c9a2b7e8f4a6db1c2d3e4f5a69788}, {key: secret}]}
`

// exported returns the zip of the project.
func (o *Fixture) exported(t testing.TB, has Objects) string {
	t.Helper()
	export, err := o.Server.Exports.Request(t.Context(), o.Principal, has.Project, exports.Options{Format: "data"})
	must(t, err)
	must(t, o.Server.Exports.Build(t.Context(), export.ID, true))
	file, err := o.Server.Exports.Open(t.Context(), o.Principal, export.Path())
	must(t, err)
	defer file.Close()
	zip, err := io.ReadAll(file)
	must(t, err)
	return string(zip)
}
