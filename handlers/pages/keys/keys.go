package keys

import (
	"context"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	"postern/service/keys"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func keySecretPath(p rules.Project, id string) string { return page.KeyPath(p, id) + "/secret" }

// keyHere returns the path of the key in the address.
func keyHere(v *page.Visit) string {
	return page.ProjectPath(v.Param("project")) + "/keys/" + v.Param("key")
}

func (h *Handler) showKeys(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.keysPage(v, p)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(projects.KeysPage(m)), nil
}

// keysPage is the page of a project's keys.
func (h *Handler) keysPage(v *page.Visit, p rules.Project) (projects.Configure, error) {
	m := page.ConfigureOf(v, p, "Keys", page.KeysPath(p))
	var err error
	if m.Keys, err = h.keySection(v, p); err != nil {
		return m, err
	}
	if !v.MayChange(p, access.ProjectUpdate) {
		m.RemoveActions()
	}
	return m, nil
}

// keySection is the project page's list of keys, from the newest on or from the cursor in
// the query.
func (h *Handler) keySection(v *page.Visit, p rules.Project) (projects.Keys, error) {
	list := keyList(p).Read(v)
	m := projects.Keys{TypesURL: keyTypesPath(p), Create: keyFormOf(p), SentIn: sentIn(p)}
	if v.MayChange(p, access.KeyCreate) {
		m.Action, m.ImportURL = page.KeysPath(p), importPath(p)
		m.Curl = ui.Page{
			Control: h.Web.Config.PublicURL,
		}.Curl(
			"/api/v1"+page.KeysPath(p),
			`{"owner": "billing-service"}`,
		)
		m.BulkAction = page.KeysPath(p) + "/change"
		m.Create.Focus = v.Gin.Query(page.CreateOpen) == "true"
		m.Create.Open = m.Create.Focus
	}
	found, err := h.Keys.List(v.Ctx(), v.Who, keysRequest(list, p))
	if err != nil {
		return m, err
	}
	m.List = page.ListView(list, found)
	m.Filter = filterForm(list, m.List)
	m.List.Filters = nil // the form has them
	for _, k := range found.Items {
		m.Rows = append(m.Rows, keyRow(p, k))
	}
	return m, nil
}

// keyRow links to the key in the project that it was created in. For a key of a product
// that may be another project than the listed one.
func keyRow(p rules.Project, k contract.Key) projects.KeyRow {
	row := projects.KeyRow{
		ID:          k.ID,
		URL:         page.KeyPath(p, k.ID),
		Owner:       k.Owner,
		Type:        k.KeyType,
		Environment: environmentText(k),
		State:       page.KeyBadge(k.State),
		Created:     k.CreatedAt,
		Expires:     page.TimeOf(k.ExpiresAt),
		LastUsed:    page.TimeOf(k.LastUsedAt),
		Display:     k.Display(),
	}
	if k.Product != nil {
		row.Note = "Valid for every project in " + *k.Product
	}
	if k.Project != p.ID {
		row.URL = page.ProjectPath(k.Project) + "/keys/" + k.ID
	}
	return row
}

func keyFormOf(p rules.Project) projects.KeyForm {
	form := projects.KeyForm{
		Environments: append([]ui.Option{{Value: "", Title: "All environments"}}, page.Named(environmentNames(p))...),
		Tenants:      page.Named(p.Tenants),
		Product:      page.ProductOf(p),
		Texts:        (&page.Errors{}).TextFields("key", contract.NewKey{}, texts...),
		Bounds:       keyBounds{}.form(inheritedByChoice(p), &page.Errors{}),
	}
	for _, t := range p.KeyTypes {
		title := t.Name + " (" + strings.Join(t.Scopes, " ") + ")"
		if text := page.LimitsText(page.TypedLimits(t.Limits)); text != "" {
			title += ": " + text
		}
		form.Types = append(form.Types, ui.Option{Value: t.Name, Title: title})
	}
	page.Choose(form.Types, keys.TypeFull)
	page.Choose(form.Tenants, snapshot.DefaultTenant)
	return form
}

func environmentNames(p rules.Project) []string {
	var names []string
	for _, version := range p.Versions {
		for _, e := range version.Environments {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func environmentText(k contract.Key) string {
	if k.Environment == nil {
		return "all"
	}
	return *k.Environment
}

func (h *Handler) createKey(v *page.Visit) (web.Answer, error) {
	bounds := postedBounds(v)
	in := contract.NewKey{Limits: bounds.limits()}
	v.Fill(&in, created...)
	project := v.Param("project")
	expires, err := page.EndOfDay(v.Posted("expires_at"))
	if err == nil {
		in.ExpiresAt = expires
		var minted contract.KeyWithSecret
		minted, err = h.Keys.Create(v.Ctx(), v.Who, in.In(project))
		if err == nil {
			path := page.ProjectPath(project) + "/keys/" + minted.ID + "/secret"
			return v.Disclose(path, page.Disclosed{Heading: "Key created", Secret: minted.Secret.Reveal()})
		}
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	p, err := h.Projects.Get(v.Ctx(), v.Who, project)
	if err == nil {
		err = v.Allowed(p, access.KeyCreate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.keysPage(v, p)
	if err != nil {
		return web.Answer{}, err
	}
	markKeyForm(&m.Keys.Create, in, v.Posted("expires_at"), wrong)
	m.Keys.Create.Metadata = wrong.Value("/metadata", v.Posted("metadata"))
	m.Keys.Create.Bounds = bounds.form(inheritedByChoice(p), wrong)
	m.Keys.Create.Error = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: projects.KeysPage(m)}, nil
}

func markKeyForm(form *projects.KeyForm, in contract.NewKey, expiresOn string, wrong *page.Errors) {
	form.Open = true
	form.Owner = wrong.Value("/owner", in.Owner)
	form.Texts = wrong.TextFields("key", in, texts...)
	form.Expires = wrong.Value("/expires_at", expiresOn)
	page.Choose(form.Types, in.KeyType)
	page.Choose(form.Environments, in.Environment)
	form.TypeError, form.EnvError = wrong.Take("/key_type"), wrong.Take("/environment")
	if len(form.Tenants) > 1 {
		page.Choose(form.Tenants, in.Tenant)
		form.TenantError = wrong.Take("/tenant")
	}
	if form.Product != "" {
		form.OfProduct = in.Product != ""
		form.ProductError = wrong.Take("/product")
	}
}

// showKeySecret shows a created or rotated key, the first time with its secret.
func (h *Handler) showKeySecret(v *page.Visit) (web.Answer, error) {
	p, k, err := h.keyOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	found, err := v.Disclosed(keyHere(v) + "/secret")
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(projects.ShownPage(h.shown(v, p, k, found))), nil
}

func (h *Handler) shown(v *page.Visit, p rules.Project, k contract.Key, found *page.Disclosed) projects.Shown {
	if found == nil {
		found = &page.Disclosed{Heading: "Key for " + k.Owner}
	}
	m := projects.Shown{
		Page:    v.Shell(found.Heading, keySecretPath(p, k.ID), keyCrumbs(p, ui.Crumb{Text: k.Display()})...),
		Heading: found.Heading,
		Text:    found.Text,
		Key:     found.Secret,
		KeyURL:  page.KeyPath(p, k.ID),
		BackURL: page.KeysPath(p),
		Facts: []ui.Fact{
			{Label: "Owner", Value: k.Owner},
			{Label: "Type", Value: k.KeyType},
			{Label: "Environment", Value: environmentText(k)},
			{Label: "Tenant", Value: k.Tenant},
			{Label: "Valid for", Value: reachText(k)},
			{Label: "Limits", Value: effectiveText(k)},
			{Label: "Allowed addresses", Value: boundsOf(k).rangesText()},
			page.TimeFact("Expires", k.ExpiresAt),
		},
	}
	if address, in := h.addressFor(p, k); address != "" && found.Secret != "" {
		m.Curl = page.Curl(address, found.Secret, in)
	}
	return m
}

// sentIn says where callers of the newest version send their keys.
func sentIn(p rules.Project) string {
	var in contract.APIKeyAuth
	if n := len(p.Versions); n > 0 {
		in = p.Versions[n-1].RequestsAuth.APIKey
	}
	return "Callers send their key " + policy.KeyPlaceText(in) + "."
}

// addressFor returns a URL that a key is valid for, "" if there is none, and how keys are sent there.
func (h *Handler) addressFor(p rules.Project, k contract.Key) (string, contract.APIKeyAuth) {
	for _, version := range slices.Backward(p.Versions) {
		for _, e := range version.Environments {
			if k.Environment == nil || *k.Environment == e.Name {
				return h.Web.Config.Address(p.Name, version.Name, e.Name), version.RequestsAuth.APIKey
			}
		}
	}
	return "", contract.APIKeyAuth{}
}

// keyIn is the key in the address.
func keyIn(v *page.Visit) contract.KeyPath { return contract.KeyPath{Key: v.Param("key")} }

// keyOf finds the key in the address and its project.
func (h *Handler) keyOf(v *page.Visit) (rules.Project, contract.Key, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return p, contract.Key{}, err
	}
	v.SelectTeam(p.Team)
	home := keys.Home{ID: p.ID, Team: p.Team, Limits: p.Limits.Key}
	k, err := h.Keys.GetFrom(v.Ctx(), v.Who, home, v.Param("key"))
	return p, k, err
}

func (h *Handler) showKey(v *page.Visit) (web.Answer, error) {
	p, k, err := h.keyOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(projects.KeyPage(keyModel(v, p, k))), nil
}

func (h *Handler) freezeKey(v *page.Visit) (web.Answer, error) {
	return h.changeKey(v, "frozen", h.Keys.InProject(v.Param("project")).Freeze)
}

func (h *Handler) unfreezeKey(v *page.Visit) (web.Answer, error) {
	return h.changeKey(v, "unfrozen", h.Keys.InProject(v.Param("project")).Unfreeze)
}

func (h *Handler) revokeKey(v *page.Visit) (web.Answer, error) {
	if err := v.Confirmed("Check the box to revoke the key."); err != nil {
		return h.refusedKey(v, err)
	}
	return h.changeKey(v, "revoked", h.Keys.InProject(v.Param("project")).Revoke)
}

func (h *Handler) changeKey(
	v *page.Visit, flash string, change func(context.Context, access.Principal, contract.KeyPath) (contract.Key, error),
) (web.Answer, error) {
	k, err := change(v.Ctx(), v.Who, keyIn(v))
	if err != nil {
		return h.refusedKey(v, err)
	}
	undo := map[string]string{"frozen": "/unfreeze", "unfrozen": "/freeze"}[flash]
	if undo != "" {
		undo = keyHere(v) + undo
	}
	return v.DoneUndo(flash, keyHere(v), undo, k.Display(), k.Owner)
}

func (h *Handler) rotateKey(v *page.Visit) (web.Answer, error) {
	if err := v.Confirmed("Confirm that you want a new secret for this key."); err != nil {
		return h.refusedKey(v, err)
	}
	grace := parseGrace(v.Posted("grace_seconds"))
	minted, err := h.Keys.InProject(v.Param("project")).Rotate(v.Ctx(), v.Who, contract.KeyRotation{
		KeyPath:   keyIn(v),
		Condition: contract.Condition{IfMatch: v.State},
		Body:      &contract.Grace{GraceSeconds: &grace},
	})
	if err != nil {
		return h.refusedKey(v, page.OutdatedForm(err))
	}
	text := "The old secret has stopped working."
	if minted.GraceEndsAt != nil {
		text = "The old secret expires on " + page.Moment(*minted.GraceEndsAt) + "."
	}
	return v.Disclose(keyHere(v)+"/secret", page.Disclosed{
		Heading: "Key rotated",
		Text:    text,
		Secret:  minted.Secret.Reveal(),
	})
}

// parseGrace reads a number of seconds, page.NoNumber for any other text.
func parseGrace(seconds string) int64 {
	n, ok := page.WholeNumber(seconds)
	if !ok {
		return page.NoNumber
	}
	return n
}

// refusedKey shows the key's page as it is now, with what is wrong with the form.
func (h *Handler) refusedKey(v *page.Visit, err error) (web.Answer, error) {
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	p, k, err := h.keyOf(v)
	if err == nil {
		err = v.Allowed(p, access.KeyChange)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m := keyModel(v, p, k)
	v.Refuse(wrong, m.Revoke)
	if m.Rotate != nil {
		v.Refuse(wrong, &m.Rotate.Confirm)
		m.Rotate.Error = wrong.Take("/grace_seconds")
		m.Rotate.Confirm.Open = m.Rotate.Error != ""
	}
	m.Error = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: projects.KeyPage(m)}, nil
}

// keyList has the parameters of the list of keys. Its names in the query begin with keys_, as old addresses have them.
// Owner and text are typed into the page's own form, next to the menus.
func keyList(p rules.Project) *page.Listing {
	var types []string
	for _, t := range p.KeyTypes {
		types = append(types, t.Name)
	}
	l := &page.Listing{
		Path:   page.KeysPath(p),
		Prefix: "keys_",
		One:    "key",
		Orders: []page.ListOrder{{By: "created", Desc: true}, {By: "owner"}, {By: "last_used", Desc: true}},
		Filters: []page.ListFilter{
			{Name: "owner", Title: "Owner", Typed: true},
			{Name: "text", Title: "Contains", Typed: true},
			{Name: "state", Title: "State", Options: []ui.Option{
				{Value: contract.KeyActive, Title: "Active"},
				{Value: contract.KeyFrozen, Title: "Frozen"},
				{Value: contract.KeyExpired, Title: "Expired"},
				{Value: contract.KeyRevoked, Title: "Revoked"},
			}},
			{Name: "type", Title: "Type", Options: page.Named(types)},
			{Name: "environment", Title: "Environment", Options: append(
				[]ui.Option{{Value: "all", Title: "Keys for all environments"}}, page.Named(environmentNames(p))...,
			)},
			{Name: "tenant", Title: "Tenant"},
		},
	}
	if len(p.Tenants) > 1 {
		l.Filters[len(l.Filters)-1].Options = page.Named(p.Tenants)
	}
	return l
}

// keysRequest is the request for the list of a project's keys.
func keysRequest(l *page.Listing, p rules.Project) contract.KeyList {
	return contract.KeyList{
		ProjectPath: contract.ProjectPath{Project: p.ID},
		Page:        l.Request(),
		Owner:       l.Get("owner"),
		State:       l.Get("state"),
		Tenant:      l.Get("tenant"),
		KeyType:     l.Get("type"),
		Environment: l.Get("environment"),
		Text:        l.Get("text"),
		Sort:        l.Sorting(),
	}
}

// filterForm is the form of the filters.
func filterForm(l *page.Listing, m ui.List) projects.KeyFilter {
	form := projects.KeyFilter{
		Action:   l.Path,
		Owner:    l.Get("owner"),
		Text:     l.Get("text"),
		ClearURL: m.ClearURL,
	}
	for _, name := range []string{"sort", "dir"} {
		if value := l.Get(name); value != "" {
			form.Kept = append(form.Kept, ui.Hidden{Name: l.Prefix + name, Value: value})
		}
	}
	for _, f := range l.Filters {
		options := append([]ui.Option{{Title: "Any " + f.Name}}, f.Options...)
		page.Choose(options, l.Get(f.Name))
		switch f.Name {
		case "state":
			form.States = options
		case "type":
			form.Types = options
		case "environment":
			form.Environments = options
		case "tenant":
			form.Tenants = options
		}
	}
	return form
}
