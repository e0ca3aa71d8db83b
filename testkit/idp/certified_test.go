package idp_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/testkit/idp"
)

func TestCertified_signInAndTokens(t *testing.T) {
	p := idp.StartCertified(t)
	const callback = "http://127.0.0.1/callback"
	client := p.Register(t, callback)
	query := url.Values{
		"client_id":     {client.ID},
		"redirect_uri":  {callback},
		"response_type": {"code"},
		"scope":         {"openid email"},
		"state":         {"s"},
	}
	back := p.SignIn(t, p.Issuer+"/auth?"+query.Encode(), "ana")
	if !strings.HasPrefix(back.String(), callback) || back.Query().Get("state") != "s" {
		t.Fatalf("led to %s", back)
	}
	form := url.Values{
		"grant_type":   {"authorization_code"},
		"code":         {back.Query().Get("code")},
		"redirect_uri": {callback},
	}
	ask, err := http.NewRequestWithContext(
		t.Context(), http.MethodPost, p.Issuer+"/token", strings.NewReader(form.Encode()),
	)
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	ask.SetBasicAuth(url.QueryEscape(client.ID), url.QueryEscape(client.Secret))
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var tokens struct {
		AccessToken string `json:"access_token"`
		IDToken     string `json:"id_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&tokens); err != nil || tokens.AccessToken == "" ||
		tokens.IDToken == "" {
		t.Errorf("got %d %+v, %v", answer.StatusCode, tokens, err)
	}
}
