package main

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// codeRun is a form whose lines must do what sending it does. Routes are those of the dashboard,
// and of the API for the state that is compared.
type codeRun struct {
	name  string
	form  string
	state string
	sent  []string // names and values; {tenant} and {environment} are ids of the objects
}

const onEnvironment = "/projects/:project/versions/:version/environments/:environment"

var codeRuns = []codeRun{
	{"create a key", "/projects/:project/keys", "/api/v1/projects/:project/keys", []string{
		"owner", "it's \"ana\"", "key_type", "read-only", "environment", "prod", "description", "for $HOME\\n & more",
		"expires_at", "2040-12-31", "limits_of", "own", "limits_minute", "60", "limits_day", "5000",
		"allowed_cidrs", "203.0.113.0/24\n2001:db8::/32",
	}},
	{"create a key without limits", "/projects/:project/keys", "/api/v1/projects/:project/keys", []string{
		"owner", "-x", "limits_of", "none",
	}},
	{"update a key", "/projects/:project/keys/:key", "/api/v1/keys/:key", []string{
		"description", "Nächtlich", "limits_of", "own", "limits_hour", "10", "allowed_cidrs", "198.51.100.7",
	}},
	{"empty a key", "/projects/:project/keys/:key", "/api/v1/keys/:key", []string{"limits_of", "type"}},
	{"freeze a key", "/projects/:project/keys/:key/freeze", "/api/v1/keys/:key", nil},
	{"create a key type", "/projects/:project/key-types", "/api/v1/projects/:project/key-types", []string{
		"name", "partner", "scopes", "orders:read\norders:*", "expires_in", "90", "limits_minute", "100",
	}},
	{"limits", "/projects/:project/limits", "/api/v1/projects/:project", []string{
		"limit_of", "key", "limit_window", "minute", "limit_calls", "60",
		"limit_of", "ip", "limit_window", "second", "limit_calls", "5",
		"limit_of", "project", "limit_window", "year", "limit_calls", "1000000",
	}},
	{"no limits", "/projects/:project/limits", "/api/v1/projects/:project", nil},
	{"cors", "/projects/:project/cors", "/api/v1/projects/:project/cors", []string{
		"origins", "https://app.example.com\nhttp://localhost:3000", "methods", "GET", "methods", "POST",
		"headers", "Content-Type\nX-A", "exposed_headers", "X-B", "credentials", "true", "max_age", "600",
	}},
	{"no cors", "/projects/:project/cors", "/api/v1/projects/:project/cors", nil},
	{"rules", "/projects/:project/versions/:version/rules", "/api/v1/projects/:project/versions/:version/rules",
		[]string{"default", "deny", "rules_mode", "shadow", "read_write_scopes", "true", "rules",
			"GET,HEAD /orders/{id} scopes=orders:read owner=order:{id}\n" +
				"POST /orders remember=order:{response.id} mode=off"}},
	{"transforms", "/projects/:project/versions/:version/transforms",
		"/api/v1/projects/:project/versions/:version/transforms",
		[]string{"transforms", "request add X-Source: it's\nquery rename a:b\nresponse-body add number n:2"}},
	{"access", "/projects/:project/versions/:version/access", "/api/v1/projects/:project", []string{
		"mode", "authenticate", "methods", "api_key", "methods", "jwt", "keyless", "reject",
		"key_in", "header", "key_in_name", "Authorization", "key_in_prefix", "Bearer", "key_in_prefix_use", "optional",
		"key_in", "query", "key_in_name", "api_key", "key_in_prefix", "", "key_in_prefix_use", "required",
		"issuer", "https://127.0.0.1:9", "issuer_audience", "orders", "issuer_jwks_url", "https://127.0.0.1:9/keys",
	}},
	{"addresses", "/projects/:project/versions/:version/addresses", "/api/v1/projects/:project", []string{
		"ip_allow", "203.0.113.0/24", "ip_deny", "203.0.113.7",
	}},
	{"rename a project", "/projects/:project/settings", "/api/v1/projects/:project", []string{
		"display_name", "Ana's \"shop\" ☃",
	}},
	{
		"target",
		"/projects/:project/versions/:version/environments/:environment/target",
		"/api/v1/projects/:project",
		[]string{
			"target", "http://127.0.0.1:9/v2",
		},
	},
	{"targets", onEnvironment + "/targets", "/api/v1/projects/:project", []string{
		"url", "http://127.0.0.1:9/base", "weight", "3", "url", " ", "weight", "1", "url", "http://127.0.0.1:10/base",
		"weight", "", "balance", "hash=header:", "balance_header", "X-Session",
	}},
	{"checks", onEnvironment + "/checks", "/api/v1/projects/:project", []string{
		"path", "/healthz", "interval_ms", "5000", "statuses", "204, 300-399", "unhealthy", "", "passive_failures", "0",
	}},
	{"breaker", onEnvironment + "/breaker", "/api/v1/projects/:project", []string{
		"failures", "20", "window_ms", "", "open_ms", "1500",
	}},
	{"rename an environment", "/projects/:project/versions/:version/environments/:environment",
		"/api/v1/projects/:project", []string{"name", "live"}},
	{"add an environment", "/projects/:project/versions/:version/environments", "/api/v1/projects/:project", []string{
		"name", "dev", "target", "http://127.0.0.1:9/dev",
	}},
	{"api scope", "/projects/:project/api-scopes", "/api/v1/projects/:project/api-scopes", []string{
		"name", "invoices:read", "description", "see your invoices",
	}},
	{"create an app client", "/projects/:project/login", "/api/v1/tenants/:tenant/app-clients", []string{
		"tenant", "{tenant}", "name", "web-two",
		"redirect_uris", "https://app.example.com/callback\nhttp://localhost:3000/cb",
	}},
	{"update an app client", "/projects/:project/login/:client/access", "/api/v1/app-clients/:client", []string{
		"grant_types", "authorization_code", "grant_types", "refresh_token",
	}},
	{"brand an app client", "/projects/:project/login/:client/branding", "/api/v1/app-clients/:client", []string{
		"title", "Ana's", "color", "#aa0000", "welcome", "It's \"here\"",
	}},
	{"switch a provider", "/projects/:project/login/:client/providers/:provider/switch",
		"/api/v1/app-clients/:client/providers", []string{"enabled", "false"}},
	{"update a tenant", "/tenants/:tenant", "/api/v1/tenants/:tenant", []string{
		"display_name", "Acme; Ltd", "fallback_owner", "billing",
	}},
	{"tenant cors", "/tenants/:tenant/cors", "/api/v1/tenants/:tenant/cors", []string{
		"origins", "*", "methods", "GET",
	}},
	{"sign-up policy", "/tenants/:tenant/signup", "/api/v1/tenants/:tenant/signup", []string{"invite_only", "true"}},
	{"approve", "/tenants/:tenant/signup/approvals", "/api/v1/tenants/:tenant/signup/approvals", []string{
		"value", "example.org",
	}},
	{"invite a user", "/tenants/:tenant/users", "/api/v1/tenants/:tenant/users", []string{
		"email", "zoe@example.com", "name", "Zoë",
	}},
	{"freeze a user", "/users/:user/freeze", "/api/v1/users/:user", nil},
	{"rename a group", "/groups/:group", "/api/v1/groups/:group", []string{"name", "crew", "display_name", "The crew"}},
	{"export", "/projects/:project/export", "/api/v1/projects/:project/exports", []string{
		"format", "gateway", "keys", "none",
	}},
}

