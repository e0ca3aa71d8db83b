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

// keyModel is a key's page with the forms that its state allows.
func keyModel(v *page.Visit, p rules.Project, k contract.Key) projects.Key {
	path := page.KeyPath(p, k.ID)
	m := projects.Key{
		Page:       v.Shell("Key of "+k.Owner, path, page.ProjectsCrumb(), page.ProjectCrumb(p), ui.Crumb{Text: "Key"}),
		Owner:      k.Owner,
		Display:    k.Display(),
		State:      page.KeyBadge(k),
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
				Name:   k.Display() + " of " + k.Owner,
				Impact: []string{
					m.Impact,
					"After the grace period, calls with the old secret get 401.",
				},
				Undo:     "You can't bring back the old secret. The key itself, its scopes and its limits stay.",
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
			Name:   k.Display() + " of " + k.Owner,
			Impact: []string{m.Impact, "Calls with it will get 401."},
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
		{Label: "Created", Value: page.Moment(k.CreatedAt)},
		{Label: "Expires", Value: page.MomentOrNever(k.ExpiresAt)},
		{Label: "Last used", Value: page.MomentOrNever(k.LastUsedAt)},
	}
	if k.Description != "" {
		facts = append([]ui.Fact{{Label: "Description", Value: k.Description}}, facts...)
	}
	if k.GraceEndsAt != nil {
		facts = append(facts, ui.Fact{Label: "Old secret works until", Value: page.Moment(*k.GraceEndsAt)})
	}
	return facts
}

func reachText(k contract.Key) string {
	if k.Product == nil {
		return "this project"
	}
	return "every project of " + *k.Product
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
