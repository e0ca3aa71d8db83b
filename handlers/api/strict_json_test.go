package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// repeated is n pieces, %d in each replaced by its number, with commas between.
func repeated(n int, piece string) string {
	pieces := make([]string, n)
	for i := range pieces {
		pieces[i] = strings.ReplaceAll(piece, "%d", fmt.Sprint(i))
	}
	return strings.Join(pieces, ",")
}

func TestAPI_severalErrors(t *testing.T) {
	t.Parallel()
	const mostBytes = 16 << 10 // of an answer
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	environments := `{"target":"http://127.0.0.1:9","environments":{"` + strings.Repeat(
		"a", 250,
	) + `":{` + repeated(
		20_000,
		`"x%d":0`,
	) + `}}}`
	for _, tc := range []struct {
		name, body, code string
		listed           int
	}{
		{"twenty unknown fields", `{` + repeated(20, `"x%d":0`) + `}`, "invalid_fields", 20},
		{"21 unknown fields", `{` + repeated(21, `"x%d":0`) + `}`, "invalid_fields", 20},
		{"20,000 unknown fields", `{` + repeated(20_000, `"x%d":0`) + `}`, "invalid_fields", 20},
		{"20,000 below a long name", environments, "invalid_fields", 20},
		{"90,000 unknown fields", `{` + repeated(90_000, `"x%d":0`) + `}`, "too_many_values", 0},
		{
			"500,000 elements", `{"requests_auth":{"methods":[` + repeated(500_000, `0`) + `]}}`,
			"too_many_values", 0,
		},
		{
			"methods that do not exist",
			`{"target":"http://127.0.0.1:9","requests_auth":{"mode":"authenticate","methods":[` +
				repeated(10_000, `"m%d"`) + `]}}`,
			"invalid_fields", 20,
		},
		{
			"commas in a text",
			`{"target":"http://127.0.0.1:9","display_name":"` + strings.Repeat(`,[{\"`, 40_000) + `"}`,
			"invalid_display_name", 1,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := controlplane.Call(t, h, "POST", "/proxy", "", tc.body)
			if got.Status != http.StatusUnprocessableEntity || got.Body["code"] != tc.code {
				t.Fatalf("%d %.300s, want 422 %s", got.Status, got.Raw, tc.code)
			}
			if n := len(got.PointerCodes()); n != tc.listed || len(got.Raw) > mostBytes {
				t.Errorf("%d errors in %d bytes, want %d in at most %d", n, len(got.Raw), tc.listed, mostBytes)
			}
		})
	}
	t.Run("number of 900,000 digits", func(t *testing.T) {
		got := controlplane.Call(t, h, "POST", "/proxy", "", `{"target":`+strings.Repeat("9", 900_000)+`}`)
		if got.Status != http.StatusBadRequest || got.Body["code"] != "malformed" || len(got.Raw) > 1000 {
			t.Errorf("%d in %d bytes: %.300s, want 400 malformed", got.Status, len(got.Raw), got.Raw)
		}
	})
	t.Run("name of 1,000 bytes", func(t *testing.T) {
		got := controlplane.Call(
			t,
			h,
			"POST",
			"/proxy",
			"",
			`{"environments":{"`+strings.Repeat("a", 1000)+`":{}}}`,
		)
		if got.Status != http.StatusBadRequest || got.Body["code"] != "malformed" || len(got.Raw) > 1000 {
			t.Errorf("%d %.300s, want 400 malformed", got.Status, got.Raw)
		}
	})
}

func TestAPI_nulCharacters(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	h := s.Handler()
	header := controlplane.SignUpOwner(t, s)
	for _, tc := range []struct{ name, path, body, pointer string }{
		{"member", "/proxy", `{"target":"http://127.0.0.1:9","tenant":"a\u0000"}`, "/tenant"},
		{
			"element", "/proxy",
			`{"target":"http://127.0.0.1:9",` +
				`"requests_auth":{"key_types":[{"name":"gold","scopes":["a","b\u0000"]}]}}`,
			"/requests_auth/key_types/0/scopes/1",
		},
		{
			"client id of a provider", "/proxy",
			createWithLogin(`{"providers":[{"type":"google","client_id":"x\u0000"}]}`),
			"/login/providers/0/client_id",
		},
		{
			"member's name", "/proxy",
			`{"target":"http://127.0.0.1:9","environments":{"a\u0000":{"target":"http://127.0.0.1:9"}}}`,
			"/environments",
		},
		{
			"webhook's description", "/api/v1/webhooks",
			`{"url":"http://127.0.0.1:9","events":["key.created"],"description":"\u0000"}`, "/description",
		},
		{"token's name", "/api/v1/tokens", `{"name":"\u0000"}`, "/name"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := controlplane.Call(t, h, "POST", tc.path, "", tc.body, header...)
			if got.Status != http.StatusUnprocessableEntity ||
				strings.Join(got.PointerCodes(), ",") != tc.pointer+" invalid_text" {
				t.Errorf("%d %s, want 422 %s invalid_text", got.Status, got.Raw, tc.pointer)
			}
		})
	}
}
