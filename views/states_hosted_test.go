package views_test

import (
	"net/url"

	"postern/views/login"
)

func hostedStates() []state {
	return []state{
		{"hosted-choose", login.ChoosePage(hostedChoose())},
		{"hosted-plain", login.ChoosePage(login.Choose{
			Shell:     login.Shell{Title: "Sign in to web", App: "web"},
			Providers: hostedChoose().Providers[:1],
		})},
		{"hosted-failed", login.ChoosePage(hostedFailed())},
		{"hosted-consent", login.ConsentPage(hostedConsent())},
		{"hosted-consent-grown", login.ConsentPage(hostedGrown())},
		{"hosted-consent-permissions", login.ConsentPage(hostedPermissions(""))},
		{"hosted-consent-permissions-de", login.ConsentPage(hostedPermissions("de"))},
		{"hosted-address", login.ChoosePage(hostedAddress(hosted(), "No sign-in provider is set up for the domain "+
			"of this address. Choose another way to sign in, or contact the application's support team."))},
		{
			"hosted-address-de",
			login.ChoosePage(hostedAddress(hostedIn("de"), "Für die Domain dieser Adresse ist kein Anmeldedienst "+
				"eingerichtet. Wählen Sie einen anderen, oder wenden Sie sich an den Support der Anwendung.")),
		},
		{"hosted-choose-de", login.ChoosePage(login.Choose{
			Shell:     hostedIn("de"),
			Error:     "Sie haben die Anmeldung beim Anmeldedienst nicht abgeschlossen.",
			Back:      login.Back{URL: "/oauth/cli_1/login/lgn_1"},
			Providers: hostedChoose().Providers,
		})},
		{"hosted-problem-de", login.ProblemPage(login.Problem{
			Shell:     hostedIn("de"),
			Status:    403,
			Text:      "Ihr Konto ist gesperrt. Bitten Sie den Support der Anwendung, es zu entsperren.",
			RequestID: "req_1",
		})},
		{"hosted-signed-out-de", login.SignedOutPage(login.SignedOut{
			Shell:        hostedIn("de"),
			Back:         "/bye",
			Unregistered: true,
		})},
		{"hosted-account-de", login.AccountPage(hostedAccountDe())},
		{"hosted-account-signin-de", login.AccountSignInPage(hostedIn("de"), "/oauth/cli_1/account/signin", "Nein.")},
		{"hosted-account-stale", login.AccountPage(hostedAccountStale())},
		{"hosted-account", login.AccountPage(hostedAccount())},
		{"hosted-account-signin", login.AccountSignInPage(hosted(), "/oauth/cli_1/account/signin", "")},
		{"hosted-account-left", login.LeftPage(hosted(), "All of your sessions have ended, on this device and on "+
			"all others. Applications will ask you to sign in again.")},
		{"hosted-problem", login.ProblemPage(login.Problem{
			Shell:     hosted(),
			Status:    403,
			Text:      "Your account is frozen. Ask the application's support team to unfreeze it.",
			Back:      login.Back{URL: "/back"},
			RequestID: "req_06gz",
		})},
		{"hosted-problem-nowhere", login.ProblemPage(login.Problem{
			Shell:  login.Shell{Title: "Sign in"},
			Status: 400,
			Text: "The application asked to send you to a URL that isn't registered for it. Contact the " +
				"application's support team.",
		})},
		{"hosted-form-post", login.FormPostPage(login.FormPost{
			Shell: login.Shell{Title: "Sign in", App: "Acme"},
			Back: login.Back{
				URL:  "https://app.example.com/callback",
				Form: url.Values{"code": {"1"}, "state": {`"><script>`}},
			},
		})},
		{"hosted-unclaimed", login.ChoosePage(login.Choose{
			Shell:     hostedUnclaimed(),
			Providers: hostedChoose().Providers,
		})},
		{"hosted-unclaimed-consent", login.ConsentPage(hostedUnclaimedConsent())},
		{"hosted-unclaimed-refused", login.ProblemPage(login.Problem{
			Shell:     hostedUnclaimed(),
			Status:    400,
			Back:      login.Back{URL: "/back?error=invalid_request"},
			RequestID: "req_06gz",
			Text: "The application's request was refused: PKCE is required: send code_challenge with " +
				"code_challenge_method S256 (invalid_request).",
		})},
		{"hosted-unclaimed-signed-out", login.SignedOutPage(login.SignedOut{Shell: hostedUnclaimed(), Back: "/bye"})},
		{"hosted-signed-out", login.SignedOutPage(login.SignedOut{
			Shell:       hosted(),
			Provider:    "Okta",
			ProviderURL: "/out",
		})},
		{"hosted-sign-out", login.AskSignOutPage(login.SignOut{
			Shell:    hosted(),
			Who:      "ana@example.com",
			Action:   "/oauth/cli_1/logout/confirm",
			Fields:   []login.Field{{Name: "state", Value: "1"}},
			Provider: "Okta",
		})},
		{"hosted-sign-out-de", login.AskSignOutPage(login.SignOut{
			Shell:   hostedIn("de"),
			Refused: "Die Anwendung hat auf eine Anmeldung verwiesen, die hier nicht bekannt ist.",
			Action:  "/oauth/cli_1/logout/confirm",
		})},
		{"hosted-sign-out-refused", login.AskSignOutPage(login.SignOut{
			Shell:   hosted(),
			Refused: "The application referred to a sign-in that this server doesn't recognize.",
		})},
		{"hosted-trial", login.ChoosePage(hostedTestLogin())},
	}
}

