package pages_test

import (
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestSettingsAreSavedAndKeptWhenWrong(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		page := s.Get("/projects/shop/settings").Shows(200, "Settings")
		settings, revision := page.Action("display_name"), page.Value("form:has([name=display_name]) [name=revision]")
		s.Post(settings, "revision", revision, "display_name", "Storefront API").LeadsTo(settings)
		s.Get(settings).Shows(200, "Settings").Holds("display_name", "Storefront API").Says("[data-flash]",
			"The settings of shop are saved.")
		s.Get(settings).Lacks("[data-flash]")
		long := strings.Repeat("x", 81)
		fresh := s.Get(settings).Value("form:has([name=display_name]) [name=revision]")
		s.Post(settings, "revision", fresh, "display_name", long).
			Shows(422, "Settings").
			Holds("display_name", long).
			Says("#display-name-error", "80 characters")

		// The first revision is out of date: the settings were saved meanwhile.
		conflict := s.Post(settings, "revision", revision, "display_name", "Mine").
			Shows(412, "Changed since you opened it").
			Says("tbody", "Storefront API").
			Says("tbody", "Mine")
		s.Post(conflict.Action("display_name"),
			"revision", conflict.Value("[name=revision]"),
			"display_name", conflict.Value("[name=display_name]"),
		).LeadsTo(settings)
		s.Get(settings).Holds("display_name", "Mine")
	})
}

func TestAMistakeKeepsTheRevisionItWasMadeOn(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		page := s.Get("/projects/shop")
		action, opened := page.Action("target"), page.Value("form:has([name=target]) [name=revision]")
		s.Post(action, "revision", opened, "target", "http://127.0.0.1:10").LeadsTo("/projects/shop")
		again := s.Post(action, "revision", opened, "target", "nonsense").Shows(422, "shop")
		s.Post(action,
			"revision", again.Value("form:has([name=target]) [name=revision]"),
			"target", "http://127.0.0.1:11",
		).Shows(412, "Changed since you opened it").
			Says("tbody", "http://127.0.0.1:10").
			Says("tbody", "http://127.0.0.1:11")
	})
}

func TestAccessIsSavedInOneStep(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		page := s.Get("/projects/shop/versions/1.0.0/access")
		action, revision := page.Action("mode"), page.Value("form:has([name=mode]) [name=revision]")
		s.Post(action, "revision", revision, "mode", "authenticate", "keyless", "reject").Shows(422,
			"Access of version 1.0.0").
			Says("main fieldset:has([name=methods])", "at least one method").
			Lacks("[name=methods][checked]")
		s.Post(action,
			"revision", revision, "mode", "passthrough", "methods", "api_key",
			"keyless", "owner_fallback", "fallback_owner", "ä",
		).Shows(422, "Access of version 1.0.0").
			Holds("fallback_owner", "ä").
			Says("main", "printable ASCII")
		if got := s.Get("/projects/shop/versions/1.0.0/access").Value("[name=mode][checked]"); got != "authenticate" {
			t.Errorf("a refused form changed the mode to %s", got)
		}
		s.Post(action,
			"revision", revision, "mode", "passthrough", "methods", "api_key",
			"keyless", "owner_fallback", "fallback_owner", "billing",
		).LeadsTo(action)
		now := s.Get(action).
			Holds("fallback_owner", "billing").
			Says("[data-flash]", "access policy of shop is saved")
		s.Get("/projects/shop").Says("main", "Keys optional")
		for name, want := range map[string]string{
			"mode":    "passthrough",
			"methods": "api_key",
			"keyless": "owner_fallback",
		} {
			if got := now.Value("[name=" + name + "][checked]"); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		conflict := s.Post(action,
			"revision", revision, "mode", "authenticate", "methods", "api_key",
			"keyless", "owner_fallback", "fallback_owner", "mine",
		).Shows(412, "Changed since you opened it").
			Says("tbody", "Authenticate").
			Says("tbody", "billing").
			Says("tbody", "mine")
		s.Post(conflict.Action("mode"),
			"revision", conflict.Value("[name=revision]"), "mode", conflict.Value("[name=mode]"),
			"methods", conflict.Value("[name=methods]"),
			"keyless", conflict.Value("[name=keyless]"),
			"fallback_owner", conflict.Value("[name=fallback_owner]"),
		).LeadsTo(action)
		s.Get(action).Holds("fallback_owner", "mine")
	})
}

func TestTargetsAreChecked(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		page := s.Get("/projects/shop").Holds("target", "http://127.0.0.1:9/base")
		action, revision := page.Action("target"), page.Value("form:has([name=target]) [name=revision]")
		s.Post(action, "revision", revision, "target", "http://10.0.0.1").
			Shows(422, "shop").
			Holds("target", "http://10.0.0.1").
			Says("form:has([name=target])", "not a public address")
		s.Post(action, "revision", revision, "target", "http://127.0.0.1:10").LeadsTo("/projects/shop")
		s.Get("/projects/shop").Holds("target", "http://127.0.0.1:10").Says("[data-flash]", "target of shop is saved")
		s.Post("/projects/shop/environments/env_none", "target", "http://127.0.0.1:10").
			Shows(404, "There is nothing here")
	})
}

func TestTokenIssuersAreSavedOnThePage(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		page := s.Get("/projects/shop/versions/1.0.0/access")
		action, revision := page.Action("mode"), page.Value("form:has([name=mode]) [name=revision]")
		s.Post(action,
			"revision", revision, "mode", "authenticate", "methods", "jwt", "keyless", "reject",
			"token_issuers", "https://8.8.8.8",
		).Shows(422, "Access of version 1.0.0").
			Says("textarea[name=token_issuers]", "https://8.8.8.8").
			Says("main", "ISSUER AUDIENCE")
		s.Post(action,
			"revision", revision, "mode", "authenticate", "methods", "jwt", "keyless", "reject",
			"token_issuers", "http://8.8.8.8 shop",
		).Shows(422, "Access of version 1.0.0").
			Says("main", "Give the https address")
		const pairs = "https://8.8.8.8 shop\nhttps://1.1.1.1 shop tenant=default"
		s.Post(action,
			"revision", revision, "mode", "authenticate", "methods", "jwt", "keyless", "reject",
			"token_issuers", pairs,
		).LeadsTo(action)
		saved := s.Get(action)
		if got := saved.Find("textarea[name=token_issuers]").Text(); got != pairs {
			t.Errorf("the page shows the issuers %q, want %q", got, pairs)
		}
		if got := saved.Value("[name=methods][checked]"); got != "jwt" {
			t.Errorf("the method is %q, want jwt", got)
		}
	})
}
