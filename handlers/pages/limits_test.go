package pages_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestLimits_project(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	page := s.Get("/projects/shop/limits").Shows(200, "Limits and CORS").Says("#limits", "UTC").
		Says("#limits", "No limits are set.")
	opened := page.Value("#limits [name=revision]")
	send := func(revision string, rows ...string) *controlplane.Page {
		form := []string{"revision", revision}
		for _, row := range rows {
			words := strings.Fields(row) // such as: key minute 60
			form = append(form, "limit_of", words[0], "limit_window", words[1], "limit_calls",
				strings.Join(words[2:], " "))
		}
		return s.Post("/projects/shop/limits", form...)
	}
	wrong := send(opened, "key minute 1e3", "key hour 10", "ip second 5", "project day 100", "project hour 200",
		"ip second 6").
		Shows(422, "Limits and CORS").
		Says("#limit-6-error", "Another limit for each address has the same window").
		Says("#limit-1-error", "Use a whole number of 1 or more").
		Says("#limit-4-error", "Use 200 or more").
		Lacks("#limit-3-error")
	send(opened, "key minute 1,000x", "key minute 100").
		Shows(422, "Limits and CORS").
		Says("#limit-1-error", "Use a whole number of 1 or more, or leave the field empty.").
		Says("#limit-2-error", "Another limit for each key has the same window. Remove one of the two.")
	send(opened, "project day 9", "project day x").
		Says("#limit-2-error", "Another limit for the entire project has the same window. Remove one of the two. Use "+
			"a whole number")
	if got := wrong.Value("#limits [name=revision]"); got != opened {
		t.Error("the refused form has another revision than it was opened with")
	}
	send(opened, "key minute 1e3", "key hour 10", "ip second 5", "project day 100", "project hour 200").
		Shows(422, "Limits and CORS").
		Holds("limit_calls", "1e3").
		Says("#limit-1-error", "Use a whole number of 1 or more, or leave the field empty.").
		Says("#limit-4-error", "Use 200 or more").
		Lacks("#limit-3-error")
	send(opened, "key minute", "key minute abc").
		Shows(422, "Limits and CORS").
		Says("#limit-2-error", "Use a whole number of 1 or more, or leave the field empty.").
		Lacks("#limit-1-error")
	send(opened, "key minute 9,007,199,254,740,992").
		Shows(422, "Limits and CORS").
		Says("#limit-1-error", "Use at most 9,007,199,254,740,991, or leave the field empty.")
	send(opened, "unknown minute 7").Shows(422, "Limits and CORS").Says("#limit-1-error", "Choose a window")

	send(opened, "project year 9,007,199,254,740,991", "key minute 60", "key hour  1,000 ", "owner day 5,000", "ip "+
		"second 5",
		"ip day").LeadsTo("/projects/shop/limits")
	now := s.Get("/projects/shop/limits").Says("[data-flash]", "Saved the limits for shop")
	var got []string
	now.Find("#limit-rows [role=group]").Each(func(_ int, row *goquery.Selection) {
		got = append(got, row.Find("[name=limit_of] [selected]").AttrOr("value", "")+" "+
			row.Find("[name=limit_window] [selected]").AttrOr("value", "")+" "+
			row.Find("[name=limit_calls]").AttrOr("value", ""))
	})
	want := []string{
		"key minute 60", "key hour 1000", "owner day 5000", "ip second 5", "project year 9007199254740991",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page shows the limits %q, want %q", got, want)
	}

	conflict := send(opened, "key minute 7").
		Shows(412, "Changed since you opened this page").
		Says("tbody", "60 per minute, 1,000 per hour").Says("tbody", "7 per minute")
	send(conflict.Value("[name=revision]"), conflict.Value("[name=limit_of]")+" "+
		conflict.Value("[name=limit_window]")+" "+conflict.Value("[name=limit_calls]")).
		LeadsTo("/projects/shop/limits")
	s.Get("/projects/shop/limits").Holds("limit_calls", "7").Lacks("#limit-2-calls")
}