func hosted() login.Shell {
	return login.Shell{
		Title:   "Sign in to Acme Orders",
		App:     "Acme Orders",
		Welcome: "For partners of Acme. Use the account you were invited with.",
		LogoURL: "https://cdn.example/logo.svg",
		Brand:   "/brand/0a7d55",
	}
}

func hostedUnclaimed() login.Shell {
	const site = "app.a-site-with-a-very-long-name.example.com"
	return login.Shell{Title: "Sign in", App: site, Unclaimed: true, Site: site}
}

func hostedUnclaimedConsent() login.Consent {
	m := hostedConsent()
	m.Shell = hostedUnclaimed()
	m.Site = "https://" + m.Shell.Site
	return m
}

func hostedChoose() login.Choose {
	return login.Choose{
		Shell: hosted(),
		Providers: []login.Provider{
			{Type: "github", Label: "GitHub", URL: "/oauth/cli_1/login/lgn_1/idp_1"},
			{Type: "google", Label: "Google", URL: "/oauth/cli_1/login/lgn_1/idp_2"},
			{
				Type:  "oidc",
				Label: "login.a-partner-with-a-very-long-name.example.com",
				URL:   "/oauth/cli_1/login/lgn_1/idp_3",
			},
		},
	}
}

// hostedAddress is the page on which an address has led to no provider.
func hostedAddress(shell login.Shell, complaint string) login.Choose {
	m := hostedChoose()
	m.Shell, m.AsksAddress, m.AddressURL, m.Address = shell, true, "/oauth/cli_1/login/lgn_1", "ana@other.example"
	m.Error = complaint
	return m
}

func hostedFailed() login.Choose {
	m := hostedChoose()
	m.Error = "You didn't finish signing in with GitHub."
	return m
}

func hostedConsent() login.Consent {
	return login.Consent{
		Shell:    hosted(),
		Action:   "/oauth/cli_1/consent",
		Attempt:  "lgn_1",
		Ticket:   "sealed",
		Name:     "Ana Ferreira",
		Email:    "ana@example.com",
		Provider: "Google",
		Site:     "https://app.example.com",
		Shares: []login.Share{
			{Scope: "openid"},
			{Scope: "profile"},
			{Scope: "email"},
			{Scope: "groups"},
		},
	}
}

func hostedGrown() login.Consent {
	m := hostedConsent()
	m.Again, m.Shares[3].New = true, true
	return m
}

func hostedTestLogin() login.Choose {
	m := hostedFailed()
	m.Shell.TestLogin = true
	m.Back = login.Back{URL: "/oauth/cli_1/tested?error=access_denied"}
	return m
}

func hostedAccount() login.Account {
	return login.Account{
		Shell:     hosted(),
		Name:      "Ana Lima",
		Email:     "ana@example.com",
		Providers: []login.Linked{{Label: "Google", Since: "2 Nov 2026"}, {Label: "GitHub", Since: "20 Nov 2026"}},
		Sessions: []login.Session{
			{
				Application: "Shop",
				Browser:     "Firefox on macOS",
				Provider:    "Google",
				Since:       "22 Nov 2026, 08:14",
				Current:     true,
				EndAction:   "/oauth/cli_1/account/sessions/ses_1/end",
			},
			{
				Application: "Back office",
				Provider:    "GitHub",
				Since:       "20 Nov 2026, 17:40",
				EndAction:   "/oauth/cli_1/account/sessions/ses_2/end",
			},
		},
		Consents: []login.Consented{{
			Application: "Shop",
			Since:       "2 Nov 2026",
			Shares: []login.Share{
				{Scope: "openid"},
				{Scope: "orders:read", Text: "see your orders", Permission: true},
			},
			Action: "/oauth/cli_1/account/consents/cli_1/withdraw",
		}},
		MayChangeSelf: true,
		EndAllAction:  "/oauth/cli_1/account/sessions/end-all",
		SignInAction:  "/oauth/cli_1/account/signin",
		LinkAction:    "/oauth/cli_1/account/link",
		DeleteAction:  "/oauth/cli_1/account/delete",
	}
}

func hostedIn(tag string) login.Shell {
	m := hosted()
	m.Words = login.Builtin().Match(tag, "")
	m.Welcome, m.Site = "", "app.example.com"
	return m
}

// hostedPermissions asks for API scopes: one that the project describes, one that it does
// not.
func hostedPermissions(tag string) login.Consent {
	m := hostedConsent()
	m.Shell.Words = login.Builtin().Match(tag, "")
	m.Shares = []login.Share{
		{Scope: "openid"},
		{Scope: "email"},
		{Scope: "orders:read", Text: "see your orders", Permission: true},
		{Scope: longScope, Permission: true, New: true},
	}
	return m
}

// hostedAccountStale is the account of a user who signed in a while ago: linking and
// deleting need another sign-in.
func hostedAccountStale() login.Account {
	m := hostedAccount()
	m.MayChangeSelf, m.Error = false, "Sign in again first. You last signed in more than ten minutes ago."
	m.Name, m.Email = "", "ana.of-a-family-with-a-very-long-name@subsidiary.example.com"
	m.Sessions[1].Application = "The back office of the northern branches of a company with a long name"
	return m
}

func hostedAccountDe() login.Account {
	m := hostedAccount()
	m.Shell = hostedIn("de")
	return m
}
