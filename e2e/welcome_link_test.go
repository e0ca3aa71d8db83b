package e2e

import (
	"net/http"
	"net/url"
	"path"
	"testing"

	"postern/app"
)

// A new link can be had while the server runs, as long as there is no account.
func TestWelcomeCode(t *testing.T) {
	server := start(t, "")
	code, err := app.WelcomeCode(t.Context(), server.Config)
	if err != nil {
		t.Fatal(err)
	}
	public := server.Config.PublicURL + "/welcome/"
	for name, tt := range map[string]struct {
		code string
		want int
	}{
		"the link of the start": {path.Base(server.FirstLink), http.StatusGone},
		"the new link":          {code, http.StatusOK},
	} {
		answer := send(t, http.MethodGet, public+tt.code, "", "")
		answer.Body.Close()
		if answer.StatusCode != tt.want {
			t.Errorf("%s: %d, want %d", name, answer.StatusCode, tt.want)
		}
	}
	form := url.Values{"email": {"ana@example.com"}, "name": {"Ana"}, "password": {"four unrelated words"}}
	answer := send(t, http.MethodPost, public+code, "application/x-www-form-urlencoded", form.Encode())
	answer.Body.Close()
	if code, err := app.WelcomeCode(t.Context(), server.Config); err == nil {
		t.Errorf("there is an account, and the code %q", code)
	}
}
