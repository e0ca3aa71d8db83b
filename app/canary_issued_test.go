package app_test

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"postern/client"
	"postern/core/contract"
	"postern/testkit"
)

// signUp creates the first account, after wrong attempts, and signs in.
func (a *canaryTest) signUp(link string) {
	password := a.new("the password")
	a.form(link, "email", "not an address", "name", "Ana", "password", a.new("a password in a wrong form"))
	status, text := a.form(link, "email", "ana@example.com", "name", "Ana", "password", password)
	if status != http.StatusSeeOther {
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

// useKeys creates secrets of each kind that the server issues, and uses them.
func (a *canaryTest) useKeys() {
	upstream := testkit.NewUpstream(a.T)
	anonymous, err := client.New(a.settings.PublicURL, "")
	if err != nil {
		a.Fatal(err)
	}
	proxy, err := client.Do(a.Context(), anonymous, contract.CreateProxy, contract.NewProxy{
		Target:       upstream.URL,
		Name:         "books",
		RequestsAuth: &contract.NewRequestsAuth{Mode: "authenticate"},
	}.Request())
	if err != nil {
		a.Fatal(err)
	}
	a.canaries["an unclaimed project's key"] = proxy.APIKeys["prod"].Key.Reveal()
	a.canaries["a workspace key"] = proxy.WorkspaceKey.Reveal()
	a.canaries["a claim code"] = proxy.Claim.Code.Reveal()
	shop := `{"target":"` + upstream.URL + `","name":"shop","requests_auth":{"mode":"authenticate"}}`
	a.create("the first key", "/proxy", shop, "api_keys", "prod", "key")
	id := a.create("a key", "/api/v1/projects/shop/keys", `{"owner":"billing"}`, "key")
	a.create("a rotated key", "/api/v1/keys/"+id+"/rotate", `{}`, "key")
	a.create("an access token", "/api/v1/tokens", `{"name":"laptop","scopes":["read","export"]}`, "token")
	hook := `{"url":"` + upstream.URL + `","events":["key.created"]}`
	a.create("a webhook's secret", "/api/v1/webhooks", hook, "secret")
	a.useCodes()
	a.send("GET", "/claim/"+a.canaries["a claim code"], "", "", "Accept", "text/html")
	a.form("/claim/"+a.canaries["a claim code"], "team", "new")

	address := proxy.Project.Environments[0].URL
	for _, key := range []string{a.canaries["a key"], a.canaries["a rotated key"], a.new("a wrong key")} {
		for _, to := range []string{address, strings.Replace(address, "books", "shop", 1)} {
			query := "key=" + key + "&" + a.new("a query's name") + "=" + a.new("a query's value")
			a.send("GET", to+"/x?"+query, "", "",
				"X-API-Key", key,
				"Authorization", "Bearer "+a.new("a caller's token"),
				"Cookie", "session="+a.new("a caller's cookie"),
				"X-Secret", a.new("a caller's header"))
		}
	}
	a.useUpstreamCredentials(strings.Replace(address, "books", "shop", 1), a.canaries["a rotated key"])
	a.export("gateway")
	a.export("data")
}

// create posts to path, keeps the member of the response that is shown once as the
// canary what, and returns the id of the created object.
func (a *canaryTest) create(what, path, body string, member ...string) (id string) {
	a.Helper()
	key := a.new("the Idempotency-Key of " + what)
	status, text := a.send("POST", path, "application/json", body, "Idempotency-Key", key)
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

// export reads every file of a new export of shop.
func (a *canaryTest) export(format string) {
	status, text := a.send("POST", "/api/v1/projects/shop/exports", "application/json", `{"format":"`+format+`"}`)
	var queued contract.Export
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
	_, text = a.send("GET", "/api/v1/exports/"+queued.ID+"/download", "", "")
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
	a.outputs["the export, "+format] = all.String()
}

// useCodes creates invitation and device codes, and uses some of them.
func (a *canaryTest) useCodes() {
	status, text := a.send("GET", "/api/v1/teams", "", "")
	var teams struct{ Items []struct{ ID string } }
	if err := json.Unmarshal([]byte(text), &teams); err != nil || len(teams.Items) == 0 {
		a.Fatalf("the teams: %d %s", status, text)
	}
	invitations := "/api/v1/teams/" + teams.Items[0].ID + "/invitations"
	a.create("an invitation's code", invitations, `{"role":"viewer"}`, "code")
	for _, what := range []string{"a device code", "a device code that waits"} {
		status, text := a.form("/oauth/device_authorization", "client_id", "postern-cli", "machine", "laptop")
		var asked struct {
			Device string `json:"device_code"`
			User   string `json:"user_code"`
		}
		if err := json.Unmarshal([]byte(text), &asked); err != nil || len(asked.Device) < 20 || asked.User == "" {
			a.Fatalf("%s: %d %s", what, status, text)
		}
		a.canaries[what], a.canaries["the user code of "+what] = asked.Device, asked.User
	}
	a.form("/device", "user_code", a.canaries["the user code of a device code"], "decision", "approve")
	status, text = a.form("/oauth/token",
		"client_id", "postern-cli",
		"grant_type", "urn:ietf:params:oauth:grant-type:device_code",
		"device_code", a.canaries["a device code"])
	var granted struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(text), &granted); err != nil || len(granted.Token) < 20 {
		a.Fatalf("a command line's token: %d %s", status, text)
	}
	a.canaries["a command line's token"] = granted.Token
	a.send("GET", "/api/v1/whoami", "", "", "Authorization", "Bearer "+granted.Token)
}