// TestAsCode_runs sends forms, and runs the lines that the dashboard shows for them in a shell
// with curl, jq and postern, each on its own objects. All three must lead to the same state.
func TestAsCode_runs(t *testing.T) {
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	server := httptest.NewServer(o.Handler)
	t.Cleanup(server.Close)
	made := o.Do(t, "POST", "/api/v1/tokens",
		`{"name": "lines", "scopes": ["read", "write", "keys", "users", "export", "admin"]}`, o.Owner)
	token, _ := made.Body["token"].(string)
	if token == "" {
		t.Fatalf("no token: %d %s", made.Status, made.Raw)
	}
	run := codeRunner{o: o, server: server.URL, token: token, config: t.TempDir()}
	for _, one := range codeRuns {
		t.Run(one.name, func(t *testing.T) {
			want := run.do(t, one, "form")
			for _, way := range []string{"curl", "cli"} {
				if one.name == "export" && way == "cli" {
					continue // it waits for a worker, which this server does not have
				}
				if got := run.do(t, one, way); got != want {
					t.Errorf("%s leads to\n%s\nand the form to\n%s", way, got, want)
				}
			}
		})
	}
}

type codeRunner struct {
	o                     *controlplane.Fixture
	server, token, config string
}

// do does one thing in one way with new objects, and returns the state after it.
func (r codeRunner) do(t *testing.T, one codeRun, way string) string {
	t.Helper()
	has := r.o.NewAllObjects(t, "", one.form)
	form := url.Values{}
	for i := 0; i < len(one.sent); i += 2 {
		form.Add(one.sent[i], strings.ReplaceAll(one.sent[i+1], "{tenant}", has.Tenant))
	}
	action := has.Path(one.form)
	if way == "form" {
		answer := r.o.Do(t, "POST", action, form.Encode(), r.o.Owner)
		if answer.Status != 303 {
			t.Fatalf("the form is answered %d: %s", answer.Status, firstError(answer.Raw))
		}
	} else {
		r.paste(t, r.line(t, action, form, way))
	}
	api := one.state
	if strings.Contains(api, "/tenants/") || strings.Contains(api, ":project") {
		api = strings.ReplaceAll(api, ":project", has.ProjectName)
	}
	answer := r.o.Do(t, "GET", has.Path(api), "", r.o.Owner)
	if answer.Status != 200 {
		t.Fatalf("GET %s: %d %s", api, answer.Status, answer.Raw)
	}
	return normal(t, answer.Raw)
}

