package app_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"postern/app"
	"postern/client"
	"postern/models"
	"postern/platform/config"
	"postern/testkit"
	"postern/testkit/state"
)

// aviary is a server at its most talkative and every secret that went into it or
// came out of it, by what it is.
type aviary struct {
	*testing.T
	settings config.Config
	log      *lockedBuffer
	browser  *http.Client
	canaries map[string]string
	seen     map[string]string // what was answered and must hold no canary
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const canary = "CanaryCanaryCanaryCanaryCanaryCanary" // as long as a session or a key

// shownAgain is what a form shows to who has sent it: the address that it goes to,
// and what stood in its visible fields.
var shownAgain = []string{"the first link", "a password typed as the address"}

// new makes a secret of the caller's own choice, which is in place as a name or a
// value of anything.
func (a *aviary) new(what string) string {
	secret := canary + fmt.Sprintf("%04d", len(a.canaries))
	a.canaries[what] = secret
	return secret
}

// Secrets go through every route and field that takes or gives them, right and
// wrong ones. None is found in the log, the audit log, an error, the metrics, the
// live log of requests, an export, a table or, on SQLite, the database's own files.
func TestNoSecretLeavesATrace(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { leavesNoTrace(t, "") })
	t.Run("postgres", func(t *testing.T) { leavesNoTrace(t, state.Postgres(t)) })
}