// TestLimits_rows presses the buttons of the form that do not save it.
func TestLimits_rows(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	press := func(do string) *controlplane.Page {
		return s.Post("/projects/shop/limits", "revision", "41", "limit_of", "ip", "limit_window", "day",
			"limit_calls", "many", "do", do)
	}
	press("add").Shows(200, "Limits and CORS").Holds("limit_calls", "many")
	if got := press("preset 1").Value("#limit-2-calls"); got != "100" {
		t.Errorf("the preset has %q calls", got)
	}
	press("remove 1").Shows(200, "Limits and CORS").Says("#limit-rows", "No limits are set.")
	press("remove 2").Shows(404, "Page not found")
	press("preset 9").Shows(404, "Page not found")
	s.Get("/projects/shop/limits").Says("#limit-rows", "No limits are set.")
}

func TestIPRules_page(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	page := s.Get("/projects/shop/versions/1.0.0/access")
	action, opened := page.Action("ip_allow"), page.Revision("ip_allow")
	s.Post(action, "revision", opened, "ip_allow", "203.0.113.0/24\r\n\r\nthe office", "ip_deny", "203.0.113.9").
		Shows(422, "Access to version 1.0.0").
		Says("[name=ip_allow]", "the office").
		Says("[name=ip_deny]", "203.0.113.9").
		Says("p[id$=ip-allow-error]", "the office: Use an address range").Lacks("p[id$=ip-deny-error]")
	s.Post(action, "revision", opened, "ip_allow", "203.0.113.0/24\r\n2001:db8::/32", "ip_deny", "203.0.113.9").
		LeadsTo(accessOf(action))
	now := s.Get("/projects/shop/versions/1.0.0/access").
		Says("[data-flash]", "Saved the addresses that can call shop").
		Says("[name=ip_deny]", "203.0.113.9/32")
	if got := now.Find("[name=ip_allow]").Text(); strings.TrimSpace(got) != "203.0.113.0/24\n2001:db8::/32" {
		t.Errorf("allowed are %q, want one range a line", got)
	}
	if now.Value("[name=mode][checked]") != "authenticate" {
		t.Error("saving addresses changed who may call")
	}
	conflict := s.Post(action, "revision", opened, "ip_deny", "192.0.2.1").
		Shows(412, "Changed since you opened this page").
		Says("tbody", "203.0.113.0/24, 2001:db8::/32").
		Says("tbody", "anywhere").
		Says("tbody", "192.0.2.1")
	s.Post(action,
		"revision", conflict.Value("[name=revision]"),
		"ip_allow", conflict.Value("[name=ip_allow]"),
		"ip_deny", conflict.Value("[name=ip_deny]"),
	).LeadsTo(accessOf(action))
	s.Get("/projects/shop/versions/1.0.0/access").Says("[name=ip_deny]", "192.0.2.1/32")
}

// accessOf returns the page of the form that posts addresses to action.
func accessOf(action string) string { return strings.TrimSuffix(action, "/addresses") + "/access" }

func TestProject_moveIntoProduct(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	page := s.Get("/projects/shop/settings").Says("#product", "only keys created in this project")
	opened := page.Revision("new_product")
	s.Post("/projects/shop/product", "revision", opened, "new_product", "42").
		Shows(422, "Settings").
		Holds("new_product", "42").
		Says("#product-new-error", "lowercase")
	s.Post("/projects/shop/product", "revision", opened, "in_product", "nowhere").
		Shows(422, "Settings").
		Says("#product-choice-error", "no product \"nowhere\"")
	s.Post("/projects/shop/product", "revision", opened, "new_product", "suite").LeadsTo("/projects/shop/settings")
	now := s.Get("/projects/shop/settings").
		Says("[data-flash]", "Saved the product for shop").
		Holds("new_product", "")
	if got := now.Value("#product-choice option[selected]"); got != "suite" {
		t.Errorf("the project is in %q, want suite", got)
	}
	s.Post("/projects/shop/product", "revision", now.Revision("new_product"), "new_product", "suite").
		Shows(409, "Settings").
		Says("#product-new-error", `already has a product "suite"`)
	s.Post("/projects/shop/product", "revision", opened, "in_product", "").
		Shows(412, "Changed since you opened this page").
		Says("tbody", "suite").
		Says("tbody", "none")
	s.Post("/projects/shop/product", "revision", now.Revision("new_product"), "in_product", "").
		LeadsTo("/projects/shop/settings")
	if got := s.Get("/projects/shop/settings").Value("#product-choice option[selected]"); got != "" {
		t.Errorf("the project is in %q, want none", got)
	}
}
