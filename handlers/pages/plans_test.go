package pages_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
	"postern/views/ui"
)

// sendKong posts a file to the form that plans its import.
func sendKong(t *testing.T, s *controlplane.Browser, text string, fields ...string) *controlplane.Page {
	t.Helper()
	return sendFiles(t, s, []string{"kong.yaml", text}, fields...)
}

// sendFiles posts files to the form that plans their import: pairs of a name and a text.
func sendFiles(t *testing.T, s *controlplane.Browser, files []string, fields ...string) *controlplane.Page {
	t.Helper()
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	for i := 0; i < len(fields); i += 2 {
		must(t, form.WriteField(fields[i], fields[i+1]))
	}
	for i := 0; i < len(files); i += 2 {
		file, err := form.CreateFormFile("file", files[i])
		must(t, err)
		_, err = file.Write([]byte(files[i+1]))
		must(t, err)
	}
	must(t, form.Close())
	return s.Do(http.MethodPost, "/imports/plan", out.String(), []string{"Content-Type", form.FormDataContentType()})
}

func TestImportPlanPage(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	nonce := s.Get("/imports").Shows(200, "Import a project").Says("#from-gateway h2", "Import from another gateway").
		Value("#from-gateway [name=" + ui.NonceField + "]")
	created := sendKong(t, s, controlplane.KongFile, ui.NonceField, nonce)
	path := created.Location()
	if again := sendKong(t, s, controlplane.KongFile, ui.NonceField, nonce); again.Location() != path {
		t.Errorf("the form that was sent again leads to %s, not to %s", again.Location(), path)
	}
	s.Get("/imports").Says("a[href='"+path+"']", "Plan kong").Says("#earlier-imports ~ ul", "Will be deleted in")

	plan := s.Get(path).Shows(200, "Import plan").Says("main", "kong 3.0").
		Says("main", "UPSTREAM").
		Says("main", "require the plugin oauth2 in addition to a key; its service can't be imported.").
		Says("#ledger-todo", "API keys").
		Says("#ledger-todo", "Import the key with “Import weak keys”").
		Says("main", "Postern does this only with “Retry after a timeout”")
	if strings.Contains(plan.Raw, "4d1c9a2b7e8f4a6d") {
		t.Error("the page has a key")
	}
	if text := plan.Find("main").Text(); strings.Contains(text, " --") || strings.Contains(text, "`") {
		t.Errorf("the page names flags or members of the API: %s", text)
	}
	revision := plan.Value("#plan-choices ~ form [name=revision]")
	refused := s.Post(path, "revision", revision, "hosts", "*.example.com", "placeholder", "UPSTREAM",
		"placeholder_value", "")
	refused.Shows(422, "Import plan").Says("#plan-hosts-error", "wildcards")

	s.Post(path, "revision", revision, "name", "Staging 2", "hosts", "www.example.com", "allow_weak", "true",
		"open", "/services/0/routes/1",
		"placeholder", "UPSTREAM", "placeholder_value", "orders.internal").LeadsTo(path)
	plan = s.Get(path).Shows(200, "Import plan").
		Says("main", "the product staging-2 and the tenant staging-2").
		Says("main", "http://orders.internal:8080").Says("main", "api.example.com/orders").
		Says("main", "These placeholders have values: UPSTREAM").
		Says("main fieldset legend", "Allow").
		Says("#plan-hand ~ dl", "api.example.com").
		Says("button.btn-primary", "Import 2 projects and 2 keys")
	if plan.Find("[name=open][value='/services/0/routes/1'][checked]").Length() != 1 {
		t.Error("the opened route isn't checked")
	}
	s.Post(path, "revision", revision, "theirs", "true").Shows(412, "Import plan").
		Says("[role=alert]", "changed since you opened")

	s.Post(path+"/delete").Shows(200, "Delete the plan").Says("main", "files that you uploaded")
	s.Post(path+"/delete", "confirm", "true").LeadsTo("/imports")
	s.Get(path).Shows(404, "Page not found")
}