func leavesNoTrace(t *testing.T, databaseURL string) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &aviary{
		T:        t,
		log:      &lockedBuffer{},
		canaries: map[string]string{},
		seen:     map[string]string{},
		browser: &http.Client{
			Jar:           jar,
			Transport:     &http.Transport{},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	defer a.browser.CloseIdleConnections()
	server, err := app.New(
		t.Context(), settingsFor(t, databaseURL), "test",
		slog.New(slog.NewJSONHandler(a.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	)
	if err != nil {
		t.Fatal(err)
	}
	a.settings = server.Config
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- server.Run(ctx) }()
	halt := sync.OnceFunc(func() {
		stop()
		if err := <-stopped; err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	defer halt()

	a.canaries["the first link"] = server.FirstLink[strings.LastIndex(server.FirstLink, "/")+1:]
	a.signUp(server.FirstLink)
	a.useKeys()
	a.tryEveryRoute()
	a.form(
		"/signin", "email", "ana@example.com", "password", a.canaries["the password"],
	) // a wrong cookie has been taken away
	a.browser.CloseIdleConnections()
	a.look("metrics", "/metrics", http.StatusOK)
	a.look("live log", "/api/v1/projects/shop/requests?limit=200", http.StatusOK)
	a.look("audit log", "/api/v1/audit?limit=200", http.StatusOK)
	a.look("the operators' audit log", "/api/v1/audit?limit=200&team=installation", http.StatusOK)
	halt()
	a.readDatabase()
	a.seen["the log"] = a.log.String()
	for place, text := range a.seen {
		for what, secret := range a.canaries {
			if strings.HasPrefix(place, "answer") && slices.Contains(shownAgain, what) {
				continue
			}
			if strings.Contains(text, secret) || strings.Contains(text, url.QueryEscape(secret)) {
				at := strings.Index(text, secret)
				t.Errorf("%s is in %s: …%.200q", what, place, text[max(0, at-120):])
			}
		}
	}
	for _, place := range []string{"the tables", "the log", "metrics", "live log", "audit log", "the operators' audit log", "the export", "all audit entries"} {
		if len(a.seen[place]) < 100 {
			t.Errorf("%s was not looked at: %.100q", place, a.seen[place])
		}
	}
}

// ask sends a request and returns the answer; one that is an error must hold no
// canary.
func (a *aviary) ask(method, address, contentType, body string, header ...string) (int, string) {
	a.Helper()
	if strings.HasPrefix(address, "/") {
		address = a.settings.PublicURL + address
	}
	request, err := http.NewRequestWithContext(a.Context(), method, address, strings.NewReader(body))
	if err != nil {
		a.Fatal(err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer, err := a.browser.Do(request)
	if err != nil {
		a.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		a.Fatal(err)
	}
	if answer.StatusCode >= 400 {
		a.seen[fmt.Sprintf("answer %d %s, %d", len(a.seen), method, answer.StatusCode)] = string(
			text,
		) + fmt.Sprint(
			answer.Header,
		)
	}
	return answer.StatusCode, string(text)
}

func (a *aviary) form(address string, pairs ...string) (int, string) {
	a.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return a.ask(
		"POST", address, "application/x-www-form-urlencoded", form.Encode(), "Accept", "text/html",
		"Sec-Fetch-Site", "same-origin",
	)
}

// look keeps a page as it is.
func (a *aviary) look(place, path string, want int) {
	a.Helper()
	status, text := a.ask("GET", path, "", "")
	if status != want {
		a.Fatalf("%s: %d %.200s", place, status, text)
	}
	a.seen[place] = text
}

// signUp makes the first account, and tries what is wrong first.
func (a *aviary) signUp(link string) {
	password := a.new("the password")
	a.form(link, "email", "not an address", "name", "Ana", "password", a.new("a password in a wrong form"))
	if status, text := a.form(link, "email", "ana@example.com", "name", "Ana", "password", password); status != http.StatusSeeOther {
		a.Fatalf("sign up: %d %.300s", status, text)
	}
	a.form("/signin", "email", "ana@example.com", "password", a.new("a wrong password"))
	a.form("/signin", "email", a.new("a password typed as the address")+"@example.com", "password", "x")
	if status, _ := a.form("/signin", "email", "ana@example.com", "password", password); status != http.StatusSeeOther {
		a.Fatal("sign in")
	}
	address, err := url.Parse(a.settings.PublicURL)
	if err != nil {
		a.Fatal(err)
	}
	for _, cookie := range a.browser.Jar.Cookies(address) {
		if len(cookie.Value) > 30 {
			a.canaries["the session "+cookie.Name] = cookie.Value
		}
	}
	if len(a.canaries) < 6 {
		a.Fatal("there is no session")
	}
}

// useKeys makes secrets of each kind that the server gives out, and uses them.
func (a *aviary) useKeys() {
	upstream := testkit.NewUpstream(a.T)
	anonymous, err := client.New(a.settings.PublicURL, "")
	if err != nil {
		a.Fatal(err)
	}
	proxy, err := anonymous.CreateProxy(a.Context(), client.NewProxy{
		Target:       upstream.URL,
		Name:         "books",
		RequestsAuth: &client.NewAuth{Mode: "authenticate"},
	})
	if err != nil {
		a.Fatal(err)
	}
	a.canaries["an unclaimed project's key"], a.canaries["a workspace key"], a.canaries["a claim code"] = proxy.APIKeys["prod"].Key, proxy.WorkspaceKey, proxy.Claim.Code
	a.secret(
		"the first key",
		"POST",
		"/proxy",
		`{"target":"`+upstream.URL+`","name":"shop","requests_auth":{"mode":"authenticate"}}`,
		"api_keys",
		"prod",
		"key",
	)
	id := a.secret("a key", "POST", "/api/v1/projects/shop/keys", `{"owner":"billing"}`, "key")
	a.secret("a rotated key", "POST", "/api/v1/keys/"+id+"/rotate", `{}`, "key")
	a.secret("an access token", "POST", "/api/v1/tokens", `{"name":"laptop","scopes":["read","export"]}`, "token")
	a.secret(
		"a webhook's secret",
		"POST",
		"/api/v1/webhooks",
		`{"url":"`+upstream.URL+`","events":["key.created"]}`,
		"secret",
	)
	a.useCodes()
	a.ask("GET", "/claim/"+a.canaries["a claim code"], "", "", "Accept", "text/html")
	a.form("/claim/"+a.canaries["a claim code"], "team", "new")

	address := proxy.Project.Environments[0].URL
	for _, key := range []string{a.canaries["a key"], a.canaries["a rotated key"], a.new("a wrong key")} {
		for _, to := range []string{address, strings.Replace(address, "books", "shop", 1)} {
			a.ask(
				"GET", to+"/x?key="+key+"&"+a.new("a query's name")+"="+a.new("a query's value"), "", "",
				"X-API-Key", key, "Authorization", "Bearer "+a.new("a caller's token"), "Cookie",
				"session="+a.new("a caller's cookie"), "X-Secret", a.new("a caller's header"),
			)
		}
	}
	a.export()
}

// secret asks for something and keeps the member of the answer that is shown once;
// it returns the thing's id.
func (a *aviary) secret(what, method, path, body string, member ...string) (id string) {
	a.Helper()
	status, text := a.ask(
		method, path, "application/json", body, "Idempotency-Key", a.new("the Idempotency-Key of "+what),
	)
	var answer map[string]any
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status >= 300 {
		a.Fatalf("%s: %d %s", what, status, text)
	}
	id, _ = answer["id"].(string)
	var at any = answer
	for _, name := range member {
		at = at.(map[string]any)[name]
	}
	secret, _ := at.(string)
	if len(secret) < 20 {
		a.Fatalf("%s has no secret at %v: %s", what, member, text)
	}
	a.canaries[what] = secret
	return id
}

func (a *aviary) export() {
	status, text := a.ask("POST", "/api/v1/projects/shop/exports", "application/json", `{"format":"gateway"}`)
	var queued client.Export
	if err := json.Unmarshal([]byte(text), &queued); err != nil || status != http.StatusAccepted {
		a.Fatalf("export: %d %s", status, text)
	}
	api, err := client.New(a.settings.PublicURL, a.canaries["an access token"])
	if err != nil {
		a.Fatal(err)
	}
	if _, err := api.WaitExport(a.Context(), queued.ID, nil); err != nil {
		a.Fatal(err)
	}
	_, text = a.ask("GET", "/api/v1/exports/"+queued.ID+"/download", "", "")
	archive, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
	if err != nil {
		a.Fatal(err)
	}
	var all strings.Builder
	for _, file := range archive.File {
		in, err := file.Open()
		if err != nil {
			a.Fatal(err)
		}
		fmt.Fprintln(&all, file.Name)
		if _, err := io.Copy(&all, in); err != nil {
			a.Fatal(err)
		}
	}
	a.seen["the export"] = all.String()
}

// tryEveryRoute puts secrets where each route of the API takes something: into the
// credential, the address, the query and each field, at first as somebody unknown,
// then as the owner.
func (a *aviary) tryEveryRoute() {
	_, text := a.ask("GET", "/openapi.json", "", "")
	var document struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil || len(document.Paths) < 20 {
		a.Fatalf("the document: %v, %d paths", err, len(document.Paths))
	}
	for path, methods := range document.Paths {
		for method := range methods {
			if !slices.Contains([]string{"get", "post", "put", "patch", "delete"}, method) {
				continue
			}
			a.tryRoute(strings.ToUpper(method), path)
		}
	}
	for _, page := range []string{"/welcome/", "/claim/", "/projects/", "/exports/", "/audit?actor="} {
		a.ask(
			"GET", page+a.new("in a page's address "+page)+"?", "", "", "Accept", "text/html", "Cookie",
			"postern="+a.new("a wrong session at "+page),
		)
	}
}

func (a *aviary) tryRoute(method, path string) {
	for strings.Contains(path, "{") {
		begin, end := strings.Index(path, "{"), strings.Index(path, "}")
		path = path[:begin] + a.new("in the address of "+method+" "+path) + path[end+1:]
	}
	path += "?cursor=" + a.new("the cursor of "+path) + "&head=" + a.new("the head of "+path)
	fields := map[string]any{"unknown": a.new("an unknown field of " + path)}
	for _, name := range []string{"code", "name", "owner", "target", "url", "reason", "format", "description", "key", "secret", "password", "display_name"} {
		fields[name] = a.new("the field " + name + " of " + path)
	}
	body, err := json.Marshal(fields)
	if err != nil {
		a.Fatal(err)
	}
	a.ask(
		method, path, "application/json", string(body), "Authorization",
		"Bearer pstw_"+a.new("a wrong token at "+path),
	)
	a.ask(method, path, "application/json", string(body), "Authorization", "Basic "+a.new("another scheme at "+path))
	a.ask(method, path, "application/json", string(body), "Idempotency-Key", a.new("the Idempotency-Key at "+path))
	a.ask(
		method,
		path,
		"application/json",
		`{"broken": "`+a.new("broken JSON at "+path),
		"X-API-Key",
		a.new("a key at "+path),
	)
}

// readDatabase looks at every audit entry and every table, and on SQLite at all
// that is stored.
func (a *aviary) readDatabase() {
	db, err := models.Open(a.Context(), a.settings.DatabaseURL.Reveal(), a.settings.SQLitePath())
	if err != nil {
		a.Fatal(err)
	}
	tx := db.Read(a.Context())
	teams, err := tx.AuditTeams()
	if err != nil {
		a.Fatal(err)
	}
	for _, team := range teams {
		entries, err := tx.AuditOf(team, 100_000)
		if err != nil {
			a.Fatal(err)
		}
		a.seen["all audit entries"] += fmt.Sprintf("%+v\n", entries)
	}
	a.readTables(db.SQL())
	if err := db.Close(); err != nil {
		a.Fatal(err)
	}
	if a.settings.DatabaseURL != "" {
		return
	}
	for _, ending := range []string{"", "-wal"} {
		stored, err := os.ReadFile(filepath.Clean(a.settings.SQLitePath() + ending))
		if err != nil && !os.IsNotExist(err) {
			a.Fatal(err)
		}
		a.seen["the database's file"+ending] = string(stored)
	}
}
