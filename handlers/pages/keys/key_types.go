package keys

import (
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func keyTypesPath(p rules.Project) string { return page.ProjectPath(p.Name) + "/key-types" }

func keyTypePath(p rules.Project, t contract.KeyType) string { return keyTypesPath(p) + "/" + t.Name }

func keysOfType(p rules.Project, t contract.KeyType) string {
	return page.KeysPath(p) + "?keys_type=" + t.Name
}

// typeKeysText says how many keys have a type.
func typeKeysText(n int64) string {
	if n == 0 {
		return "No keys have this type."
	}
	return page.CountText(n, "key") + " " + english.PluralWord(int(n), "has", "have") + " this type."
}

// keyTypeForm holds the fields of a key type's form, as typed.
type keyTypeForm struct {
	revision, name, scopes, days string
	limits                       map[string]string // by window
}

func postedKeyType(v *page.Visit) keyTypeForm {
	return keyTypeForm{
		revision: v.Posted("revision"),
		name:     contract.Slug(strings.TrimSpace(v.Posted("name"))),
		scopes:   v.Posted("scopes"),
		days:     strings.TrimSpace(v.Posted("expires_in")),
		limits:   v.PostedLimits("limits_"),
	}
}

func keyTypeFormFor(t contract.KeyType) keyTypeForm {
	return keyTypeForm{
		revision: t.ETag,
		name:     t.Name,
		scopes:   strings.Join(t.Scopes, "\n"),
		days:     typedDays(t.ExpiresIn),
		limits:   page.TypedLimits(t.Limits),
	}
}

// typedDays formats a lifetime in days. The API sets it to the second; six decimals keep
// that when the form is saved again.
func typedDays(seconds int64) string {
	if seconds == 0 {
		return ""
	}
	days := strconv.FormatFloat(float64(seconds)/page.SecondsADay, 'f', 6, 64)
	return strings.TrimRight(strings.TrimRight(days, "0"), ".")
}

// lifetime returns seconds, 0 for none and page.NoNumber for text that isn't a lifetime.
func (f keyTypeForm) lifetime() int64 {
	if f.days == "" {
		return 0
	}
	days, ok := page.DecimalNumber(f.days)
	seconds := math.Round(days * page.SecondsADay)
	if !ok || seconds < 1 || seconds >= math.MaxInt32 {
		return page.NoNumber
	}
	return int64(seconds)
}

func (f keyTypeForm) view(action string, wrong *page.Errors) projects.KeyTypeForm {
	m := projects.KeyTypeForm{
		Open:     wrong.Status != 0,
		Action:   action,
		Revision: f.revision,
		Name:     wrong.Value("/name", f.name),
		Scopes:   ui.Value{Text: f.scopes, Error: wrong.TakeLines("/scopes", strings.Fields(f.scopes))},
		Windows:  windowFields(f.limits, wrong),
		Days:     wrong.Value("/expires_in", f.days),
	}
	if m.Days.Error != "" { // the rule mentions seconds
		m.Days.Error = "Enter a number of days up to 3,650, or leave the field empty."
	}
	m.Error = wrong.Rest()
	return m
}

func (h *Handler) showKeyTypes(v *page.Visit) (web.Answer, error) {
	return h.keyTypesWith(v, keyTypeForm{}, &page.Errors{})
}

// keyTypesWith shows the list of key types, with the form as typed.
func (h *Handler) keyTypesWith(v *page.Visit, form keyTypeForm, wrong *page.Errors) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	m := projects.KeyTypes{
		Page:    v.Shell("Key types", keyTypesPath(p), keyCrumbs(p, ui.Crumb{Text: "Key types"})...),
		BackURL: page.KeysPath(p),
	}
	for _, version := range p.Versions {
		texts, _ := page.WarningTexts(p.KeyTypeWarnings(version.ID), nil)
		m.Warnings = append(m.Warnings, texts...)
	}
	if v.MayChange(p, access.ProjectUpdate) {
		create := form.view(keyTypesPath(p), wrong)
		m.Create = &create
	}
	for _, t := range p.KeyTypes {
		m.Rows = append(m.Rows, projects.KeyTypeRow{
			Name:     t.Name,
			URL:      keyTypePath(p, t),
			KeysURL:  keysOfType(p, t),
			BuiltIn:  t.BuiltIn,
			Scopes:   strings.Join(t.Scopes, " "),
			Lifetime: page.LifetimeText(t.ExpiresIn),
			Limits:   page.TextOrNone(page.LimitsText(page.TypedLimits(t.Limits))),
		})
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: projects.KeyTypesPage(m)}, nil
}

