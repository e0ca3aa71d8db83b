package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// placesOf returns requests_auth.api_key of the only version in a project or a version, "" for none.
func placesOf(t *testing.T, body map[string]any) string {
	t.Helper()
	if versions, ok := body["versions"].([]any); ok {
		body, _ = versions[0].(map[string]any)
	}
	auth, _ := body["requests_auth"].(map[string]any)
	if auth["api_key"] == nil {
		return ""
	}
	text, err := json.Marshal(auth["api_key"])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestKeyPlaces_setAndReset(t *testing.T) {
	t.Parallel()
	h := controlplane.NewServer(t, state.OpenSQLite(t)).Handler()
	made := controlplane.Call(t, h, "POST", "/proxy", "", `{"target":"http://127.0.0.1:9","requests_auth":
		{"mode":"authenticate","api_key":{"in":[{"header":"apikey"},{"query":"key"}]}}}`)
	if got := codesOf(t, made); got != "key_in_query" {
		t.Errorf("warnings %q", got)
	}
	key, _ := made.Body["workspace_key"].(string)
	project, _ := made.Body["project"].(map[string]any)
	path := "/api/v1/projects/" + project["id"].(string)
	found := controlplane.Call(t, h, "GET", path, key, "")
	if got := placesOf(t, found.Body); got != `{"in":[{"header":"apikey"},{"query":"key"}]}` {
		t.Errorf("created with %s", got)
	}
	for _, tc := range []struct{ body, want string }{
		{`{"requests_auth":{"keyless":"reject"}}`, `{"in":[{"header":"apikey"},{"query":"key"}]}`},
		{
			`{"requests_auth":{"api_key":{"in":` +
				`[{"header":"Authorization","prefix":"Bearer","prefix_optional":true}]}}}`,
			`{"in":[{"header":"Authorization","prefix":"Bearer","prefix_optional":true}]}`,
		},
		{
			`{"requests_auth":{"api_key":{"send_metadata":true}}}`,
			`{"in":[{"header":"Authorization","prefix":"Bearer","prefix_optional":true}],"send_metadata":true}`,
		},
		{`{"requests_auth":{"api_key":{"in":[{"header":"x-api-key"}]}}}`, `{"send_metadata":true}`},
		{`{"requests_auth":{"api_key":{"send_metadata":false}}}`, ""},
	} {
		changed := controlplane.Call(t, h, "PATCH", path+"/versions/1.0.0", key, tc.body)
		if got := placesOf(t, changed.Body); changed.Status != 200 || got != tc.want {
			t.Errorf("%s: %d %s, want %s", tc.body, changed.Status, got, tc.want)
		}
	}
	for in, pointer := range map[string]string{
		`"api_key":{"in":[]}`:                           "",
		`"api_key":{"in":[{"header":"Host"}]}`:          "/0/header",
		`"api_key":{"in":[{"header":"a","query":"b"}]}`: "/0",
		`"api_key":{"in":[{"body":"key"}]}`:             "/0/body",

		`"methods":[],"mode":"passthrough","api_key":{"in":[{"query":"b"}]}`: "",
	} {
		body, pointer := `{"requests_auth":{`+in+`}}`, "/requests_auth/api_key/in"+pointer
		refused := controlplane.Call(t, h, "PATCH", path+"/versions/1.0.0", key, body)
		if refused.Status != 422 || !strings.Contains(refused.Raw, `"pointer":"`+pointer+`"`) {
			t.Errorf("%s: %d %s, want an error at %s", body, refused.Status, refused.Raw, pointer)
		}
	}
}
