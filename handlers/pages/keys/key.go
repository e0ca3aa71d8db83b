package keys

import (
	"strconv"
	"strings"
	"time"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/service/access"
	"postern/service/keys"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// keyCrumbs lead from the projects to a page of the project's keys, by its keys.
func keyCrumbs(p rules.Project, to ...ui.Crumb) []ui.Crumb {
	way := []ui.Crumb{page.ProjectsCrumb(), page.ProjectCrumb(p), {Text: "Keys", URL: page.KeysPath(p)}}
	return append(way, to...)
}

// keyModel is a key's page with the forms that its state allows.
func keyModel(v *page.Visit, p rules.Project, k contract.Key) projects.Key {
	path := page.KeyPath(p, k.ID)
	m := projects.Key{
		Page:       v.Shell("Key for "+k.Owner, path, keyCrumbs(p, ui.Crumb{Text: k.Display()})...),
		Owner:      k.Owner,
		Display:    k.Display(),
		State:      page.KeyBadge(k.State),
		Facts:      keyFacts(k),
		BackURL:    page.KeysPath(p),
		HistoryURL: v.HistoryOf(p, k.ID),
		Edit:       keyEditOf(p, k),
	}
	if !v.MayChange(p, access.KeyChange) {
		m.Edit = nil
		return m
	}
	m.Impact = impactOf([]contract.Key{k})
	switch k.State {
	case contract.KeyActive:
		m.Rotate = &projects.Rotate{
			ETag:  k.ETag,
			Grace: graceOptions(),
			Confirm: ui.Confirmation{
				ID:     "rotate-confirm",
				Action: path + "/rotate",
				Verb:   "Rotate",
				Kind:   "key",
				Name:   k.Display() + " for " + k.Owner,
				Impact: []string{
					m.Impact,
					"After the grace period, calls with the old secret will get 401.",
				},
				Undo:     "You can't restore the old secret. The key keeps its scopes and limits.",
				ByButton: true,
			},
		}
		m.FreezeAction = path + "/freeze"
	case contract.KeyFrozen:
		m.UnfreezeAction = path + "/unfreeze"
	}
	if k.State != contract.KeyRevoked {
		m.Revoke = &ui.Confirmation{
			ID:     "revoke-confirm",
			Action: path + "/revoke",
			Verb:   "Revoke",
			Kind:   "key",
			Name:   k.Display() + " for " + k.Owner,
			Impact: []string{m.Impact, "Calls with this key will get 401."},
		}
	}
	return m
}

func keyFacts(k contract.Key) []ui.Fact {
	facts := []ui.Fact{
		{Label: "ID", Value: k.ID, Mono: true, Copy: "key-id"},
		{Label: "Type", Value: k.KeyType},
		{Label: "Scopes", Value: strings.Join(k.Scopes, " "), Mono: true},
		{Label: "Environment", Value: environmentText(k)},
		{Label: "Tenant", Value: k.Tenant},
		{Label: "Valid for", Value: reachText(k)},
		{Label: "Limits", Value: effectiveText(k)},
		{Label: "Allowed addresses", Value: boundsOf(k).rangesText()},
		{Label: "Created", Time: k.CreatedAt},
		page.TimeFact("Expires", k.ExpiresAt),
		page.TimeFact("Last used", k.LastUsedAt),
	}
	facts = append(writtenFacts(k), facts...)
	if k.GraceEndsAt != nil {
		facts = append(facts, page.TimeFact("Old secret expires", k.GraceEndsAt))
	}
	return facts
}

func reachText(k contract.Key) string {
	if k.Product == nil {
		return "this project"
	}
	return "every project in " + *k.Product
}

func graceOptions() []ui.Option {
	var out []ui.Option
	for _, o := range []struct {
		grace time.Duration
		title string
	}{
		{0, "None"},
		{time.Hour, "1 hour"},
		{24 * time.Hour, "24 hours"},
		{7 * 24 * time.Hour, "7 days"},
		{keys.MaxGrace, "30 days"},
	} {
		out = append(out, ui.Option{
			Value:  strconv.Itoa(int(o.grace.Seconds())),
			Title:  o.title,
			Chosen: o.grace == keys.DefaultGrace,
		})
	}
	return out
}

// Times are shown in UTC, the zone of every limit and expiry.