// A target whose certificate isn't accepted is trusted with a tick.
func TestImportPlanPage_targets(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	s.Server.Plans.Dial = new(net.Dialer).DialContext
	target := httptest.NewUnstartedServer(http.NotFoundHandler())
	target.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes
	target.StartTLS()
	t.Cleanup(target.Close)
	file := `{"_format_version": "3.0", "services": [{"url": "` + target.URL + `", "routes": [{"paths": ["/"]}]}]}`
	path := sendKong(t, s, file, ui.NonceField, s.Get("/imports").Nonce("/imports/plan")).Location()
	sum := fmt.Sprintf("%x", sha256.Sum256(target.Certificate().Raw))
	plan := s.Get(path).Shows(200, "Import plan").
		Says("#plan-targets ~ dl", target.URL).
		Says("#plan-targets ~ dl", "from an authority that isn't trusted").
		Says("label[for='plan-offers-127.0.0.1']", sum)
	s.Post(path, "revision", plan.Value("#plan-choices ~ form [name=revision]"), "trust", "127.0.0.1", "trust", "").
		LeadsTo(path)
	plan = s.Get(path).Shows(200, "Import plan").
		Says("#plan-targets ~ dl", "Trusted: ").
		Says("#plan-targets ~ dl", sum).
		Says("#plan-trust", "127.0.0.1")
	if plan.Find("[name=trust][type=checkbox]").Length() != 0 {
		t.Error("a trusted target is offered again")
	}
}

// The number of targets without problems is that of the others only if some are listed.
func TestImportPlanPage_reached(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	s.Server.Plans.Dial = new(net.Dialer).DialContext
	target := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(target.Close)
	file := `{"_format_version": "3.0", "services": [{"url": "` + target.URL + `", "routes": [{"paths": ["/"]}]}]}`
	path := sendKong(t, s, file, ui.NonceField, s.Get("/imports").Nonce("/imports/plan")).Location()
	s.Get(path).Shows(200, "Import plan").Says("#plan-targets ~ p", "No problems found with 1 target.")
}

// Several files have one plan, which names them. The form is the same again if all of its files are.
func TestImportPlanPage_several(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	nonce := s.Get("/imports").Shows(200, "Import a project").Value("#from-gateway [name=" + ui.NonceField + "]")
	files := []string{
		"services.yaml", "_format_version: '3.0'\nservices: [{name: orders, url: 'http://${UPSTREAM}:1'}]\n",
		"routes.yaml", "_format_version: '3.0'\nroutes:\n- {name: orders, service: orders, paths: [/orders]}\n" +
			"plugins: [{name: oauth2, route: orders}]\n",
	}
	path := sendFiles(t, s, files, ui.NonceField, nonce).Location()
	if again := sendFiles(t, s, files, ui.NonceField, nonce).Location(); again != path {
		t.Errorf("the form that was sent again leads to %s, not to %s", again, path)
	}
	if other := sendFiles(t, s, files[:2], ui.NonceField, nonce).Location(); other == path {
		t.Error("a form with fewer files leads to the same plan")
	}
	s.Get(path).Shows(200, "Import plan").Says("main", "line 2 of services.yaml").
		Says("main", "route orders (line 3 of routes.yaml)")
}

