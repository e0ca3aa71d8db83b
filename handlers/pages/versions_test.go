package pages_test

import (
	"strings"
	"testing"

	"postern/testkit"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

const (
	shopPage     = "/projects/shop"
	versionsPage = shopPage + "/versions"
)

func TestVersions_add(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	s.Post(versionsPage, "name", "1.0.0", "copy_from", "1.0.0").
		Shows(409, "shop").
		Says("#new-version details[open]", "Add a version").
		Says("#new-version-name-error", `already has a version "1.0.0"`)
	refused := s.Post(versionsPage, "name", "../x", "copy_from", "1.0.0").
		Shows(422, "shop").
		Says("#new-version-name-error", "Use 1 to 32")
	if got := refused.Value("#new-version-name"); got != "../x" {
		t.Errorf("the form holds the name %q", got)
	}
	page := s.Get(shopPage)
	// The same form from a double click adds one version, and both lead to the page.
	for range 2 {
		form := []string{"nonce", page.Nonce(versionsPage), "name", "2.0.0", "copy_from", "1.0.0"}
		s.Post(versionsPage, form...).LeadsTo(shopPage)
	}
	s.Get(shopPage).
		Says("[data-flash]", "Added version 2.0.0").
		Says("main", "Version 2.0.0").
		Says("#new-version option[selected]", "2.0.0")
}

func TestEnvironments_add(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	add := versionsPage + "/1.0.0/environments"
	s.Post(add, "name", "42", "target", "ftp://x").
		Shows(422, "shop").
		Holds("name", "42").
		Says("[id$=-new-name-error]", "lowercase").
		Says("[id$=-new-target-error]", "http")
	s.Post(add, "name", "Dev", "target", "http://127.0.0.1:9/dev").LeadsTo(shopPage)
	s.Get(shopPage).Says("dt", "Target for dev")
	s.Post(versionsPage+"/9/environments", "name", "dev", "target", "http://127.0.0.1:9").Shows(404,
		"Page not found")
}

func TestVersions_rename(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	page := s.Get(versionsPage+"/1.0.0").Shows(200, "Version 1.0.0").Holds("name", "1.0.0")
	at, revision := page.Action("name"), page.Revision("name")
	s.Post(at, "revision", revision, "name", "a/b").Shows(422, "Version 1.0.0").Says("#place-name-error",
		"Use 1 to 32")
	s.Post(at, "revision", revision, "name", "1.1.0").LeadsTo(shopPage)
	s.Get(shopPage).Says("[data-flash]", "The new gateway URL works now").Says("h2", "Version 1.1.0")
	// The other tab still has the page from before.
	s.Post(at, "revision", revision, "name", "1.2.0").
		Shows(412, "Version 1.1.0").
		Says("[role=alert]", "has changed since you opened it")
}

func TestEnvironments_remove(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	prod := versionsPage + "/1.0.0/environments/prod"
	s.Get(prod).
		Shows(200, "Environment prod").
		Says("section", "only environment in version 1.0.0").
		Lacks("form[action$=delete]")
	s.Post(prod+"/delete", "typed_name", "prod").Shows(409, "Environment prod")
	s.Post(versionsPage+"/1.0.0/environments", "name", "dev", "target", "http://127.0.0.1:9").LeadsTo(shopPage)
	unused := s.Get(prod).Says("section", "No calls since").Says("section", "will revoke 1 API key").
		Says("[data-impact]", "Calls to this environment will get 404.")
	if n := strings.Count(unused.Find("section").Text(), "No calls since"); n != 1 {
		t.Errorf("the page says %d times that there were no calls", n)
	}
	// With another name, with none, and from a page that did not show what it stops.
	s.Post(prod+"/delete", "typed_name", "pro").
		Shows(422, "Environment prod").
		Holds("typed_name", "pro").
		Says("#place-confirm-error", "Type prod to confirm.")
	s.Post(prod+"/delete").Shows(422, "Environment prod").Says("#place-confirm-error", "type the name")
	s.Post(prod+"/delete", "confirm", "true").
		Shows(409, "Environment prod").
		Says("[role=alert]", "1 API key can't be used for anything else")
	s.Post(prod+"/delete", "typed_name", "prod").LeadsTo(shopPage)
	s.Get(shopPage).Says("[data-flash]", "Removed prod")
	s.Get(shopPage+"/keys").Says("#keys", "Revoked")
	s.Get(prod).Shows(404, "Page not found")
}

func TestVersions_history(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	s.Post(versionsPage, "name", "2.0.0", "copy_from", "1.0.0").LeadsTo(shopPage)
	s.Post(versionsPage+"/2.0.0", "name", "2.1.0").LeadsTo(shopPage)
	s.Post(versionsPage+"/2.1.0/environments", "name", "dev", "target", "http://127.0.0.1:9").LeadsTo(shopPage)
	s.Post(versionsPage+"/2.1.0/environments/dev/delete", "confirm", "true").LeadsTo(shopPage)
	s.Post(versionsPage+"/2.1.0/delete", "confirm", "true").LeadsTo(shopPage)
	s.Get("/audit").
		Says("#audit-list", "added version 2.0.0 of shop").
		Says("#audit-list", "renamed version 2.0.0 to 2.1.0 of shop").
		Says("#audit-list", "added the environment dev to version 2.1.0 of shop").
		Says("#audit-list", "removed the environment dev from version 2.1.0 of shop").
		Says("#audit-list", "removed version 2.1.0 of shop")
}

func TestEnvironments_timeouts(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	prod := versionsPage + "/1.0.0/environments/prod"
	page := s.Get(prod).
		Shows(200, "Environment prod").
		Holds("connect_ms", "10000").
		Holds("stream_idle_ms", "600000").
		Says("#reuse_idle_ms-hint", "keep-alive timeout. Default: 4,000.")
	at, revision := page.Action("connect_ms"), page.Revision("connect_ms")
	s.Post(at, "revision", revision, "connect_ms", "0", "response_ms", "a minute", "idle_ms", "90000").
		Shows(422, "Environment prod").
		Says("details[open]", "Timeouts").
		Holds("connect_ms", "0").
		Holds("response_ms", "a minute").
		Holds("idle_ms", "90000").
		Says("#connect_ms-error", "Use 1 to 3,600,000 milliseconds").
		Says("#response_ms-error", "Enter a whole number.").
		Lacks("#idle_ms-error")
	s.Post(at, "revision", revision, "connect_ms", "", "response_ms", " 90,000 ", "idle_ms", "60000",
		"stream_idle_ms", "86400000", "reuse_idle_ms", "1500").
		LeadsTo(strings.TrimSuffix(at, "/timeouts"))
	s.Get(prod).
		Says("[data-flash]", "Saved the timeouts for prod").
		Holds("connect_ms", "10000"). // an empty field is the default
		Holds("response_ms", "90000").
		Holds("reuse_idle_ms", "1500")
	s.Post(at, "revision", revision, "connect_ms", "1").
		Shows(412, "Environment prod").
		Says("[role=alert]", "has changed since you opened it")
	s.Get(shopPage).Says("a[href$='#timeouts']", "Timeouts")
}

func TestEnvironments_retries(t *testing.T) {
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	prod := versionsPage + "/1.0.0/environments/prod"
	page := s.Get(prod).
		Shows(200, "Environment prod").
		Holds("max", "1").
		Says("#max-hint", "Default: 1")
	at, revision := page.Action("max"), page.Revision("max")
	s.Post(at, "revision", revision, "max", "11", "on", "503", "on", "timeout").
		Shows(422, "Environment prod").
		Says("details[open]", "Retries").
		Holds("max", "11").
		Says("#max-error", "Use 0 to 10").
		Says("label:has([value=timeout][checked])", "No response in time").
		Says("label:has([value='503'][checked])", "503").
		Lacks("[value='502'][checked]")
	s.Post(at, "revision", revision, "max", " 3 ", "on", "503", "on", "timeout").
		LeadsTo(strings.TrimSuffix(at, "/retries"))
	page = s.Get(prod).
		Says("[data-flash]", "Saved the retries for prod").
		Holds("max", "3").
		Says("label:has([value='503'][checked])", "503").
		Lacks("[value='504'][checked]")
	s.Post(at, "revision", revision, "max", "2").
		Shows(412, "Environment prod").
		Says("[role=alert]", "has changed since you opened it")
	s.Post(at, "revision", page.Revision("max"), "max", "").
		LeadsTo(strings.TrimSuffix(at, "/retries"))
	s.Get(prod).
		Holds("max", "1"). // an empty field is the default, and no box is none
		Lacks("[name=on][checked]")
}

func TestEnvironments_http(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	prod := versionsPage + "/1.0.0/environments/prod"
	page := s.Get(prod).
		Shows(200, "Environment prod").
		Says("label:has([name=http][value='1.1'][checked])", "HTTP/1.1")
	at, revision := page.Action("http"), page.Revision("http")
	s.Post(at, "revision", revision, "http", "3").
		Shows(422, "Environment prod").
		Says("details[open]", "HTTP version").
		Says("#http-error", "1.1, 2 or auto")
	s.Post(at, "revision", revision, "http", "2").LeadsTo(strings.TrimSuffix(at, "/http"))
	s.Get(prod).
		Says("[data-flash]", "Saved the HTTP version for prod").
		Says("label:has([name=http][value='2'][checked])", "HTTP/2")
}

func TestEnvironments_tls(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	prod := versionsPage + "/1.0.0/environments/prod"
	s.Get(prod).Shows(200, "Environment prod").Lacks("[name=pem]").Holds("host_header", "target")
	s.Post(prod+"/target", "target", "https://127.0.0.1:9").LeadsTo(shopPage)
	certificate, key := testkit.Certificate(t, "api.internal")
	page := s.Get(prod).Holds("server_name", "")
	at, revision := page.Action("pem"), page.Revision("pem")
	refused := s.Post(at, "revision", revision, "pem", string(certificate)+string(key), "system", "true",
		"server_name", "a b").
		Shows(422, "Environment prod").
		Says("details[open]", "TLS to the upstream").
		Holds("server_name", "a b").
		Says("#pem-error", "contains a private key").
		Says("#server_name-error", "Use a DNS name or an IP address")
	if html, err := refused.Html(); err != nil || strings.Contains(html, strings.Split(string(key), "\n")[1]) {
		t.Error("the refused form has the private key")
	}
	s.Post(at, "revision", revision, "pem", string(certificate), "server_name", "API.internal").
		LeadsTo(strings.TrimSuffix(at, "/tls"))
	page = s.Get(prod).
		Says("textarea[name=pem]", "-----BEGIN CERTIFICATE-----").
		Says("[data-flash]", "Saved the TLS settings for prod").
		Says("#tls", "CN=api.internal, until").
		Says("#tls", "not trusted").
		Holds("server_name", "api.internal")
	host := page.Action("host_header")
	s.Post(host, "revision", page.Revision("host_header"), "host_header", "http://x").
		Shows(422, "Environment prod").
		Holds("host_header", "http://x").
		Says("#host_header-error", "Use target, caller or a host name")
	s.Post(host, "revision", page.Revision("host_header"), "host_header", "caller").
		LeadsTo(strings.TrimSuffix(host, "/host-header"))
	s.Get(prod).Holds("host_header", "caller")
}

func TestEnvironments_targets(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	prod := versionsPage + "/1.0.0/environments/prod"
	const first, second = "http://127.0.0.1:9/base", "http://127.0.0.1:10/base"
	page := s.Get(prod).
		Shows(200, "Environment prod").
		Says("section[aria-labelledby=target-health-title]", "not checked").
		Says("option[selected]", "In turn")
	at, revision := page.Action("url"), page.Revision("url")
	s.Post(at, "revision", revision, "url", first, "weight", "1", "balance", "hash=header:", "balance_header", "",
		"do", "add").
		Shows(200, "Environment prod").
		Says("details[open]", "Targets").
		Says("option[selected]", "By header").
		Says("[aria-label='Target 2']", "Remove target 2").
		Lacks("[aria-label='Target 3']")
	s.Post(at, "revision", revision, "url", first, "weight", "1", "url", second, "weight", "2",
		"balance", "round_robin", "balance_header", "", "do", "remove 0").
		Shows(200, "Environment prod").
		Lacks("[aria-label='Target 2']").
		Holds("url", second).
		Holds("weight", "2")
	s.Post(at, "revision", revision, "url", first, "weight", "lots", "url", " ", "weight", "", "url",
		"https://127.0.0.1:10/base", "weight", "0", "balance", "hash=header:", "balance_header", "a b").
		Shows(422, "Environment prod").
		Says("details[open]", "Targets").
		Says("#target-1-weight-error", "Enter a whole number.").
		Says("#target-3-url-error", "All targets of an environment must begin with http://").
		Says("#balance_header-error", "Use the name of a header").
		Says("option[selected]", "By header").
		Holds("weight", "lots").
		Holds("balance_header", "a b")
	s.Post(at, "revision", revision, "url", first, "weight", "0", "balance", "round_robin", "balance_header", "").
		Shows(422, "Environment prod").
		Says("#targets [role=alert]", "Give at least one target a weight above 0")
	s.Post(at, "revision", revision, "url", first, "weight", "3", "url", second, "weight", "",
		"balance", "hash=header:", "balance_header", "X-Session").
		LeadsTo(strings.TrimSuffix(at, "/targets"))
	page = s.Get(prod).
		Says("[data-flash]", "Saved the targets for prod").
		Says("section[aria-labelledby=target-health-title]", second).
		Says("section[aria-labelledby=target-health-title]", "unknown"). // no gateway runs
		Says("option[selected]", "By header").
		Holds("balance_header", "X-Session").
		Says("[aria-label='Target 2']", "Remove target 2").
		Lacks("[aria-label='Target 3']")
	s.Post(at, "revision", revision, "url", first, "weight", "1", "balance", "round_robin", "balance_header", "").
		Shows(412, "Environment prod").
		Says("[role=alert]", "has changed since you opened it")
	s.Post(at, "revision", page.Revision("url"), "url", second, "weight", "1", "balance", "least_connections",
		"balance_header", "").
		LeadsTo(strings.TrimSuffix(at, "/targets"))
	s.Get(prod).Holds("url", second).Lacks("[aria-label='Target 2']").Says("option[selected]", "the fewest calls")
}

func TestEnvironments_checks(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	prod := versionsPage + "/1.0.0/environments/prod"
	page := s.Get(prod).
		Shows(200, "Environment prod").
		Holds("path", "").
		Holds("statuses", "200-399").
		Holds("passive_failures", "5").
		Holds("failures", "0").
		Says("#interval_ms-hint", "Default: 10,000.")
	at, revision := page.Action("path"), page.Revision("path")
	s.Post(at, "revision", revision, "path", "healthz", "interval_ms", "1", "statuses", "200, ok").
		Shows(422, "Environment prod").
		Says("details[open]", "Checks").
		Holds("path", "healthz").
		Holds("statuses", "200, ok").
		Says("#path-error", "Start the path with a slash").
		Says("#interval_ms-error", "Use 1,000 to 3,600,000 milliseconds").
		Says("#statuses-error", "Use a status from 100 to 599")
	s.Post(at, "revision", revision, "path", "/healthz", "interval_ms", "", "unhealthy", "4",
		"statuses", "204 , 300-399").
		LeadsTo(strings.TrimSuffix(at, "/checks"))
	page = s.Get(prod).
		Says("[data-flash]", "Saved the checks for prod").
		Holds("path", "/healthz").
		Holds("interval_ms", "10000"). // an empty field is the default
		Holds("unhealthy", "4").
		Holds("statuses", "204, 300-399").
		Says("section[aria-labelledby=target-health-title]", "unknown")
	at = page.Action("failures")
	s.Post(at, "revision", page.Revision("failures"), "failures", "2000", "open_ms", "x").
		Shows(422, "Environment prod").
		Says("details[open]", "Circuit breaker").
		Holds("failures", "2000").
		Says("#failures-error", "Use 0 to 1,000").
		Says("#open_ms-error", "Enter a whole number.")
	s.Post(at, "revision", page.Revision("failures"), "failures", "20", "window_ms", "5000").
		LeadsTo(strings.TrimSuffix(at, "/breaker"))
	s.Get(prod).
		Says("[data-flash]", "Saved the breaker for prod").
		Holds("failures", "20").
		Holds("window_ms", "5000").
		Holds("open_ms", "10000")
}
