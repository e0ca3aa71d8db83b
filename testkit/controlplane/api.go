package controlplane

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"postern/handlers"
	"postern/service/accounts"
)

// Response is an answer of the API.
type Response struct {
	Status int
	Header http.Header
	Body   map[string]any // nil unless the answer is JSON
	Raw    string
}

// Call sends a request to h and returns its answer. token is sent as the bearer token and
// body as JSON; either may be empty. header has names and values in turn, which replace
// those that Call sets; a name may be repeated.
func Call(t testing.TB, h http.Handler, method, path, token, body string, header ...string) Response {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "localhost"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Del(header[i])
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	raw, err := io.ReadAll(w.Result().Body)
	must(t, err)
	got := Response{Status: w.Code, Header: w.Header(), Raw: string(raw)}
	if strings.Contains(w.Header().Get("Content-Type"), "json") {
		if err := json.Unmarshal(raw, &got.Body); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, raw)
		}
	}
	return got
}

// Errors returns the fields of a problem (RFC 9457).
func (a Response) Errors() (list []map[string]any) {
	fields, _ := a.Body["errors"].([]any)
	for _, field := range fields {
		list = append(list, field.(map[string]any))
	}
	return list
}

// Pointers returns the JSON Pointers of a problem's fields.
func (a Response) Pointers() (list []string) {
	for _, field := range a.Errors() {
		list = append(list, field["pointer"].(string))
	}
	return list
}

// PointerCodes returns a problem's fields, each as "pointer code".
func (a Response) PointerCodes() (list []string) {
	for _, field := range a.Errors() {
		list = append(list, fmt.Sprint(field["pointer"], " ", field["code"]))
	}
	return list
}

// ShopBody is a body for POST /proxy: the project shop, which requires keys.
const ShopBody = `{"target":"http://127.0.0.1:9","name":"shop","requests_auth":{"mode":"authenticate"}}`

// TargetBody returns a body for POST /proxy with nothing but a target.
func TargetBody(target string) string {
	body, err := json.Marshal(map[string]string{"target": target})
	if err != nil {
		panic(err)
	}
	return string(body)
}

// Shop is the project of ShopBody in an unclaimed workspace.
type Shop struct {
	Token                           string // workspace key
	KeyID, VersionID, EnvironmentID string
}

// CreateShop creates the project shop as an anonymous caller.
func CreateShop(t testing.TB, h http.Handler) Shop {
	t.Helper()
	created := Call(t, h, "POST", "/proxy", "", ShopBody)
	if created.Status != http.StatusCreated {
		t.Fatalf("create the shop: %d %s", created.Status, created.Raw)
	}
	shop := Shop{Token: created.Body["workspace_key"].(string)}
	shop.KeyID = created.Body["api_keys"].(map[string]any)["prod"].(map[string]any)["id"].(string)
	project := Call(t, h, "GET", "/api/v1/projects/shop", shop.Token, "")
	version := project.Body["versions"].([]any)[0].(map[string]any)
	shop.VersionID = version["id"].(string)
	shop.EnvironmentID = version["environments"].([]any)[0].(map[string]any)["id"].(string)
	return shop
}

// SignUpOwner creates the first account of an installation and returns the header of its
// session, for Call.
func SignUpOwner(t testing.TB, s *handlers.Server) []string {
	t.Helper()
	code, err := s.Accounts.FirstLink(t.Context())
	must(t, err)
	session, err := s.Accounts.UseLink(t.Context(), code, accounts.SignUp{
		Email:    "ana@example.com",
		Name:     "Ana",
		Password: Password,
	})
	must(t, err)
	return cookie(session)
}

// IsAPI reports whether a route or path belongs to the JSON API.
func IsAPI(route string) bool { return strings.HasPrefix(route, "/api/") || route == "/proxy" }

// DeviceGrant is the grant type of the device flow (RFC 8628, 3.4).
const DeviceGrant = "urn:ietf:params:oauth:grant-type:device_code"