func TestImportPlanPage_refused(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	for name, tt := range map[string]struct {
		text, want string
		status     int
	}{
		"nothing":       {"", "The file is empty", 422},
		"a zip":         {"PK\x03\x04", "form for exported zips", 422},
		"another file":  {"hello: world\n", "_format_version", 422},
		"NUL":           {"_format_version: '3.0'\nservices: \x00\n", "Line 2", 422},
		"a large one":   {"#" + strings.Repeat("x", 21<<20), "20 MB", 413},
		"member, twice": {"_format_version: '3.0'\nroutes: []\nroutes: []\n", "Line 3", 422},
	} {
		sendKong(t, s, tt.text).Shows(tt.status, "Import a project").Says("#plan-file-error", tt.want)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	sendFiles(t, s, nil).Shows(422, "Import a project").Says("#plan-file-error", "Choose a file")
	sendFiles(t, s, []string{"", ""}).Shows(422, "Import a project").Says("#plan-file-error", "Choose a file")
	sendFiles(t, s, slices.Repeat([]string{"a.yaml", controlplane.KongFile}, 51)).Shows(422, "Import a project").
		Says("#plan-file-error", "more than 50 files")
	sendKong(t, s, controlplane.KongFile, "kong", "x").Shows(400, "Import a project").
		Says("#plan-file-error", "a field is unknown")
}

func TestImportPlanPage_apply(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	const file = `{"_format_version": "3.0", "services": [{"name": "small", "url": "http://127.0.0.1:9", "routes": [
		{"paths": ["/"]}]}], "consumers": [{"username": "web", "keyauth_credentials": [
		{"key": "4d1c9a2b7e8f4a6db1c2d3e4f5a69788"}]}]}`
	plan := func() (path, revision string) {
		path = sendKong(t, s, file, ui.NonceField, s.Get("/imports").Nonce("/imports/plan")).Location()
		return path, s.Get(path).Shows(200, "Import plan").Value("#plan-choices ~ form [name=revision]")
	}
	path, revision := plan()
	s.Post(path+"/apply", "revision", "x").Shows(412, "Import plan").
		Says("[role=alert]", "changed since you opened")
	applied := s.Post(path+"/apply", "revision", revision).Location()
	s.Get(path).Shows(404, "Page not found")
	s.Get(applied).Shows(200, "Import result").
		Says("main a[href='/projects/small']", "small").
		Says("main", "Projects created").
		Says("main", "/small/1.0.0/prod")

	s.Get(applied).Says("nav[aria-label='Breadcrumb']", "Import of ")

	path, revision = plan()
	list := s.Get("/imports").Says("#earlier-imports ~ ul li:nth-child(1) a[href='"+path+"']", "Plan kong").
		Says("#earlier-imports ~ ul li:nth-child(2) a[href='"+applied+"']", "Import kong").
		Says("#earlier-imports ~ ul li:nth-child(2)", "Imported just now")
	if n := list.Find("#earlier-imports ~ ul li").Length(); n != 2 {
		t.Errorf("the page lists %d plans and imports, want 2", n)
	}
	s.Post(path+"/apply", "revision", revision).LeadsTo("/imports")
	s.Get("/imports").Says("body", "Everything is up to date")

	s.Get("/audit").Says("main", `created the import plan "kong"`).
		Says("main", `applied the import plan "kong"`).
		Says("main", `imported files from another gateway as "kong"`)

	s.Post(applied+"/undo").Shows(200, "Undo the import").Says("nav[aria-label='Breadcrumb']", "Import of ")
	s.Post(applied+"/undo", "confirm", "true").LeadsTo("/imports")
	s.Get("/projects/small").Shows(404, "Page not found")
	s.Get(applied).Shows(404, "Page not found")
}

// The result marks what refuses every call, and lists what is left to do.
func TestImportPlanPage_closed(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	const settings = "#plan-choices ~ form [name=revision]"
	path := sendKong(t, s, controlplane.KongFile, ui.NonceField, s.Get("/imports").Nonce("/imports/plan")).Location()
	s.Post(path, "revision", s.Get(path).Value(settings), "placeholder", "UPSTREAM",
		"placeholder_value", "orders.internal").LeadsTo(path)
	applied := s.Post(path+"/apply", "revision", s.Get(path).Value(settings)).Location()
	const rules, domains = "/projects/orders/versions/closed/rules", "/projects/orders/domains"
	page := s.Get(applied).Shows(200, "Import result").
		Says("[data-flash]", "Some versions refuse every call").
		Says("main", "Version closed refuses every call until you change").
		Says("main a[href='"+rules+"']", "its rules").
		Says("main a[href='"+domains+"']", "Custom domains").
		Says("#moved-next ~ p", "remain").
		Says("#ledger-todo", "Import the key with “Import weak keys”")
	if n := page.Find("main .badge").Length(); n < 1 || strings.Contains(page.Find("main").Text(), "`") {
		t.Errorf("%d badges, or members of the API, in %s", n, page.Find("main").Text())
	}
	for _, link := range []string{rules, domains} {
		if got := s.Get(link).Status; got != http.StatusOK {
			t.Errorf("%s gets %d", link, got)
		}
	}
}
