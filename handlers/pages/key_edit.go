package pages

import (
	"net/http"
	"strings"
	"time"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// keyForm holds the fields of the form that changes a key, as typed.
type keyForm struct {
	revision, description, expiresOn string
	bounds                           keyBounds
}

func keyFormFor(k contract.Key) keyForm {
	return keyForm{revision: k.ETag, description: k.Description, expiresOn: dayValue(k.ExpiresAt), bounds: boundsOf(k)}
}

// dayValue formats a time for an input of type date.
func dayValue(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func (h *Handler) saveKey(v *visit) (web.Answer, error) {
	p, k, err := h.keyOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	if err := v.allowed(p, access.KeyChange); err != nil {
		return web.Answer{}, err
	}
	form := keyForm{
		revision:    v.posted("revision"),
		description: strings.TrimSpace(v.posted("description")),
		expiresOn:   v.posted("expires_at"),
		bounds:      postedBounds(v),
	}
	change, err := form.change(k)
	if err == nil {
		_, err = h.Keys.Update(v.ctx(), v.who, contract.KeyUpdate{
			KeyPath:   k.Path(),
			Condition: contract.Condition{IfMatch: form.revision},
			Body:      change,
		})
	}
	if err == nil {
		return v.done("key_saved", keyPath(p, k.ID), k.Display(), k.Owner)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.keyConflict(v, p, form)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m := keyModel(v, p, k)
	if m.Edit != nil {
		m.Edit = form.view(p, k, wrong)
	}
	m.Error = wrong.rest()
	return web.Answer{Status: wrong.status, Page: projects.KeyPage(m)}, nil
}

// change keeps the expiry if its day is unchanged: the form has the day only, and the key
// may expire in the middle of it.
func (f keyForm) change(k contract.Key) (contract.KeyChange, error) {
	ranges := lines(f.bounds.allowed)
	out := contract.KeyChange{
		Description:  &f.description,
		Limits:       contract.Null[contract.Limits](),
		AllowedCIDRs: &ranges,
	}
	if limits := f.bounds.limits(); limits != nil {
		out.Limits = contract.Sent(limits)
	}
	if f.expiresOn == dayValue(k.ExpiresAt) {
		return out, nil
	}
	ends, err := endOfDay(f.expiresOn)
	out.ExpiresAt = contract.Optional[time.Time]{Sent: true, Value: ends}
	return out, err
}

// view is the form on the key's page, with its mistakes.
func (f keyForm) view(p rules.Project, k contract.Key, wrong *formErrors) *projects.KeyEdit {
	return &projects.KeyEdit{Open: len(wrong.fields) > 0, Action: keyPath(p, k.ID), Revision: f.revision,
		Description: wrong.value("/description", f.description), Expires: wrong.value("/expires_at", f.expiresOn),
		Bounds: f.bounds.form(inheritedText(p, k.KeyType), wrong)}
}

// keyEditOf returns nil for a key that can no longer be changed.
func keyEditOf(p rules.Project, k contract.Key) *projects.KeyEdit {
	if k.State == contract.KeyRevoked {
		return nil
	}
	return keyFormFor(k).view(p, k, &formErrors{})
}

// keyConflict shows what was saved meanwhile beside what was typed, which can be saved
// over it.
func (h *Handler) keyConflict(v *visit, p rules.Project, mine keyForm) (web.Answer, error) {
	k, err := h.Keys.Get(v.ctx(), v.who, keyIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	path, saved := keyPath(p, k.ID), keyFormFor(k)
	m := projects.Conflict{
		Page:    v.shell("Changed since you opened it", path, projectsCrumb(), projectCrumb(p), ui.Crumb{Text: "Key"}),
		BackURL: path,
		Action:  path,
		What:    "The key of " + k.Owner,
		Rows: []projects.Difference{
			{Label: "Description", Theirs: textOrNone(saved.description), Yours: textOrNone(mine.description)},
			{Label: "Expires", Theirs: dayText(saved.expiresOn), Yours: dayText(mine.expiresOn)},
			{Label: "Limits", Theirs: saved.bounds.chosenLimits(), Yours: mine.bounds.chosenLimits()},
			{Label: "Allowed addresses", Theirs: saved.bounds.rangesText(), Yours: mine.bounds.rangesText()},
		},
	}
	m.Hidden = []projects.Pair{
		{Name: "revision", Value: k.ETag},
		{Name: "description", Value: mine.description},
		{Name: "expires_at", Value: mine.expiresOn},
		{Name: "limits_of", Value: mine.bounds.of},
		{Name: "allowed_cidrs", Value: mine.bounds.allowed},
	}
	for _, window := range windowTitles() {
		if typed := mine.bounds.windows[window]; typed != "" {
			m.Hidden = append(m.Hidden, projects.Pair{Name: "limits_" + window, Value: typed})
		}
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}

// textOf returns the text that a member may have, "" for null.
func textOf(member *string) string {
	if member == nil {
		return ""
	}
	return *member
}

func textOrNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
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
		return textOrNone(limitsText(b.windows))
	case limitsOfNone:
		return "none"
	}
	return "those of its type"
}

func (b keyBounds) rangesText() string {
	return rangesText(lines(b.allowed), "anywhere")
}