func (h *Handler) createKeyType(v *page.Visit) (web.Answer, error) {
	form := postedKeyType(v)
	_, err := h.Projects.CreateKeyType(v.Ctx(), v.Who, contract.KeyTypeCreation{
		ProjectPath: contract.ProjectPath{Project: v.Param("project")},
		Body: contract.NewKeyType{
			Name:      form.name,
			Scopes:    strings.Fields(form.scopes),
			ExpiresIn: form.lifetime(),
			Limits:    *page.ReadLimits(form.limits),
		},
	})
	if err == nil {
		return v.Done("key_type", page.ProjectPath(v.Param("project"))+"/key-types", form.name)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.keyTypesWith(v, form, wrong)
}

// keyTypeIn is the key type in the address.
func keyTypeIn(v *page.Visit) contract.KeyTypePath {
	return contract.KeyTypePath{
		ProjectPath: contract.ProjectPath{Project: v.Param("project")},
		KeyType:     v.Param("key_type"),
	}
}

// keyTypeOf finds the key type in the address and its project.
func (h *Handler) keyTypeOf(v *page.Visit) (rules.Project, contract.KeyType, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return p, contract.KeyType{}, err
	}
	t, ok := p.KeyType(v.Param("key_type"))
	if !ok {
		return p, t, web.NotFound()
	}
	v.SelectTeam(p.Team)
	return p, t, nil
}

func (h *Handler) showKeyType(v *page.Visit) (web.Answer, error) {
	p, t, err := h.keyTypeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.keyTypeModel(v, p, t)
	return web.Show(projects.KeyTypePage(m)), err
}

func (h *Handler) keyTypeModel(v *page.Visit, p rules.Project, t contract.KeyType) (projects.KeyType, error) {
	m := projects.KeyType{
		Page: v.Shell("Key type "+t.Name, keyTypePath(p, t),
			keyCrumbs(p, ui.Crumb{Text: "Key types", URL: keyTypesPath(p)}, ui.Crumb{Text: t.Name})...),
		Name:    t.Name,
		KeysURL: keysOfType(p, t),
		BackURL: keyTypesPath(p),
	}
	total, err := h.Keys.CountOfType(v.Ctx(), v.Who, p.ID, t.Name)
	if err != nil {
		return m, err
	}
	m.Facts = []ui.Fact{{Label: "Keys", Value: page.SomeText(total)}}
	if t.BuiltIn {
		m.Facts = append(m.Facts, ui.Fact{Label: "Scopes", Value: strings.Join(t.Scopes, " "), Mono: true},
			ui.Fact{Label: "Built in", Value: "yes (can't be changed)"})
		return m, nil
	}
	if !v.MayChange(p, access.ProjectUpdate) {
		m.Facts = append(m.Facts, ui.Fact{Label: "Scopes", Value: strings.Join(t.Scopes, " "), Mono: true},
			ui.Fact{Label: "Lifetime", Value: page.LifetimeText(t.ExpiresIn)},
			ui.Fact{Label: "Limits", Value: page.TextOrNone(page.LimitsText(page.TypedLimits(t.Limits)))})
		return m, nil
	}
	edit := keyTypeFormFor(t).view(keyTypePath(p, t), &page.Errors{})
	m.Edit = &edit
	m.Delete = &ui.Confirmation{
		ID:     "type-confirm",
		Action: keyTypePath(p, t) + "/delete",
		Verb:   "Delete",
		Kind:   "key type",
		Name:   t.Name,
		Impact: []string{
			typeKeysText(total) + " You can delete a type only if no key has ever had it.",
		},
		Undo: "You can create it again.",
	}
	return m, nil
}

