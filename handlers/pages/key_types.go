package pages

import (
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

const secondsADay = 24 * 3600

func keyTypesPath(p rules.Project) string { return projectPath(p.Name) + "/key-types" }

func keyTypePath(p rules.Project, t contract.KeyType) string { return keyTypesPath(p) + "/" + t.Name }

func keysOfType(p rules.Project, t contract.KeyType) string {
	return keysPath(p) + "?keys_type=" + t.Name
}

// keyTypeForm holds the fields of a key type's form, as typed.
type keyTypeForm struct {
	revision, name, scopes, days string
	limits                       map[string]string // by window
}

func postedKeyType(v *visit) keyTypeForm {
	return keyTypeForm{
		revision: v.posted("revision"),
		name:     strings.TrimSpace(v.posted("name")),
		scopes:   v.posted("scopes"),
		days:     strings.TrimSpace(v.posted("expires_in")),
		limits:   v.postedLimits("limits_"),
	}
}

func keyTypeFormFor(t contract.KeyType) keyTypeForm {
	return keyTypeForm{
		revision: t.ETag,
		name:     t.Name,
		scopes:   strings.Join(t.Scopes, "\n"),
		days:     typedDays(t.ExpiresIn),
		limits:   typedLimits(t.Limits),
	}
}

// typedDays formats a lifetime in days. The API sets it to the second; six decimals keep
// that when the form is saved again.
func typedDays(seconds int64) string {
	if seconds == 0 {
		return ""
	}
	days := strconv.FormatFloat(float64(seconds)/secondsADay, 'f', 6, 64)
	return strings.TrimRight(strings.TrimRight(days, "0"), ".")
}

// lifetime returns seconds, 0 for none. For text that is no lifetime it returns -1, which
// the rule refuses together with other invalid fields.
func (f keyTypeForm) lifetime() int64 {
	if f.days == "" {
		return 0
	}
	days, err := strconv.ParseFloat(f.days, 64)
	seconds := math.Round(days * secondsADay)
	if err != nil || !(seconds >= 1 && seconds < math.MaxInt32) { // NaN is neither
		return -1
	}
	return int64(seconds)
}

func (f keyTypeForm) view(action string, wrong *formErrors) projects.KeyTypeForm {
	m := projects.KeyTypeForm{
		Open:     wrong.status != 0,
		Action:   action,
		Revision: f.revision,
		Name:     wrong.value("/name", f.name),
		Scopes:   ui.Value{Text: f.scopes, Error: wrong.takeLines("/scopes", strings.Fields(f.scopes))},
		Windows:  windowFields(f.limits, wrong),
		Days:     wrong.value("/expires_in", f.days),
	}
	if m.Days.Error != "" { // the rule speaks of seconds
		m.Days.Error = "Enter a number of days up to 3650, or leave it empty."
	}
	m.Error = wrong.rest()
	return m
}

func (h *Handler) showKeyTypes(v *visit) (web.Answer, error) {
	return h.keyTypesWith(v, keyTypeForm{}, &formErrors{})
}

// keyTypesWith shows the list of key types, with the form as typed.
func (h *Handler) keyTypesWith(v *visit, form keyTypeForm, wrong *formErrors) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	v.selectTeam(p.Team)
	m := projects.KeyTypes{
		Page:    v.shell("Key types", keyTypesPath(p), projectsCrumb(), projectCrumb(p), ui.Crumb{Text: "Key types"}),
		BackURL: keysPath(p),
	}
	for _, version := range p.Versions {
		texts, _ := warningTexts(p.KeyTypeWarnings(version.ID), nil)
		m.Warnings = append(m.Warnings, texts...)
	}
	if v.mayChange(p, access.ProjectUpdate) {
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
			Lifetime: lifetimeText(t.ExpiresIn),
			Limits:   textOrNone(limitsText(typedLimits(t.Limits))),
		})
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: projects.KeyTypesPage(m)}, nil
}

