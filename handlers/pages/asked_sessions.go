package pages

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
	"postern/views/ui"
)

// askEndSession asks before the account is signed out of one browser.
func (h *Handler) askEndSession(v *visit) (web.Answer, error) {
	found, err := h.Accounts.Sessions(v.ctx(), v.who, contract.SessionList{})
	if err != nil {
		return web.Answer{}, err
	}
	i := slices.IndexFunc(found.Items, func(s contract.Session) bool { return s.ID == v.param("session") })
	if i < 0 {
		return web.Answer{}, access.NotFound()
	}
	one := found.Items[i]
	title := "Sign out of " + web.BrowserName(one.UserAgent)
	return v.ask(ui.Asked{
		Page:  v.shell(title, "/account/sessions"),
		Title: title,
		Facts: []ui.Fact{
			{Label: "From", Value: cmp.Or(one.RemoteAddr, "unknown")},
			{Label: "Signed in", Value: moment(one.CreatedAt)},
			{Label: "Last seen", Value: humanize.Time(one.LastSeenAt)},
		},
		Confirm: ui.Confirmation{
			Title: "Sign out",
			Impact: []string{"The next page it opens will ask you to sign in, and unsaved input is lost. Access " +
				"tokens keep working."},
			Undo:     "You can sign in there again.",
			ByButton: true,
		},
		BackURL: "/account/sessions",
	})
}

// askEndOtherSessions asks before the account is signed out everywhere else.
func (h *Handler) askEndOtherSessions(v *visit) (web.Answer, error) {
	all, err := h.Accounts.Sessions(v.ctx(), v.who, contract.SessionList{Sort: "-last_seen"})
	if err != nil {
		return web.Answer{}, err
	}
	found := slices.DeleteFunc(all.Items, func(s contract.Session) bool { return s.Current })
	facts := []ui.Fact{{Label: "Elsewhere", Value: countText(int64(len(found)), "session")}}
	if len(found) > 0 {
		last := found[0]
		facts = append(facts, ui.Fact{
			Label: "Last used",
			Value: web.BrowserName(last.UserAgent) + " from " + cmp.Or(last.RemoteAddr, "an unknown address") + ", " +
				humanize.Time(last.LastSeenAt),
		})
	}
	const title = "Sign out everywhere else"
	return v.ask(ui.Asked{
		Page:  v.shell(title, "/account/sessions"),
		Title: title,
		Facts: facts,
		Confirm: ui.Confirmation{
			Title: title,
			Impact: []string{"You'll have to sign in again in all other browsers. Access tokens and this session " +
				"keep working."},
			Undo:     "You can sign in there again.",
			ByButton: true,
		},
		BackURL: "/account/sessions",
	})
}

// askUnlink asks before an identity can no longer sign in to the account.
func (h *Handler) askUnlink(v *visit) (web.Answer, error) {
	ways, err := h.Accounts.SignInMethods(v.ctx(), v.who)
	if err != nil {
		return web.Answer{}, err
	}
	i := slices.IndexFunc(ways.Identities, func(one accounts.Identity) bool { return one.ID == v.param("identity") })
	if i < 0 {
		return web.Answer{}, access.NotFound()
	}
	one := ways.Identities[i]
	name := h.issuerName(one.Issuer)
	var stays []string
	if ways.Password {
		stays = []string{"your password"}
	}
	if others := int64(len(ways.Identities) - 1); others > 0 {
		stays = append(stays, countText(others, "other linked sign-in"))
	}
	if len(stays) == 0 {
		return h.linkedWithError(v, accounts.LastSignIn())
	}
	return v.ask(ui.Asked{
		Page:  v.shell("Unlink "+name, "/account/signins"),
		Title: "Unlink " + name,
		Facts: []ui.Fact{
			{Label: "Email", Value: cmp.Or(one.Email, "none")},
			{Label: "Last used", Value: humanize.Time(one.SeenAt)},
			{Label: "You sign in with", Value: english.WordSeries(stays, "and") + " from now on"},
		},
		Confirm: ui.Confirmation{
			Verb:     "Unlink",
			Kind:     name,
			Impact:   []string{"You can't sign in with it anymore. Open sessions keep working."},
			Undo:     "You can link it again.",
			ByButton: true,
		},
		BackURL: "/account/signins",
	})
}

