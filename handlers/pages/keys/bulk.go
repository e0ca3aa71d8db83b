package keys

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// bulkChange is a change of several keys at once, as its page says it.
type bulkChange struct {
	verb, text, undo, flash string
	danger                  bool
	change                  keyRule
}

type keyRule func(*keys.Service, context.Context, access.Principal, contract.KeyPath) (contract.Key, error)

var bulkChanges = map[string]bulkChange{
	"freeze": {
		verb:   "Freeze",
		text:   "Calls with a frozen key get 403.",
		undo:   "You can unfreeze keys later.",
		flash:  "keys_frozen",
		change: (*keys.Service).Freeze,
	},
	"unfreeze": {
		verb:   "Unfreeze",
		text:   "An unfrozen key works again immediately.",
		undo:   "You can freeze keys again later.",
		flash:  "keys_unfrozen",
		change: (*keys.Service).Unfreeze,
	},
	"revoke": {
		verb:   "Revoke",
		text:   "Calls with a revoked key get 401.",
		flash:  "keys_revoked",
		danger: true,
		change: (*keys.Service).Revoke,
	},
}

// recentCall is how long ago a call counts for what a change of keys stops.
const recentCall = time.Hour

// mostNamed bounds how many owners are named.
const mostNamed = 5

// changeKeys asks before it changes the chosen keys, and changes them once the box is ticked. Each key is changed
// separately: keys before one that cannot be changed stay changed.
func (h *Handler) changeKeys(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err == nil {
		err = v.Allowed(p, access.KeyChange)
	}
	if err != nil {
		return web.Answer{}, err
	}
	do, ok := bulkChanges[v.Posted("do")]
	if !ok {
		return web.Answer{}, fault.InvalidField("/do", "invalid_action", "Use freeze, unfreeze or revoke.")
	}
	chosen, err := h.chosenKeys(v, p)
	if err != nil {
		return web.Answer{}, err
	}
	if len(chosen) == 0 {
		m, err := h.keysPage(v, p)
		m.Keys.BulkError = "Select at least one key."
		return web.Answer{Status: http.StatusUnprocessableEntity, Page: projects.KeysPage(m)}, err
	}
	m := bulkPage(v, p, do, chosen)
	if v.Posted("confirm") != "true" {
		return web.Show(projects.KeyBulkPage(m)), nil
	}
	for _, k := range chosen {
		if _, err := do.change(h.Keys.InProject(p.ID), v.Ctx(), v.Who, k.Path()); err != nil {
			wrong, ok := page.ErrorsIn(err)
			if !ok {
				return web.Answer{}, err
			}
			m.Error = "Key " + k.Display() + " for " + k.Owner + ": " + wrong.Rest()
			return web.Answer{Status: wrong.Status, Page: projects.KeyBulkPage(m)}, nil
		}
	}
	return v.Done(do.flash, page.KeysPath(p), chosenText(chosen))
}

// chosenKeys returns the keys of the form, at most a page of them.
func (h *Handler) chosenKeys(v *page.Visit, p rules.Project) ([]contract.Key, error) {
	ids := slices.Compact(slices.Sorted(slices.Values(v.Gin.Request.PostForm["key"])))
	if len(ids) > models.DefaultLimit {
		return nil, fault.InvalidField("/key", "too_many", "Select at most %d keys.", models.DefaultLimit)
	}
	home := keys.Home{ID: p.ID, Team: p.Team, Limits: p.Limits.Key}
	var chosen []contract.Key
	for _, id := range ids {
		k, err := h.Keys.GetFrom(v.Ctx(), v.Who, home, id)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, k)
	}
	return chosen, nil
}

func bulkPage(v *page.Visit, p rules.Project, do bulkChange, chosen []contract.Key) projects.KeyBulk {
	v.SelectTeam(p.Team)
	title := do.verb + " " + english.Plural(len(chosen), "key", "")
	m := projects.KeyBulk{
		Page:    v.Shell(title, page.KeysPath(p), keyCrumbs(p, ui.Crumb{Text: title})...),
		Title:   title,
		Action:  page.KeysPath(p) + "/change",
		Do:      v.Posted("do"),
		Impact:  []string{impactOf(chosen), do.text},
		Undo:    do.undo,
		Tick:    title,
		Button:  title,
		Danger:  do.danger,
		BackURL: page.KeysPath(p),
	}
	for _, k := range chosen {
		m.Keys = append(m.Keys, keyRow(p, k))
	}
	return m
}

// impactOf says whose calls a change of the keys reaches.
func impactOf(chosen []contract.Key) string {
	var owners []string
	for _, k := range chosen {
		if k.LastUsedAt != nil && time.Since(*k.LastUsedAt) < recentCall {
			owners = append(owners, k.Owner)
		}
	}
	owners = slices.Compact(slices.Sorted(slices.Values(owners)))
	them := english.PluralWord(len(chosen), "it", "them")
	switch {
	case len(owners) == 0:
		return "No calls used " + them + " in the last hour."
	case len(chosen) == 1:
		return owners[0] + " made calls with it in the last hour."
	}
	return english.Plural(len(owners), "owner", "") + " made calls with them in the last hour: " +
		english.WordSeries(owners[:min(len(owners), mostNamed)], "and") + "."
}

// chosenText names the keys, such as "key sk_1a…9x2f for ana and 2 other keys".
func chosenText(chosen []contract.Key) string {
	first := "key " + chosen[0].Display() + " for " + chosen[0].Owner
	if others := len(chosen) - 1; others > 0 {
		return first + " and " + english.Plural(others, "other key", "")
	}
	return first
}