// lifetimeText formats a lifetime in the largest unit of which it is a whole number.
func lifetimeText(seconds int64) string {
	switch {
	case seconds == 0:
		return "unlimited"
	case seconds%secondsADay == 0:
		return english.Plural(int(seconds/secondsADay), "day", "")
	case seconds%3600 == 0:
		return english.Plural(int(seconds/3600), "hour", "")
	case seconds%60 == 0:
		return english.Plural(int(seconds/60), "minute", "")
	}
	return english.Plural(int(seconds), "second", "")
}

func (h *Handler) createKeyType(v *visit) (web.Answer, error) {
	form := postedKeyType(v)
	_, err := h.Projects.CreateKeyType(v.ctx(), v.who, contract.KeyTypeCreation{
		ProjectPath: contract.ProjectPath{Project: v.param("project")},
		Body: contract.NewKeyType{
			Name:      form.name,
			Scopes:    strings.Fields(form.scopes),
			ExpiresIn: form.lifetime(),
			Limits:    *readLimits(form.limits),
		},
	})
	if err == nil {
		return v.done("key_type", projectPath(v.param("project"))+"/key-types", form.name)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.keyTypesWith(v, form, wrong)
}

// keyTypeIn is the key type in the address.
func keyTypeIn(v *visit) contract.KeyTypePath {
	return contract.KeyTypePath{
		ProjectPath: contract.ProjectPath{Project: v.param("project")},
		KeyType:     v.param("key_type"),
	}
}

// keyTypeOf finds the key type in the address and its project.
func (h *Handler) keyTypeOf(v *visit) (rules.Project, contract.KeyType, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return p, contract.KeyType{}, err
	}
	t, ok := p.KeyType(v.param("key_type"))
	if !ok {
		return p, t, web.NotFound()
	}
	v.selectTeam(p.Team)
	return p, t, nil
}

func (h *Handler) showKeyType(v *visit) (web.Answer, error) {
	p, t, err := h.keyTypeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.keyTypeModel(v, p, t)
	return web.Show(projects.KeyTypePage(m)), err
}

func (h *Handler) keyTypeModel(v *visit, p rules.Project, t contract.KeyType) (projects.KeyType, error) {
	m := projects.KeyType{
		Page: v.shell(
			"Key type "+t.Name, keyTypePath(p, t), projectsCrumb(), projectCrumb(p),
			ui.Crumb{Text: "Key types", URL: keyTypesPath(p)}, ui.Crumb{Text: t.Name},
		),
		Name:    t.Name,
		KeysURL: keysOfType(p, t),
		BackURL: keyTypesPath(p),
	}
	total, err := h.Keys.Count(v.ctx(), v.who, contract.KeyList{
		ProjectPath: contract.ProjectPath{Project: p.ID},
		KeyType:     t.Name,
	})
	if err != nil {
		return m, err
	}
	m.Facts = []ui.Fact{{Label: "Keys", Value: someText(total)}}
	if t.BuiltIn {
		m.Facts = append(m.Facts, ui.Fact{Label: "Scopes", Value: strings.Join(t.Scopes, " "), Mono: true},
			ui.Fact{Label: "Changes", Value: "none: it's built in and the same in every project"})
		return m, nil
	}
	if !v.mayChange(p, access.ProjectUpdate) {
		m.Facts = append(m.Facts, ui.Fact{Label: "Scopes", Value: strings.Join(t.Scopes, " "), Mono: true},
			ui.Fact{Label: "Lifetime", Value: lifetimeText(t.ExpiresIn)},
			ui.Fact{Label: "Limits", Value: textOrNone(limitsText(typedLimits(t.Limits)))})
		return m, nil
	}
	edit := keyTypeFormFor(t).view(keyTypePath(p, t), &formErrors{})
	m.Edit = &edit
	m.Delete = &ui.Confirmation{
		ID:     "type-confirm",
		Action: keyTypePath(p, t) + "/delete",
		Verb:   "Delete",
		Kind:   "key type",
		Name:   t.Name,
		Impact: []string{
			countText(total, "key") + " of this type. You can delete it only if no key has ever had it.",
		},
		Undo: "You can create it again.",
	}
	return m, nil
}

