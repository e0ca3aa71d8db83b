package pages

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// createOpen is the part of the query that opens the form of a new key.
const createOpen = "create"

func keysPath(p rules.Project) string { return projectPath(p.Name) + "/keys" }

func keyPath(p rules.Project, id string) string { return keysPath(p) + "/" + id }

func keySecretPath(p rules.Project, id string) string { return keyPath(p, id) + "/secret" }

// keyHere returns the path of the key in the address.
func (v *visit) keyHere() string { return projectPath(v.param("project")) + "/keys/" + v.param("key") }

func (h *Handler) showKeys(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
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
func (h *Handler) keysPage(v *visit, p rules.Project) (projects.Configure, error) {
	m := configureOf(v, p, "Keys", keysPath(p))
	var err error
	if m.Keys, err = h.keySection(v, p); err != nil {
		return m, err
	}
	if !v.mayChange(p, access.ProjectUpdate) {
		m.RemoveActions()
	}
	return m, nil
}

// keySection is the project page's list of keys, from the newest on or from the cursor in
// the query.
func (h *Handler) keySection(v *visit, p rules.Project) (projects.Keys, error) {
	list := keyList(p).read(v)
	m := projects.Keys{TypesURL: keyTypesPath(p), Create: keyFormOf(p)}
	if v.mayChange(p, access.KeyCreate) {
		m.Action = keysPath(p)
		m.Curl = ui.Page{Control: h.Web.Config.PublicURL}.Curl("/api/v1"+keysPath(p), `{"owner": "billing-service"}`)
		m.BulkAction = keysPath(p) + "/change"
		m.Create.Focus = v.c.Query(createOpen) == "true"
		m.Create.Open = m.Create.Focus
	}
	found, err := h.Keys.List(v.ctx(), v.who, list.keysAsked(p))
	if err != nil {
		return m, err
	}
	m.List = listView(list, found)
	m.Filter = list.filterForm(m.List)
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
		URL:         keyPath(p, k.ID),
		Owner:       k.Owner,
		Type:        k.KeyType,
		Environment: environmentText(k),
		State:       keyBadge(k),
		Created:     day(k.CreatedAt),
		Expires:     dayOrNever(k.ExpiresAt),
		LastUsed:    dayOrNever(k.LastUsedAt),
		Display:     k.Display(),
	}
	if k.Product != nil {
		row.Note = "Valid for every project of " + *k.Product
	}
	if k.Project != p.ID {
		row.URL = projectPath(k.Project) + "/keys/" + k.ID
	}
	return row
}