func (h *Handler) saveKeyType(v *page.Visit) (web.Answer, error) {
	form := postedKeyType(v)
	scopes := strings.Fields(form.scopes)
	changed, err := h.Projects.UpdateKeyType(v.Ctx(), v.Who, contract.KeyTypeUpdate{
		KeyTypePath: keyTypeIn(v),
		Condition:   contract.Condition{IfMatch: form.revision},
		Body: contract.KeyTypeChange{
			Scopes:    &scopes,
			ExpiresIn: contract.Sent(form.lifetime()),
			Limits:    contract.Sent(contract.Limits(*page.ReadLimits(form.limits))),
		},
	})
	if err == nil {
		return v.Done("key_type", page.ProjectPath(v.Param("project"))+"/key-types/"+v.Param("key_type"), changed.Name)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.keyTypeConflict(v, form)
	}
	return h.refusedKeyType(v, err, func(m *projects.KeyType, wrong *page.Errors) {
		if m.Edit != nil {
			*m.Edit = form.view(m.Edit.Action, wrong)
		} else {
			m.Error = wrong.Rest()
		}
	})
}

func (h *Handler) deleteKeyType(v *page.Visit) (web.Answer, error) {
	err := v.Confirmed("Check the box to delete the key type.")
	if err == nil {
		_, err = h.Projects.DeleteKeyType(v.Ctx(), v.Who, contract.KeyTypeDeletion{KeyTypePath: keyTypeIn(v)})
	}
	if err == nil {
		return v.Done("key_type_gone", page.ProjectPath(v.Param("project"))+"/key-types")
	}
	return h.refusedKeyType(v, err, func(m *projects.KeyType, wrong *page.Errors) { v.Mark(m.Delete, wrong) })
}

// refusedKeyType shows the key type's page as it is now, with what mark adds to it.
func (h *Handler) refusedKeyType(
	v *page.Visit, err error, mark func(*projects.KeyType, *page.Errors),
) (web.Answer, error) {
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	p, t, err := h.keyTypeOf(v)
	if err == nil {
		err = v.Allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.keyTypeModel(v, p, t)
	if err != nil {
		return web.Answer{}, err
	}
	mark(&m, wrong)
	return web.Answer{Status: wrong.Status, Page: projects.KeyTypePage(m)}, nil
}

// keyTypeConflict shows what was saved since next to what was typed.
func (h *Handler) keyTypeConflict(v *page.Visit, mine keyTypeForm) (web.Answer, error) {
	p, t, err := h.keyTypeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	path, saved := keyTypePath(p, t), keyTypeFormFor(t)
	m := projects.Conflict{
		Page: v.Shell("Changed since you opened this page", path,
			keyCrumbs(p, ui.Crumb{Text: "Key types", URL: keyTypesPath(p)}, ui.Crumb{Text: t.Name})...),
		BackURL: path,
		Action:  path,
		What:    "The key type " + t.Name,
		Rows: []projects.Difference{
			{Label: "Scopes", Theirs: page.ScopesText(saved.scopes), Yours: page.ScopesText(mine.scopes)},
			{Label: "Lifetime in days", Theirs: page.TextOrNone(saved.days), Yours: page.TextOrNone(mine.days)},
			{
				Label:  "Limits",
				Theirs: page.TextOrNone(page.LimitsText(saved.limits)),
				Yours:  page.TextOrNone(page.LimitsText(mine.limits)),
			},
		},
	}
	m.Hidden = []projects.Pair{
		{Name: "revision", Value: t.ETag},
		{Name: "scopes", Value: mine.scopes},
		{Name: "expires_in", Value: mine.days},
	}
	for _, window := range page.WindowTitles() {
		m.Hidden = append(m.Hidden, projects.Pair{Name: "limits_" + window, Value: mine.limits[window]})
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}
