package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// send sends a request and returns the response. The body and header of an error
// response are kept as an output.
func (a *canaryTest) send(method, address, contentType, body string, header ...string) (int, string) {
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
		place := fmt.Sprintf("answer %d %s, %d", len(a.outputs), method, answer.StatusCode)
		a.outputs[place] = string(text) + fmt.Sprint(answer.Header)
	}
	return answer.StatusCode, string(text)
}

func (a *canaryTest) form(address string, pairs ...string) (int, string) {
	a.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return a.send("POST", address, "application/x-www-form-urlencoded", form.Encode(),
		"Accept", "text/html", "Sec-Fetch-Site", "same-origin")
}

// capture keeps a page as an output.
func (a *canaryTest) capture(place, path string, want int) {
	a.Helper()
	status, text := a.send("GET", path, "", "")
	if status != want {
		a.Fatalf("%s: %d %.200s", place, status, text)
	}
	a.outputs[place] = text
}

// tryEveryRoute sends secrets to each route of the API: in the credential, the path,
// the query and each field, first without a valid credential, then as the owner.
func (a *canaryTest) tryEveryRoute() {
	_, text := a.send("GET", "/openapi.json", "", "")
	var document struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil || len(document.Paths) < 20 {
		a.Fatalf("openapi.json: %v, %d paths", err, len(document.Paths))
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
		a.send("GET", page+a.new("in a page's address "+page)+"?", "", "",
			"Accept", "text/html", "Cookie", "postern="+a.new("a wrong session at "+page))
	}
}

// fieldNames are fields that routes of the API have.
var fieldNames = []string{
	"code",
	"name",
	"owner",
	"target",
	"url",
	"reason",
	"format",
	"description",
	"key",
	"secret",
	"password",
	"display_name",
}

func (a *canaryTest) tryRoute(method, path string) {
	for strings.Contains(path, "{") {
		begin, end := strings.Index(path, "{"), strings.Index(path, "}")
		path = path[:begin] + a.new("in the address of "+method+" "+path) + path[end+1:]
	}
	path += "?cursor=" + a.new("the cursor of "+path) + "&head=" + a.new("the head of "+path)
	fields := map[string]any{"unknown": a.new("an unknown field of " + path)}
	for _, name := range fieldNames {
		fields[name] = a.new("the field " + name + " of " + path)
	}
	body, err := json.Marshal(fields)
	if err != nil {
		a.Fatal(err)
	}
	send := func(body, header, value string) { a.send(method, path, "application/json", body, header, value) }
	send(string(body), "Authorization", "Bearer pstw_"+a.new("a wrong token at "+path))
	send(string(body), "Authorization", "Basic "+a.new("another scheme at "+path))
	send(string(body), "Idempotency-Key", a.new("the Idempotency-Key at "+path))
	send(`{"broken": "`+a.new("broken JSON at "+path), "X-API-Key", a.new("a key at "+path))
}