func keyFormOf(p rules.Project) projects.KeyForm {
	form := projects.KeyForm{
		Environments: append([]ui.Option{{Value: "", Title: "All environments"}}, named(environmentNames(p))...),
		Tenants:      named(p.Tenants),
		Product:      productOf(p),
		Bounds:       keyBounds{}.form(inheritedByChoice(p), &formErrors{}),
	}
	for _, t := range p.KeyTypes {
		title := t.Name + " (" + strings.Join(t.Scopes, " ") + ")"
		if text := limitsText(typedLimits(t.Limits)); text != "" {
			title += ": " + text
		}
		form.Types = append(form.Types, ui.Option{Value: t.Name, Title: title})
	}
	choose(form.Types, keys.TypeFull)
	choose(form.Tenants, snapshot.DefaultTenant)
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

// choose marks the option of that value and no other.
func choose(options []ui.Option, value string) {
	for i := range options {
		options[i].Chosen = options[i].Value == value
	}
}

func keyBadge(k contract.Key) ui.Badge {
	switch k.State {
	case contract.KeyFrozen:
		return ui.Badge{Tone: ui.Cold, Text: "Frozen"}
	case contract.KeyRevoked:
		return ui.Badge{Tone: ui.Bad, Text: "Revoked"}
	case contract.KeyExpired:
		return ui.Badge{Tone: ui.Warn, Text: "Expired"}
	}
	return ui.Badge{Tone: ui.Good, Text: "Active"}
}

func environmentText(k contract.Key) string {
	if k.Environment == nil {
		return "all"
	}
	return *k.Environment
}

func (h *Handler) createKey(v *visit) (web.Answer, error) {
	bounds := postedBounds(v)
	in := contract.NewKey{Limits: bounds.limits()}
	v.fill(&in, "owner", "key_type", "tenant", "product", "environment", "description", "allowed_cidrs")
	project := v.param("project")
	expires, err := endOfDay(v.posted("expires_at"))
	if err == nil {
		in.ExpiresAt = expires
		var minted contract.KeyWithSecret
		minted, err = h.Keys.Create(v.ctx(), v.who, in.In(project))
		if err == nil {
			path := projectPath(project) + "/keys/" + minted.ID + "/secret"
			return v.disclose(path, disclosed{Heading: "Key created", Secret: minted.Secret.Reveal()})
		}
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	p, err := h.Projects.Get(v.ctx(), v.who, project)
	if err == nil {
		err = v.allowed(p, access.KeyCreate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.keysPage(v, p)
	if err != nil {
		return web.Answer{}, err
	}
	markKeyForm(&m.Keys.Create, in, v.posted("expires_at"), wrong)
	m.Keys.Create.Bounds = bounds.form(inheritedByChoice(p), wrong)
	m.Keys.Create.Error = wrong.rest()
	return web.Answer{Status: wrong.status, Page: projects.KeysPage(m)}, nil
}

func markKeyForm(form *projects.KeyForm, in contract.NewKey, expiresOn string, wrong *formErrors) {
	form.Open = true
	form.Owner = wrong.value("/owner", in.Owner)
	form.Description = wrong.value("/description", in.Description)
	form.Expires = wrong.value("/expires_at", expiresOn)
	choose(form.Types, in.KeyType)
	choose(form.Environments, in.Environment)
	form.TypeError, form.EnvError = wrong.take("/key_type"), wrong.take("/environment")
	if len(form.Tenants) > 1 {
		choose(form.Tenants, in.Tenant)
		form.TenantError = wrong.take("/tenant")
	}
	if form.Product != "" {
		form.OfProduct = in.Product != ""
		form.ProductError = wrong.take("/product")
	}
}

// endOfDay parses a day (YYYY-MM-DD) and returns its last second in UTC, nil for "".
func endOfDay(s string) (*time.Time, error) {
	if s == "" {
		return nil, nil
	}
	begins, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return nil, fault.InvalidField("/expires_at", "invalid_expiry", "Enter a date such as 2030-12-31, or leave "+
			"it empty.")
	}
	ends := begins.Add(24*time.Hour - time.Second)
	return &ends, nil
}

// showKeySecret shows a created or rotated key, the first time with its secret.
func (h *Handler) showKeySecret(v *visit) (web.Answer, error) {
	p, k, err := h.keyOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	found, err := v.disclosed(v.keyHere() + "/secret")
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(projects.ShownPage(h.shown(v, p, k, found))), nil
}

func (h *Handler) shown(v *visit, p rules.Project, k contract.Key, found *disclosed) projects.Shown {
	if found == nil {
		found = &disclosed{Heading: "Key of " + k.Owner}
	}
	m := projects.Shown{
		Page: v.shell(found.Heading, keySecretPath(p, k.ID), projectsCrumb(), projectCrumb(p),
			ui.Crumb{Text: "Key"}),
		Heading: found.Heading,
		Text:    found.Text,
		Key:     found.Secret,
		KeyURL:  keyPath(p, k.ID),
		BackURL: keysPath(p),
		Facts: []ui.Fact{
			{Label: "Owner", Value: k.Owner},
			{Label: "Type", Value: k.KeyType},
			{Label: "Environment", Value: environmentText(k)},
			{Label: "Tenant", Value: k.Tenant},
			{Label: "Valid for", Value: reachText(k)},
			{Label: "Limits", Value: effectiveText(k)},
			{Label: "Allowed addresses", Value: boundsOf(k).rangesText()},
			{Label: "Expires", Value: momentOrNever(k.ExpiresAt)},
		},
	}
	if address := h.addressFor(p, k); address != "" && found.Secret != "" {
		m.Curl = curl(address, found.Secret)
	}
	return m
}

// addressFor returns an address that a key opens, "" if there is none.
func (h *Handler) addressFor(p rules.Project, k contract.Key) string {
	for _, version := range slices.Backward(p.Versions) {
		for _, e := range version.Environments {
			if k.Environment == nil || *k.Environment == e.Name {
				return h.Web.Config.Address(p.Name, version.Name, e.Name)
			}
		}
	}
	return ""
}

// keyIn is the key in the address.
func keyIn(v *visit) contract.KeyPath { return contract.KeyPath{Key: v.param("key")} }

// keyOf finds the key in the address and its project.
func (h *Handler) keyOf(v *visit) (rules.Project, contract.Key, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return p, contract.Key{}, err
	}
	home := keys.Home{ID: p.ID, Team: p.Team, Limits: p.Limits.Key}
	k, err := h.Keys.GetFrom(v.ctx(), v.who, home, v.param("key"))
	return p, k, err
}

func (h *Handler) showKey(v *visit) (web.Answer, error) {
	p, k, err := h.keyOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(projects.KeyPage(keyModel(v, p, k))), nil
}

func (h *Handler) freezeKey(v *visit) (web.Answer, error) {
	return h.changeKey(v, "frozen", h.Keys.InProject(v.param("project")).Freeze)
}

func (h *Handler) unfreezeKey(v *visit) (web.Answer, error) {
	return h.changeKey(v, "unfrozen", h.Keys.InProject(v.param("project")).Unfreeze)
}

func (h *Handler) revokeKey(v *visit) (web.Answer, error) {
	if err := v.confirmed("Tick the box to revoke the key."); err != nil {
		return h.refusedKey(v, err)
	}
	return h.changeKey(v, "revoked", h.Keys.InProject(v.param("project")).Revoke)
}

func (h *Handler) changeKey(
	v *visit, flash string, change func(context.Context, access.Principal, contract.KeyPath) (contract.Key, error),
) (web.Answer, error) {
	k, err := change(v.ctx(), v.who, keyIn(v))
	if err != nil {
		return h.refusedKey(v, err)
	}
	undo := map[string]string{"frozen": "/unfreeze", "unfrozen": "/freeze"}[flash]
	if undo != "" {
		undo = v.keyHere() + undo
	}
	return v.doneUndo(flash, v.keyHere(), undo, k.Display(), k.Owner)
}

func (h *Handler) rotateKey(v *visit) (web.Answer, error) {
	if err := v.confirmed("Confirm that you want a new secret for this key."); err != nil {
		return h.refusedKey(v, err)
	}
	grace := parseGrace(v.posted("grace_seconds"))
	minted, err := h.Keys.InProject(v.param("project")).Rotate(v.ctx(), v.who, contract.KeyRotation{
		KeyPath:   keyIn(v),
		Condition: contract.Condition{IfMatch: v.state},
		Body:      &contract.Grace{GraceSeconds: &grace},
	})
	if err != nil {
		return h.refusedKey(v, rotatedMeanwhile(err))
	}
	text := "The old secret has stopped working."
	if minted.GraceEndsAt != nil {
		text = "The old secret works until " + moment(*minted.GraceEndsAt) + "."
	}
	return v.disclose(v.keyHere()+"/secret", disclosed{
		Heading: "Key rotated",
		Text:    text,
		Secret:  minted.Secret.Reveal(),
	})
}

// parseGrace reads a number of seconds. It returns -1, which Rotate refuses, for any other
// text.
func parseGrace(seconds string) int64 {
	n, err := strconv.ParseUint(seconds, 10, 32)
	if err != nil {
		return -1
	}
	return int64(n)
}

// refusedKey shows the key's page as it is now, with what is wrong with the form.
func (h *Handler) refusedKey(v *visit, err error) (web.Answer, error) {
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	p, k, err := h.keyOf(v)
	if err == nil {
		err = v.allowed(p, access.KeyChange)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m := keyModel(v, p, k)
	v.refuse(wrong, m.Revoke)
	if m.Rotate != nil {
		v.refuse(wrong, &m.Rotate.Confirm)
		m.Rotate.Error = wrong.take("/grace_seconds")
		m.Rotate.Confirm.Open = m.Rotate.Error != ""
	}
	m.Error = wrong.rest()
	return web.Answer{Status: wrong.status, Page: projects.KeyPage(m)}, nil
}
