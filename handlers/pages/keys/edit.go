package keys

import (
	"net/http"
	"time"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// keyForm holds what the form that changes a key shows.
type keyForm struct {
	revision  string
	texts     any // a key, or a change of one
	metadata  string
	expiresOn string
	bounds    keyBounds
}

func keyFormFor(k contract.Key) keyForm {
	return keyForm{
		revision: k.ETag, texts: k, metadata: metadataText(k.Metadata), expiresOn: dayValue(k.ExpiresAt),
		bounds: boundsOf(k),
	}
}

// dayValue formats a time for an input of type date.
func dayValue(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func (h *Handler) saveKey(v *page.Visit) (web.Answer, error) {
	p, k, err := h.keyOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	if err := v.Allowed(p, access.KeyChange); err != nil {
		return web.Answer{}, err
	}
	var typed contract.KeyChange
	v.Fill(&typed, changed...)
	form := keyForm{
		revision: v.Posted("revision"), texts: typed, metadata: v.Posted("metadata"),
		expiresOn: v.Posted("expires_at"), bounds: postedBounds(v),
	}
	change, err := form.change(typed, k)
	if err == nil {
		_, err = h.Keys.Update(v.Ctx(), v.Who, contract.KeyUpdate{
			KeyPath: k.Path(), Condition: v.Condition(), Body: change,
		})
	}
	if err == nil {
		return v.Done("key_saved", page.KeyPath(p, k.ID), k.Display(), k.Owner)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.keyConflict(v, p, form)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m := keyModel(v, p, k)
	if m.Edit != nil {
		m.Edit = form.view(p, k, wrong)
	}
	m.Error = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: projects.KeyPage(m)}, nil
}

// change adds limits and the expiry to what was typed. It keeps the expiry if its day is unchanged: the form has the
// day only, and the key may expire in the middle of it.
func (f keyForm) change(typed contract.KeyChange, k contract.Key) (contract.KeyChange, error) {
	typed.Limits = contract.Null[contract.Limits]()
	if limits := f.bounds.limits(); limits != nil {
		typed.Limits = contract.Sent(limits)
	}
	if f.expiresOn == dayValue(k.ExpiresAt) {
		return typed, nil
	}
	ends, err := page.EndOfDay(f.expiresOn)
	typed.ExpiresAt = contract.Optional[time.Time]{Sent: true, Value: ends}
	return typed, err
}

// view is the form on the key's page, with its mistakes.
func (f keyForm) view(p rules.Project, k contract.Key, wrong *page.Errors) *projects.KeyEdit {
	return &projects.KeyEdit{Open: len(wrong.Fields) > 0, Action: page.KeyPath(p, k.ID), Revision: f.revision,
		Texts: wrong.TextFields("edit", f.texts, texts...), Metadata: wrong.Value("/metadata", f.metadata),
		Expires: wrong.Value("/expires_at", f.expiresOn), Bounds: f.bounds.form(inheritedText(p, k.KeyType), wrong)}
}

// keyEditOf returns nil for a key that can no longer be changed.
func keyEditOf(p rules.Project, k contract.Key) *projects.KeyEdit {
	if k.State == contract.KeyRevoked {
		return nil
	}
	return keyFormFor(k).view(p, k, &page.Errors{})
}

// keyConflict shows what was saved since next to what was typed, which can be saved
// over it.
func (h *Handler) keyConflict(v *page.Visit, p rules.Project, mine keyForm) (web.Answer, error) {
	k, err := h.Keys.Get(v.Ctx(), v.Who, keyIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	path, saved := page.KeyPath(p, k.ID), keyFormFor(k)
	m := projects.Conflict{
		Page:    v.Shell("Changed since you opened this page", path, keyCrumbs(p, ui.Crumb{Text: k.Display()})...),
		BackURL: path,
		Action:  path,
		What:    "The key for " + k.Owner,
	}
	compareWritten(&m, k, mine.texts)
	m.Rows = append(m.Rows,
		projects.Difference{
			Label:  page.FieldLabel("metadata"),
			Theirs: page.TextOrNone(string(k.Metadata)),
			Yours:  page.TextOrNone(string(contract.ParseMetadata(mine.metadata))),
		},
		projects.Difference{Label: "Expires", Theirs: dayText(saved.expiresOn), Yours: dayText(mine.expiresOn)},
		projects.Difference{
			Label: "Limits", Theirs: saved.bounds.chosenLimits(), Yours: mine.bounds.chosenLimits(),
		},
		projects.Difference{
			Label: "Allowed addresses", Theirs: saved.bounds.rangesText(), Yours: mine.bounds.rangesText(),
		})
	m.Hidden = append(m.Hidden,
		projects.Pair{Name: "revision", Value: k.ETag},
		projects.Pair{Name: "metadata", Value: mine.metadata},
		projects.Pair{Name: "expires_at", Value: mine.expiresOn},
		projects.Pair{Name: "limits_of", Value: mine.bounds.of},
		projects.Pair{Name: "allowed_cidrs", Value: mine.bounds.allowed})
	for _, window := range page.WindowTitles() {
		if typed := mine.bounds.windows[window]; typed != "" {
			m.Hidden = append(m.Hidden, projects.Pair{Name: "limits_" + window, Value: typed})
		}
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}

func dayText(day string) string {
	if day == "" {
		return "never"
	}
	return day
}

func (b keyBounds) chosenLimits() string {
	switch b.of {
	case limitsOfOwn:
		return page.TextOrNone(page.LimitsText(b.windows))
	case limitsOfNone:
		return "none"
	}
	return "same as the key type"
}

func (b keyBounds) rangesText() string {
	return page.RangesText(page.Lines(b.allowed), "anywhere")
}