// askOfUser asks for something on a user's page, for those who may change users.
func (h *Handler) askOfUser(v *visit, ask func(contract.User) (ui.Asked, error)) (web.Answer, error) {
	u, t, err := h.userOf(v)
	if err == nil {
		err = access.Check(v.who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := ask(u)
	if err != nil {
		return web.Answer{}, err
	}
	m.Page = v.tenantShell(t, m.Title, userPath(u.ID), ui.Crumb{Text: "Users", URL: usersPath(t.ID)},
		ui.Crumb{Text: userTitle(u), URL: userPath(u.ID)}, ui.Crumb{Text: m.Title})
	m.BackURL, m.Confirm.ByButton = userPath(u.ID), true
	return v.ask(m)
}

// endsAtOnce is what happens to the access tokens of a session that ends.
const endsAtOnce = "The gateway refuses its access tokens immediately, and it can't get new ones."

// askEndUserSession asks before a session of a user ends.
func (h *Handler) askEndUserSession(v *visit) (web.Answer, error) {
	return h.askOfUser(v, func(u contract.User) (ui.Asked, error) {
		one, err := h.Login.Session(v.ctx(), v.who, sessionIn(v))
		if err != nil {
			return ui.Asked{}, err
		}
		facts := []ui.Fact{{Label: "App", Value: one.ClientName}, {Label: "Since", Value: moment(one.CreatedAt)}}
		if one.UserAgent != "" {
			facts = append(facts, ui.Fact{Label: "Browser", Value: web.BrowserName(one.UserAgent)})
		}
		if one.LastSeenAt != nil {
			facts = append(facts, ui.Fact{Label: "Last seen", Value: humanize.Time(*one.LastSeenAt)})
		}
		return ui.Asked{
			Title: "End a session of " + userTitle(u),
			Facts: facts,
			Confirm: ui.Confirmation{
				Verb:   "End",
				Kind:   "session",
				Impact: []string{endsAtOnce},
				Undo:   "The user can sign in again.",
			},
		}, nil
	})
}

// askEndUserSessions asks before a user is logged out everywhere.
func (h *Handler) askEndUserSessions(v *visit) (web.Answer, error) {
	return h.askOfUser(v, func(u contract.User) (ui.Asked, error) {
		live, err := h.Login.Sessions(v.ctx(), v.who, contract.UserSessionList{
			UserPath: u.Path(), Page: contract.Page{Limit: 1, Count: true},
		})
		if err != nil {
			return ui.Asked{}, err
		}
		return ui.Asked{
			Title: "Sign out " + userTitle(u) + " everywhere",
			Facts: []ui.Fact{
				{Label: "Signed in", Value: countText(live.Total, "session")},
				{Label: "Last sign-in", Value: momentOrNever(u.LastLoginAt)},
			},
			Confirm: ui.Confirmation{
				Title:  "Sign out everywhere",
				Impact: []string{"The gateway immediately refuses the access tokens of all sessions, in every app."},
				Undo:   "The user can sign in again.",
			},
		}, nil
	})
}

// askWithdrawConsent asks before a user's consent to an app is withdrawn.
func (h *Handler) askWithdrawConsent(v *visit) (web.Answer, error) {
	return h.askOfUser(v, func(u contract.User) (ui.Asked, error) {
		given, err := h.Login.Consents(v.ctx(), v.who, u.Path())
		if err != nil {
			return ui.Asked{}, err
		}
		i := slices.IndexFunc(given.Items, func(one contract.Consent) bool { return one.Client == v.param("client") })
		if i < 0 {
			return ui.Asked{}, access.NotFound()
		}
		one := given.Items[i]
		return ui.Asked{
			Title: "Withdraw the consent to " + one.ClientName,
			Facts: []ui.Fact{
				{Label: "User", Value: userTitle(u)},
				{Label: "Shares", Value: textOrNone(strings.Join(one.Scopes, ", "))},
				{Label: "Since", Value: day(one.CreatedAt)},
			},
			Confirm: ui.Confirmation{
				Verb: "Withdraw",
				Kind: "consent",
				Impact: []string{
					"The user's sessions at " + one.ClientName + " end immediately, with their access tokens.",
				},
				Undo: "The user is asked again at the next sign-in.",
			},
		}, nil
	})
}

// askSignIn answers a form about a user's sign-in with the question before it. What ended
// meanwhile needs none.
func (h *Handler) askSignIn(v *visit, notice string, ask func(*visit) (web.Answer, error)) (web.Answer, error) {
	answer, err := ask(v)
	if fault.KindOf(err) == fault.NotFound {
		return h.signInEnded(v, err, notice)
	}
	return answer, err
}
