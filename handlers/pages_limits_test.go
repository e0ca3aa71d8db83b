package handlers_test

import (
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/state"
)

func TestLimitsOfAProject(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		page := s.get("/projects/shop").is(200, "shop").says("#limits", "UTC")
		opened := page.revisionAt("key.minute")
		if n := page.Find("#limits input[name*='.']").Length(); n != 4*6 {
			t.Fatalf("%d fields for limits, want one for each of four rows and six windows", n)
		}
		wrong := s.post("/projects/shop/limits", "revision", opened, "key.minute", "1e3", "key.hour", "10", "ip.second", "5", "project.day", "100", "project.hour", "200").
			is(422, "shop").
			holds("key.minute", "1e3").holds("key.hour", "10").holds("ip.second", "5").holds("project.hour", "200").
			says("#limits-key-minute-error", "Each key, per minute").
			says("#limits-project-day-error", "Give 200 or more").lacks("#limits-ip-second-error")
		if wrong.revisionAt("key.minute") != opened {
			t.Error("the refused form has another revision than it was opened with")
		}
		s.get("/projects/shop").holds("ip.second", "")

		s.post("/projects/shop/limits", "revision", opened, "key.minute", "60", "key.hour", " 1000 ", "owner.day", "5000", "ip.second", "5", "project.year", "9007199254740991").
			leadsTo("/projects/shop")
		now := s.get("/projects/shop").says("[data-flash]", "limits are saved")
		for name, want := range map[string]string{"key.minute": "60", "key.hour": "1000", "owner.day": "5000", "ip.second": "5", "project.year": "9007199254740991", "project.day": ""} {
			now.holds(name, want)
		}

		conflict := s.post("/projects/shop/limits", "revision", opened, "key.minute", "7").
			is(412, "Changed since you opened it").
			says("tbody", "60 a minute, 1,000 an hour").says("tbody", "7 a minute")
		s.post("/projects/shop/limits", "revision", conflict.value("[name=revision]"), "key.minute", conflict.value("[name='key.minute']")).
			leadsTo("/projects/shop")
		s.get("/projects/shop").holds("key.minute", "7").holds("key.hour", "").holds("owner.day", "")
	})
}

func TestAddressesOfAVersion(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		page := s.get("/projects/shop")
		action, opened := page.action("ip_allow"), page.revisionAt("ip_allow")
		s.post(action, "revision", opened, "ip_allow", "203.0.113.0/24\r\n\r\nthe office", "ip_deny", "203.0.113.9").
			is(422, "shop").
			says("[name=ip_allow]", "the office").
			says("[name=ip_deny]", "203.0.113.9").
			says("p[id$=ip-allow-error]", "the office: Give an address range").lacks("p[id$=ip-deny-error]")
		s.post(action, "revision", opened, "ip_allow", "203.0.113.0/24\r\n2001:db8::/32", "ip_deny", "203.0.113.9").
			leadsTo("/projects/shop")
		now := s.get("/projects/shop").
			says("[data-flash]", "addresses are saved").
			says("[name=ip_deny]", "203.0.113.9/32")
		if got := now.Find("[name=ip_allow]").Text(); strings.TrimSpace(got) != "203.0.113.0/24\n2001:db8::/32" {
			t.Errorf("allowed are %q, want one range a line", got)
		}
		if now.value("[name=mode][checked]") != "authenticate" {
			t.Error("saving addresses changed who may call")
		}
		conflict := s.post(action, "revision", opened, "ip_deny", "192.0.2.1").is(412, "Changed since you opened it").
			says("tbody", "203.0.113.0/24, 2001:db8::/32").says("tbody", "anywhere").says("tbody", "192.0.2.1")
		s.post(action, "revision", conflict.value("[name=revision]"), "ip_allow", conflict.value("[name=ip_allow]"), "ip_deny", conflict.value("[name=ip_deny]")).
			leadsTo("/projects/shop")
		s.get("/projects/shop").says("[name=ip_deny]", "192.0.2.1/32")
	})
}

func TestAProjectMovesIntoAProduct(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		page := s.get("/projects/shop").says("#product", "stop opening it")
		opened := page.revisionAt("new_product")
		s.post("/projects/shop/product", "revision", opened, "new_product", "No Name").
			is(422, "shop").
			holds("new_product", "No Name").
			says("#product-new-error", "lower-case")
		s.post("/projects/shop/product", "revision", opened, "in_product", "nowhere").
			is(422, "shop").
			says("#product-choice-error", "no product \"nowhere\"")
		s.post("/projects/shop/product", "revision", opened, "new_product", "suite").leadsTo("/projects/shop")
		now := s.get("/projects/shop").says("[data-flash]", "product is saved").holds("new_product", "")
		if got := now.value("#product-choice option[selected]"); got != "suite" {
			t.Errorf("the project is in %q, want suite", got)
		}
		s.post("/projects/shop/product", "revision", now.revisionAt("new_product"), "new_product", "suite").
			is(409, "shop").
			says("#product-new-error", `"suite" already`)
		s.post("/projects/shop/product", "revision", opened, "in_product", "").
			is(412, "Changed since you opened it").
			says("tbody", "suite").
			says("tbody", "none")
		s.post("/projects/shop/product", "revision", now.revisionAt("new_product"), "in_product", "").
			leadsTo("/projects/shop")
		if got := s.get("/projects/shop").value("#product-choice option[selected]"); got != "" {
			t.Errorf("the project is in %q, want none", got)
		}
	})
}
