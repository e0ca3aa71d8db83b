package views_test

import (
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"postern/views/audit"
	"postern/views/claim"
	"postern/views/errorpage"
	"postern/views/exports"
	"postern/views/projects"
	"postern/views/signin"
	"postern/views/ui"
)

// state is one page as a user can meet it.
type state struct {
	name string
	page templ.Component
}

func states() []state {
	return slices.Concat(
		pageStates(), tokenStates(), webhookStates(), tenantStates(), binStates(), loginStates(), apiStates(),
		ruleStates(), explainStates(), openAPIStates(), transformStates(), domainStates(), hostedStates(), userStates(),
	)
}

func pageStates() []state {
	return slices.Concat(entryStates(), projectStates(), exportStates(), logStates())
}

// entryStates are the pages of the first sign-in, and of the claim of a workspace.
func entryStates() []state {
	return []state{
		{"signin", signin.SignInPage(signin.SignIn{Page: out("Sign in", "/signin")})},
		{"signin-wrong", signin.SignInPage(signin.SignIn{
			Page:  out("Sign in", "/signin"),
			Email: ui.Value{Text: "ana@example.com"},
			Next:  "/projects/shop",
			Error: "The email address or password is wrong.",
		})},
		{"welcome", signin.WelcomePage(signin.Welcome{
			Page:              out("Welcome", "/welcome/abc"),
			Action:            "/welcome/abc",
			MinPasswordLength: 12,
		})},
		{"welcome-wrong", signin.WelcomePage(signin.Welcome{
			Page:              out("Welcome", "/welcome/abc"),
			Action:            "/welcome/abc",
			MinPasswordLength: 12,
			Email:             ui.Value{Text: "ana@", Error: "Enter a valid email address."},
			Name:              ui.Value{Text: "Ana"},
			Password:          "Use at least 12 characters and at most 1,024 bytes.",
		})},
		{"recovery", signin.RecoveryPage(signin.Recovery{
			Page:              out("New password", "/recover/abc"),
			Action:            "/recover/abc",
			Email:             "ana@example.com",
			MinPasswordLength: 12,
			Password:          "Use at least 12 characters and at most 1,024 bytes.",
		})},
		{"recovery-over", signin.RecoveryOverPage(out("This link doesn't work", "/signin"), false)},
		{"recovery-over-mail", signin.RecoveryOverPage(out("This link doesn't work", "/signin"), true)},
		{"forgotten", signin.ForgottenPage(signin.Forgotten{
			Page:  out("Reset your password", "/recover"),
			Mails: true,
			Email: ui.Value{Text: "ana", Error: "Enter a valid email address."},
			Error: "Too many attempts to request a link. Wait 15 minutes and try again.",
		})},
		{"forgotten-sent", signin.ForgottenPage(signin.Forgotten{
			Page:  out("Reset your password", "/recover"),
			Mails: true,
			Sent:  true,
		})},
		{"forgotten-operator", signin.ForgottenPage(signin.Forgotten{Page: out("Reset your password", "/recover")})},
		{"link-used", signin.LinkOverPage(signin.LinkOver{Page: out("Link used", "/welcome/abc"), Used: true})},
		{"link-expired", signin.LinkOverPage(signin.LinkOver{Page: out("Link expired", "/welcome/abc")})},
		{"claim", claim.ClaimPage(claim.Claim{
			Page:     in("Claim", "/claim/code"),
			Action:   "/claim/code",
			Projects: []string{"shop", "books"},
			Ends:     time.Now().Add(150 * time.Hour),
			Teams: []ui.Option{
				{
					Value:  "team_1",
					Title:  "Ana Lopez",
					Text:   "",
					Chosen: true,
				},
				{Value: "new", Title: "A new team", Text: ""},
			},
		})},
		{"claim refused", claim.ClaimPage(claim.Claim{
			Page:    in("Claim", "/claim/code"),
			Refusal: "This workspace has already been claimed.",
		})},
	}
}