// line is what the dashboard shows for a form that is filled in so.
func (r codeRunner) line(t *testing.T, action string, form url.Values, way string) string {
	t.Helper()
	answer := r.o.Do(t, "POST", "/as-code?"+url.Values{"form": {action}}.Encode(), form.Encode(), r.o.Owner)
	page, err := goquery.NewDocumentFromReader(strings.NewReader(answer.Raw))
	if err != nil {
		t.Fatal(err)
	}
	line := page.Find("code[id$='-" + way + "']").Text()
	if line == "" {
		t.Fatalf("no %s line: %d %s", way, answer.Status, answer.Raw)
	}
	return strings.ReplaceAll(line, r.o.Server.Config.PublicURL, r.server)
}

// paste runs lines as someone who pastes them.
func (r codeRunner) paste(t *testing.T, lines string) {
	t.Helper()
	command := exec.Command("sh", "-eu", "-c", lines)
	command.Dir = t.TempDir()
	command.Env = append(os.Environ(), "POSTERN_SERVER="+r.server, "POSTERN_TOKEN="+r.token,
		"POSTERN_CONFIG_DIR="+r.config)
	out, err := command.CombinedOutput()
	if err != nil || failedAnswer.Match(out) {
		t.Fatalf("%s\n%v: %s", lines, err, out)
	}
}

func firstError(page string) string {
	document, err := goquery.NewDocumentFromReader(strings.NewReader(page))
	if err != nil {
		return err.Error()
	}
	return controlplane.Clean(document.Find("main [id$=-error], main [role=alert], .form-error, main .notice").Text())
}

// varying are members that differ between objects that are otherwise the same.
var (
	varying = map[string]bool{
		"created_at": true, "updated_at": true, "secret_created_at": true, "etag": true, "last4": true,
	}
	// failedAnswer is the status in the API's errors, which curl takes for any other answer.
	failedAnswer = regexp.MustCompile(`"status":\s*[45]`)
	numbered     = regexp.MustCompile(`\b((shop|product|tenant|acme|web|staff)-\d+|` +
		`([a-z]{3})_[0-9a-z]{26})`)
)

// normal is JSON without what differs between objects that are otherwise the same.
func normal(t *testing.T, text string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	var clean func(any) any
	clean = func(value any) any {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				if varying[name] {
					delete(value, name)
					continue
				}
				value[name] = clean(member)
			}
			return value
		case []any:
			for i := range value {
				value[i] = clean(value[i])
			}
			return value
		case string:
			return numbered.ReplaceAllString(value, "$2$3")
		}
		return value
	}
	out, err := json.MarshalIndent(clean(value), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
