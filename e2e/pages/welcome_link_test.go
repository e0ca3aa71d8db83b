package pages

import (
	"net/http"
	"net/url"
	"path"
	"testing"

	"postern/app"
	"postern/e2e/harness"
)

// A new link can be had while the server runs, as long as there is no account.
func TestWelcomeCode(t *testing.T) {
	server := harness.Start(t)
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
		answer := harness.Send(t, http.MethodGet, public+tt.code, "", "")
		answer.Body.Close()
		if answer.StatusCode != tt.want {
			t.Errorf("%s: %d, want %d", name, answer.StatusCode, tt.want)
		}
	}
	form := url.Values{"email": {"ana@example.com"}, "name": {"Ana"}, "password": {"four unrelated words"}}
	answer := harness.Send(t, http.MethodPost, public+code, "application/x-www-form-urlencoded", form.Encode())
	answer.Body.Close()
	if code, err := app.WelcomeCode(t.Context(), server.Config); err == nil {
		t.Errorf("there is an account, and the code %q", code)
	}
}

// A forgotten password is replaced through a link from the command line, while the server runs.
func TestRecoveryCode(t *testing.T) {
	server := harness.Start(t)
	visitor(t).fills(t, server.FirstLink, "email", "ana@example.com", "name", "Ana", "password",
		"four unrelated words")
	code, err := app.RecoveryCode(t.Context(), server.Config, "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := app.RecoveryCode(t.Context(), server.Config, "bob@example.com"); err == nil {
		t.Error("an address without an account got a code")
	}
	link, forgetful := server.Config.PublicURL+"/recover/"+code, visitor(t)
	forgetful.fills(t, link, "password", "five words that are new")
	if status := forgetful.visit(t, server.Config.PublicURL+"/projects"); status != http.StatusOK {
		t.Errorf("after the new password: %d", status)
	}
	if status := visitor(t).visit(t, link); status != http.StatusGone {
		t.Errorf("the link again: %d", status)
	}
	visitor(t).fills(t, server.Config.PublicURL+"/signin", "email", "ana@example.com", "password",
		"five words that are new")
}