// projectStates are the pages of projects and their keys.
func projectStates() []state {
	return []state{
		{"projects", projects.ListPage(list())},
		{"projects-empty", projects.ListPage(projects.List{Page: in("Projects", "/projects")})},
		{"project-new", projects.NewPage(projects.New{
			Page:        in("New project", "/projects/new", "New"),
			RequireKeys: true,
		})},
		{"project-new-wrong", projects.NewPage(projects.New{
			Page: in("New project", "/projects/new", "New"),
			Target: ui.Value{
				Text:  "http://10.0.0.1",
				Error: "This isn't a public address. The operator can allow it with POSTERN_EGRESS_ALLOW.",
			},
			Name: ui.Value{Text: "shop", Error: "The name \"shop\" is taken. Choose another name, or omit the name " +
				"to get a generated one."},
		})},
		{"project-created", projects.CreatedPage(created())},
		{"project-created-open", projects.CreatedPage(projects.Created{
			Page:        in("Created", "/projects/blog", "Blog"),
			DisplayName: "Blog",
			Curl:        "curl http://localhost:8090/blog/1.0.0/prod/",
			Addresses: []projects.Address{
				{ID: "a1", Environment: "prod", URL: "http://localhost:8090/blog/1.0.0/prod"},
			},
			ConfigureURL: "/projects/blog",
		})},
		{"project", projects.OverviewPage(configure())},
		{"project-versions", projects.OverviewPage(configureVersions())},
		{"keys", projects.KeysPage(configureAt("keys", "Keys"))},
		{"access", projects.AccessPage(configureAt("versions/ver_1/access", "Access"))},
		{"limits", projects.LimitsPage(configureAt("limits", "Limits and CORS"))},
		{"settings", projects.SettingsPage(configureAt("settings", "Settings"))},
		{"version", projects.PlacePage(versionPlace())},
		{"environment", projects.PlacePage(environmentPlace())},
		{"project-wrong", projects.OverviewPage(configureWrong())},
		{"keys-wrong", projects.KeysPage(configureWrong())},
		{"keys-import", projects.KeyImportPage(keyImport())},
		{"keys-import-done", projects.KeyImportPage(keyImportDone())},
		{"keys-import-match", projects.KeyImportPage(keyImportMatch())},
		{"keys-import-wrong", projects.KeyImportPage(keyImportWrong())},
		{"keys-import-viewer", projects.KeyImportPage(keyImportViewer())},
		{"access-tokens", projects.AccessPage(accessTokens())},
		{"access-wrong", projects.AccessPage(configureWrong())},
		{"settings-wrong", projects.SettingsPage(configureWrong())},
		{"conflict", projects.ConflictPage(conflict())},
		{"key", projects.KeyPage(key())},
		{"key-wrong", projects.KeyPage(keyWrong())},
		{"key-frozen", projects.KeyPage(keyFrozen())},
		{"key-revoked", projects.KeyPage(keyRevoked())},
		{"key-shown", projects.ShownPage(shown())},
		{"key-types", projects.KeyTypesPage(keyTypes())},
		{"target-check", projects.TargetCheckPage(targetCheck())},
		{"target-check-failed", projects.TargetCheckPage(targetCheckFailed())},
		{"upstream-headers", projects.UpstreamHeadersPage(upstreamHeaders())},
		{"upstream-headers-empty", projects.UpstreamHeadersPage(upstreamHeadersEmpty())},
		{"upstream-headers-wrong", projects.UpstreamHeadersPage(upstreamHeadersWrong())},
		{"upstream-header-removal", projects.UpstreamHeaderRemovalPage(upstreamHeaderRemoval())},
		{"upstream-headers-viewer", projects.UpstreamHeadersPage(upstreamHeadersViewer())},
		{"client-certificate", projects.ClientCertificatePage(clientCertificate())},
		{"client-certificate-none", projects.ClientCertificatePage(clientCertificateNone())},
		{"client-certificate-wrong", projects.ClientCertificatePage(clientCertificateWrong())},
		{"client-certificate-expiring", projects.ClientCertificatePage(clientCertificateExpiring())},
		{"client-certificate-http", projects.ClientCertificatePage(clientCertificateHTTP())},
		{"client-certificate-viewer", projects.ClientCertificatePage(clientCertificateViewer())},
		{"call-signing", projects.CallSigningPage(callSigning())},
		{"call-signing-off", projects.CallSigningPage(callSigningOff())},
		{"call-signing-wrong", projects.CallSigningPage(callSigningWrong())},
		{"call-signing-viewer", projects.CallSigningPage(callSigningViewer())},
		{"key-types-wrong", projects.KeyTypesPage(keyTypesWrong())},
		{"key-type", projects.KeyTypePage(keyType())},
		{"key-type-built-in", projects.KeyTypePage(keyTypeBuiltIn())},
		{"usage", projects.UsagePage(usage())},
		{"usage-empty", projects.UsagePage(usageEmpty())},
		{"requests", projects.RequestsPage(requests())},
		{"request", projects.RequestPage(request())},
		{"requests-empty", projects.RequestsPage(requestsEmpty())},
		{"requests-no-gateway", projects.RequestsPage(requestsNoGateway())},
	}
}