func (h *Handler) saveKeyType(v *visit) (web.Answer, error) {
	form := postedKeyType(v)
	scopes := strings.Fields(form.scopes)
	changed, err := h.Projects.UpdateKeyType(v.ctx(), v.who, contract.KeyTypeUpdate{
		KeyTypePath: keyTypeIn(v),
		Condition:   contract.Condition{IfMatch: form.revision},
		Body: contract.KeyTypeChange{
			Scopes:    &scopes,
			ExpiresIn: contract.Sent(form.lifetime()),
			Limits:    contract.Sent(contract.Limits(*readLimits(form.limits))),
		},
	})
	if err == nil {
		return v.done("key_type", projectPath(v.param("project"))+"/key-types/"+v.param("key_type"), changed.Name)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.keyTypeConflict(v, form)
	}
	return h.refusedKeyType(v, err, func(m *projects.KeyType, wrong *formErrors) {
		if m.Edit != nil {
			*m.Edit = form.view(m.Edit.Action, wrong)
		} else {
			m.Error = wrong.rest()
		}
	})
}

func (h *Handler) deleteKeyType(v *visit) (web.Answer, error) {
	err := v.confirmed("Tick the box to delete the key type.")
	if err == nil {
		_, err = h.Projects.DeleteKeyType(v.ctx(), v.who, contract.KeyTypeDeletion{KeyTypePath: keyTypeIn(v)})
	}
	if err == nil {
		return v.done("key_type_gone", projectPath(v.param("project"))+"/key-types")
	}
	return h.refusedKeyType(v, err, func(m *projects.KeyType, wrong *formErrors) { v.mark(m.Delete, wrong) })
}

// refusedKeyType shows the key type's page as it is now, with what mark adds to it.
func (h *Handler) refusedKeyType(
	v *visit, err error, mark func(*projects.KeyType, *formErrors),
) (web.Answer, error) {
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	p, t, err := h.keyTypeOf(v)
	if err == nil {
		err = v.allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.keyTypeModel(v, p, t)
	if err != nil {
		return web.Answer{}, err
	}
	mark(&m, wrong)
	return web.Answer{Status: wrong.status, Page: projects.KeyTypePage(m)}, nil
}

// keyTypeConflict shows what was saved meanwhile beside what was typed.
func (h *Handler) keyTypeConflict(v *visit, mine keyTypeForm) (web.Answer, error) {
	p, t, err := h.keyTypeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	path, saved := keyTypePath(p, t), keyTypeFormFor(t)
	m := projects.Conflict{
		Page: v.shell("Changed since you opened it", path, projectsCrumb(), projectCrumb(p), ui.Crumb{
			Text: "Key types",
			URL:  keyTypesPath(p),
		}),
		BackURL: path,
		Action:  path,
		What:    "The key type " + t.Name,
		Rows: []projects.Difference{
			{Label: "Scopes", Theirs: scopesText(saved.scopes), Yours: scopesText(mine.scopes)},
			{Label: "Lifetime in days", Theirs: textOrNone(saved.days), Yours: textOrNone(mine.days)},
			{
				Label:  "Limits",
				Theirs: textOrNone(limitsText(saved.limits)),
				Yours:  textOrNone(limitsText(mine.limits)),
			},
		},
	}
	m.Hidden = []projects.Pair{
		{Name: "revision", Value: t.ETag},
		{Name: "scopes", Value: mine.scopes},
		{Name: "expires_in", Value: mine.days},
	}
	for _, window := range windowTitles() {
		m.Hidden = append(m.Hidden, projects.Pair{Name: "limits_" + window, Value: mine.limits[window]})
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}

func scopesText(typed string) string { return textOrNone(strings.Join(strings.Fields(typed), " ")) }
