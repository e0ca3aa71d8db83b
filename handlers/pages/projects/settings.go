package projects

import (
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/models"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// A refused form keeps the revision that it was opened with. With a newer one, the next
// attempt would overwrite what was saved since.

type settingsForm struct{ revision, displayName string }

func (h *Handler) saveSettings(v *page.Visit) (web.Answer, error) {
	in := contract.ProjectUpdate{ProjectPath: projectIn(v), Condition: v.Condition()}
	v.Fill(&in.Body, "display_name")
	form := settingsForm{revision: in.IfMatch, displayName: *in.Body.DisplayName}
	_, err := h.Projects.Update(v.Ctx(), v.Who, in)
	return h.saved(v, err, "settings", v.Param("project"), form)
}

func (settingsForm) page() *configuredPage { return settingsPage }

func (f settingsForm) mark(m *projects.Configure, wrong *page.Errors) {
	m.General.Revision = f.revision
	m.General.DisplayName = wrong.Value("/display_name", f.displayName)
	m.General.Error = wrong.Rest()
}

func (f settingsForm) compare(m *projects.Conflict, p rules.Project) error {
	m.What, m.Action = "The display name", page.ProjectPath(p.Name)+"/settings"
	m.Rows = []projects.Difference{{Label: "Display name", Yours: f.displayName, Theirs: p.DisplayName}}
	m.Hidden = []projects.Pair{{Name: "revision", Value: p.SettingsETag}, {Name: "display_name", Value: f.displayName}}
	return nil
}

type accessForm struct {
	version, revision, fallbackOwner string

	auth          contract.RequestsAuthChange
	keyPlaces     []keyPlaceForm
	sendMetadata  bool
	issuers       []issuerForm
	introspection introspectionForm
}

// accessMembers are the members of requests_auth with their own field.
var accessMembers = contract.MembersWithin(contract.UpdateVersion, "requests_auth")

// saveAccess saves the form, or does what one of its other buttons asks for.
func (h *Handler) saveAccess(v *page.Visit) (web.Answer, error) {
	var change contract.VersionChange
	v.Fill(&change, accessMembers...)
	form := accessForm{
		version:       v.Param("version"),
		revision:      v.Posted("revision"),
		fallbackOwner: strings.TrimSpace(v.Posted("fallback_owner")),
		auth:          change.RequestsAuth,
		keyPlaces:     postedKeyPlaces(v.Gin.Request.PostForm),
		sendMetadata:  v.Posted("key_send_metadata") == "true",
		issuers:       postedIssuers(v.Gin.Request.PostForm),
		introspection: postedIntrospection(v.Gin.Request.PostForm),
	}
	if do := v.Posted("do"); do != "" {
		return h.changeIssuers(v, form, do)
	}
	in := form.change().Of(v.Param("project"), form.version)
	in.Condition = v.Condition()
	var fallbackOwner *string
	if form.falls() {
		fallbackOwner = &form.fallbackOwner
	}
	_, err := h.Projects.UpdateAccess(v.Ctx(), v.Who, in, fallbackOwner)
	return h.saved(v, err, "access", v.Param("project"), form)
}

// change leaves out fields that the form hides: settings of keys, issuers and introspection without their method.
func (f accessForm) change() contract.VersionChange {
	out := f.auth
	if f.value().Allows(snapshot.APIKey) {
		out.APIKey = keptPlaces(f.keyPlaces)
		out.APIKey.SendMetadata = &f.sendMetadata
	}
	if f.value().Allows(snapshot.Opaque) {
		out.Opaque = f.introspection.input()
	}
	if f.value().Allows(snapshot.JWT) {
		out.JWT = &contract.JWT{AllowedPairs: kept(f.issuers)}
	}
	return contract.VersionChange{RequestsAuth: out}
}

// value returns the form's requests_auth, without issuers and introspection.
func (f accessForm) value() contract.RequestsAuth { return f.auth.Over(contract.RequestsAuth{}) }

func (f accessForm) falls() bool { return f.value().Keyless == snapshot.OwnerFallback }

func (accessForm) page() *configuredPage { return accessPage }

func (f accessForm) mark(m *projects.Configure, wrong *page.Errors) {
	for i := range m.Versions {
		if m.Versions[i].ID != f.version {
			continue
		}
		shown := &m.Versions[i].Access
		shown.Revision, shown.RequestsAuth, shown.Wrong = f.revision, f.value(), map[string]string{}
		shown.KeyPlaces = keyPlaceRows(f.version, f.keyPlaces, wrong)
		shown.SendMetadata = f.sendMetadata
		shown.KeyPlacesError = wrong.Take(keyPlacesPointer)
		shown.Issuers = issuerRows(f.version, f.issuers, wrong)
		shown.IssuersError = wrong.Take(issuersPointer)
		f.introspection.mark(&shown.Introspection, wrong, "/requests_auth/opaque")
		shown.FallbackOwner = wrong.Value("/fallback_owner", f.fallbackOwner)
		for _, name := range accessMembers {
			shown.Wrong[name] = wrong.Take("/requests_auth/" + name)
		}
		shown.Error = wrong.Rest()
	}
}

func (f accessForm) compare(m *projects.Conflict, p rules.Project) error {
	i := slices.IndexFunc(p.Versions, func(v rules.Version) bool { return v.ID == f.version })
	if i < 0 {
		return web.NotFound()
	}
	now := p.Versions[i]
	auth := now.RequestsAuth
	m.What, m.Action = "Access to version "+now.Name, accessAction(p, now)
	yours, theirs := page.Texts(f.value(), accessMembers...), page.Texts(auth, accessMembers...)
	m.Hidden = []projects.Pair{{Name: "revision", Value: now.ETag}}
	for _, name := range accessMembers {
		m.Rows = append(m.Rows, projects.Difference{
			Label:  page.FieldLabel(name),
			Yours:  projects.AccessText(name, yours[name]),
			Theirs: projects.AccessText(name, theirs[name]),
		})
		for _, value := range yours[name] {
			m.Hidden = append(m.Hidden, projects.Pair{Name: name, Value: value})
		}
	}
	m.Rows = append(m.Rows,
		projects.Difference{
			Label:  "Where callers send API keys",
			Yours:  keyPlaceLines(keptPlaces(f.keyPlaces)),
			Theirs: keyPlaceLines(auth.APIKey),
		},
		projects.Difference{
			Label:  "API key metadata",
			Yours:  projects.SendMetadataText(f.sendMetadata),
			Theirs: projects.SendMetadataText(auth.SendsMetadata()),
		},
		projects.Difference{
			Label: "Token issuers", Yours: issuerLines(kept(f.issuers)), Theirs: issuerLines(auth.Issuers()),
		},
		projects.Difference{
			Label:  "Introspection",
			Yours:  f.introspection.line(),
			Theirs: introspectionFormOf(auth.Opaque).line(),
		})
	if f.sendMetadata {
		m.Hidden = append(m.Hidden, projects.Pair{Name: "key_send_metadata", Value: "true"})
	}
	m.Hidden = append(m.Hidden, keyPlacePairs(keptPlaces(f.keyPlaces))...)
	m.Hidden = append(append(m.Hidden, issuerPairs(kept(f.issuers))...), f.introspection.pairs()...)
	if f.falls() {
		m.Rows = append(m.Rows, projects.Difference{
			Label:  "Fallback owner",
			Yours:  f.fallbackOwner,
			Theirs: p.FallbackOwner,
		})
		m.Hidden = append(m.Hidden, projects.Pair{Name: "fallback_owner", Value: f.fallbackOwner})
	}
	return nil
}

type targetForm struct{ environment, revision, target string }

func (h *Handler) saveTarget(v *page.Visit) (web.Answer, error) {
	in := contract.EnvironmentUpdate{EnvironmentPath: environmentPathIn(v), Condition: v.Condition()}
	v.Fill(&in.Body, "target")
	form := targetForm{environment: in.Environment, revision: in.IfMatch, target: *in.Body.Target}
	_, err := h.Projects.UpdateEnvironment(v.Ctx(), v.Who, in)
	return h.saved(v, err, "target", v.Param("project"), form)
}

func (targetForm) page() *configuredPage { return overviewPage }

func (f targetForm) mark(m *projects.Configure, wrong *page.Errors) {
	for i := range m.Versions {
		for j := range m.Versions[i].Environments {
			if e := &m.Versions[i].Environments[j]; e.ID == f.environment {
				e.Revision, e.Target = f.revision, wrong.Target("/target", f.target, "Save")
				e.Error = wrong.Rest()
			}
		}
	}
}

func (f targetForm) compare(m *projects.Conflict, p rules.Project) error {
	for _, version := range p.Versions {
		for _, e := range version.Environments {
			if e.ID != f.environment {
				continue
			}
			m.What, m.Action = "The target for "+e.Name+" in version "+version.Name, targetAction(p, version, e)
			m.Rows = []projects.Difference{{Label: "Target", Yours: f.target, Theirs: e.Target}}
			m.Hidden = []projects.Pair{{Name: "revision", Value: e.ETag}, {Name: "target", Value: f.target}}
			return nil
		}
	}
	return web.NotFound()
}

func (h *Handler) productSection(v *page.Visit, p rules.Project) (projects.Product, error) {
	m := projects.Product{Action: page.ProjectPath(p.Name) + "/product", Revision: p.SettingsETag,
		Choices: []ui.Option{{Title: "None", Chosen: p.Product == nil}}}
	found, err := h.productsOf(v, p.Team)
	if err != nil {
		return m, err
	}
	for _, product := range found {
		m.Choices = append(m.Choices, ui.Option{
			Value:  product.Name,
			Title:  product.Name,
			Chosen: product.Name == page.ProductOf(p),
		})
	}
	return m, nil
}

// productsOf lists all products of one team.
func (h *Handler) productsOf(v *page.Visit, team string) ([]contract.Product, error) {
	return models.AllPages(func(page models.Page) (models.List[contract.Product], error) {
		return h.Projects.Products(v.Ctx(), v.Who, contract.TeamList{
			Page: contract.Page{Cursor: page.Cursor, Limit: page.Limit}, Team: team,
		})
	})
}

type productForm struct{ revision, product, fresh string }

// saveProduct creates the product first if the form names a new one. If the project cannot
// join it after that, the form offers it among the others.
func (h *Handler) saveProduct(v *page.Visit) (web.Answer, error) {
	form := productForm{
		revision: v.Posted("revision"),
		product:  v.Posted("in_product"),
		fresh:    contract.Slug(strings.TrimSpace(v.Posted("new_product"))),
	}
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	if form.fresh != "" {
		if _, err = h.Projects.CreateProduct(v.Ctx(), v.Who, contract.ProductCreation{
			Body: contract.NewProduct{Team: p.Team, Name: form.fresh},
		}); err != nil {
			return h.saved(v, err, "", "", form)
		}
		form.product, form.fresh = form.fresh, ""
	}
	in := contract.ProjectUpdate{ProjectPath: p.Path(), Condition: v.Condition()}
	if in.Body.Product = contract.Null[string](); form.product != "" {
		in.Body.Product = contract.Sent(form.product)
	}
	_, err = h.Projects.Update(v.Ctx(), v.Who, in)
	return h.saved(v, err, "product", v.Param("project"), form)
}

func (productForm) page() *configuredPage { return settingsPage }

func (f productForm) mark(m *projects.Configure, wrong *page.Errors) {
	m.Product.Revision = f.revision
	for i := range m.Product.Choices {
		m.Product.Choices[i].Chosen = m.Product.Choices[i].Value == f.product
	}
	m.Product.New = wrong.Value("/name", f.fresh)
	m.Product.Choice = wrong.Take("/product")
	m.Product.Error = wrong.Rest()
}

func (f productForm) compare(m *projects.Conflict, p rules.Project) error {
	m.What, m.Action = "The product or another setting", page.ProjectPath(p.Name)+"/product"
	m.Rows = []projects.Difference{
		{Label: "Product", Yours: page.TextOrNone(f.product), Theirs: page.TextOrNone(page.ProductOf(p))},
	}
	m.Hidden = []projects.Pair{{Name: "revision", Value: p.SettingsETag}, {Name: "in_product", Value: f.product}}
	return nil
}