// exportStates are the pages of exports.
func exportStates() []state {
	return []state{
		{"export", exports.ChoicePage(exportChoice())},
		{"export-wrong", exports.ChoicePage(exports.Choice{
			Page:       in("Export", "/projects/shop/export", "Shop", "Export"),
			Project:    "Shop",
			Action:     "/projects/shop/export",
			PreviewURL: "/projects/shop/export/preview",
			Format:     "data",
			Keys:       "mint",
			Error:      "This project already has 3 unfinished exports. Wait for one to finish, or cancel one.",
			KeysError:  "Keys can't be exported without their owners. Include consumers, or set keys to \"none\".",
		})},
		{"import", projects.ImportPage(importEmpty())},
		{"import-wrong", projects.ImportPage(importWrong())},
		{"import-viewer", projects.ImportPage(importViewer())},
		{"import-found", projects.ImportPage(importFound())},
		{"import-waiting", projects.ImportPage(importWaiting())},
		{"import-plan", exports.PlanPage(importPlan())},
		{"import-plan-applying", exports.PlanPage(importPlanApplying())},
		{"import-applied", exports.MovedInPage(importApplied())},
		{"export-preview", exports.PreviewPage(exportPreview())},
		{"export-preview-late", exports.PreviewPage(exportPreviewLate())},
		{"export-queued", exports.ShowPage(show(exports.Queued))},
		{"export-building", exports.ShowPage(show(exports.Building))},
		{"export-ready", exports.ShowPage(show(exports.Ready))},
		{"export-failed", exports.ShowPage(show(exports.Failed))},
		{"export-expired", exports.ShowPage(show(exports.Expired))},
		{"export-ledger", exports.ItemsPage(exportLedger(false))},
		{"export-ledger-filtered", exports.ItemsPage(exportLedger(true))},
		{"export-names", exports.NamesPage(exportNames(200))},
		{"export-names-forgotten", exports.NamesPage(exportNames(0))},
		{"export-cancelled", exports.ShowPage(show(exports.Cancelled))},
	}
}

// logStates are the pages of the audit log and of errors.
func logStates() []state {
	return []state{
		{"audit", audit.LogPage(auditLog())},
		{"audit-empty", audit.LogPage(audit.Log{
			Page: in("Audit log", "/audit", "Audit log"),
			List: ui.List{Action: "/audit", Form: "audit-filters", Things: "entries"},
		})},
		{"audit-nothing", audit.LogPage(auditNothing())},
		{"error-403", errorpage.ProblemPage(problem(403))},
		{"error-404", errorpage.ProblemPage(problem(404))},
		{"error-500", errorpage.ProblemPage(problem(500))},
	}
}

// out is a page for a visitor, in a page for someone signed in.
func out(title, here string) ui.Page { return ui.Page{Title: title, Here: here} }

func in(title, here string, crumbs ...string) ui.Page {
	page := ui.Page{Title: title, Here: here, Account: &ui.Account{
		Name:  "Ana Ferreira",
		Email: "ana@example.com",
		Team:  "Storefronts",
		Audit: true,
		Teams: []ui.Option{
			{Value: "team_1", Title: "Storefronts", Note: "owner", Chosen: true},
			{Value: "team_2", Title: "Payments", Note: "viewer"},
		},
	}}
	if len(crumbs) == 0 {
		return page
	}
	page.Crumbs = []ui.Crumb{{Text: "Projects", URL: "/projects"}}
	for _, text := range crumbs {
		page.Crumbs = append(page.Crumbs, ui.Crumb{Text: text, URL: "/projects/shop"})
	}
	if strings.HasPrefix(here, "/projects/") && here != "/projects/new" {
		page.Crumbs[1].Project = &ui.Project{
			Name:        "shop",
			DisplayName: "Storefront API",
			Versions:    []ui.Link{{Text: "1.0.0", URL: "ver_0"}, {Text: "2.1.0", URL: "ver_1"}},
		}
	}
	return page
}

const sampleKey = "pst_prod_Zx81mB0aQw7Lr2Yc93TkVf5NhDsE6uPjR0d9Qx"

func list() projects.List {
	page := in("Projects", "/projects")
	page.Flash = &ui.Notice{Tone: ui.Good, Text: "The settings of Storefront API are saved."}
	return projects.List{
		Page: page,
		List: listed("/projects", "projects", "name", "created"),
		Projects: []projects.Card{
			{
				ID:           "prj_1",
				Name:         "shop",
				DisplayName:  "Storefront API",
				Version:      "2.1.0",
				Access:       ui.Badge{Tone: ui.Accent, Text: "API keys"},
				ActiveKeys:   "128 active keys",
				Overview:     overview(),
				ConfigureURL: "/projects/shop",
				ExportURL:    "/projects/shop/export",
				PreviewURL:   "/projects/shop/export/preview",
				Addresses: []projects.Address{
					{ID: "a1", Environment: "prod", URL: "http://localhost:8090/shop/2.1.0/prod"},
					{ID: "a2", Environment: "dev", URL: "http://localhost:8090/shop/2.1.0/dev"},
				},
			},
			{
				ID:           "prj_2",
				Name:         "billing",
				DisplayName:  "Billing",
				Version:      "1.0.0",
				Access:       ui.Badge{Text: "Passthrough"},
				ActiveKeys:   "no active keys",
				More:         "16 more environments",
				ConfigureURL: "/projects/billing",
				ExportURL:    "/projects/billing/export",
				PreviewURL:   "/projects/billing/export/preview",
				Addresses: []projects.Address{
					{ID: "b1", Environment: "prod", URL: "http://localhost:8090/billing/1.0.0/prod"},
				},
			},
			{
				ID:           "prj_3",
				Name:         "weather-forecasts-and-history",
				DisplayName:  "Weather forecasts and history for every place on earth",
				Version:      "1.0.0",
				Access:       ui.Badge{Tone: ui.Accent, Text: "API keys"},
				ActiveKeys:   "2 active keys",
				ConfigureURL: "/projects/weather",
				ExportURL:    "/projects/weather/export",
				PreviewURL:   "/projects/weather/export/preview",
				Addresses: []projects.Address{
					{
						ID:          "c1",
						Environment: "prod",
						URL:         "http://localhost:8090/weather-forecasts-and-history/1.0.0/prod",
					},
				},
			},
		},
	}
}

func created() projects.Created {
	return projects.Created{
		Page:         in("Created", "/projects/shop", "Shop"),
		DisplayName:  "Shop",
		ConfigureURL: "/projects/shop",
		Addresses: []projects.Address{
			{ID: "a1", Environment: "dev", URL: "http://localhost:8090/shop/1.0.0/dev"},
			{ID: "a2", Environment: "prod", URL: "http://localhost:8090/shop/1.0.0/prod"},
		},
		Targets: []projects.Target{{
			ID: "env_1", Environment: "prod", URL: "https://api.storefront.example",
			CheckAction: "/projects/shop/versions/ver_1/environments/env_1/check",
		}},
		Keys: []projects.Minted{
			{ID: "key_1", Environment: "dev", Key: "pst_dev_4hTq0aQw7Lr2Yc93TkVf5NhDsE6uPjR1k2Lm9"},
			{ID: "key_2", Environment: "prod", Key: sampleKey},
		},
		Curl: "curl -H 'X-API-Key: " + sampleKey + "' \\\n  http://localhost:8090/shop/1.0.0/prod/",
	}
}

func problem(status int) errorpage.Problem {
	return errorpage.Problem{Page: out("Problem", "/nowhere"), Status: status, RequestID: "req_01JCZ8Q4M2N7X5"}
}

// on is noon of a day such as 20 Nov 2026, in UTC.
func on(day string) time.Time {
	at, err := time.Parse("2 Jan 2006 15:04", day+" 12:00")
	if err != nil {
		panic(err)
	}
	return at
}

// ago is a time that many days ago.
func ago(days int) time.Time { return time.Now().AddDate(0, 0, -days) }
