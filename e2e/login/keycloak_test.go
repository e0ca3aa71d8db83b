package login

import (
	"net/http"
	"testing"
	"time"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
	"postern/testkit/servers"
)

// shop is a realm with one person, a role and a group, as an operator would write it by hand.
const shop = `{"realm": "shop", "enabled": true, "sslRequired": "none",
  "roles": {"realm": [{"name": "manager"}]},
  "groups": [{"name": "staff", "subGroups": [{"name": "north"}]}],
  "users": [
  {"username": "ana", "enabled": true, "email": "Ana@example.com", "emailVerified": true,
   "firstName": "Ana", "lastName": "Gomez",
   "credentials": [{"type": "password", "value": "correct horse", "temporary": false}]}]}`

// TestKeycloak runs all tests of one Keycloak: it takes long to start.
func TestKeycloak(t *testing.T) {
	t.Parallel()
	issuer := servers.StartKeycloak(t, map[string]string{"shop": shop})
	t.Run("sign-in", func(t *testing.T) { peopleSignInThroughKeycloak(t, issuer) })
	t.Run("groups", func(t *testing.T) { rolesAndGroupsOfKeycloakAreMapped(t, issuer) })
	t.Run("export", func(t *testing.T) { peopleSignInAtTheExportedRealm(t, issuer) })
}

// peopleSignInThroughKeycloak creates a project with a login by one POST /proxy, and
// gives Keycloak the callback that was answered. Its people then sign in there with
// a password, in a real browser, and are the same when they come back.
func peopleSignInThroughKeycloak(t *testing.T, issuer *servers.Keycloak) {
	upstream, app := testkit.NewUpstream(t), newApplication(t)
	server := harness.Start(t)
	name, secret := "postern-"+t.Name(), "the secret of postern at Keycloak"
	made, err := client.Do(t.Context(), harness.Connect(t, server.Config.PublicURL, ""), contract.CreateProxy,
		contract.NewProxy{
			Target: upstream.URL,
			Name:   "shop",
			Login: &contract.NewLogin{
				RedirectURIs: []string{app.callback},
				Providers: []contract.NewProvider{
					{
						Type:   "oidc",
						Issuer: issuer.Issuer("shop"),
						ProviderSettings: contract.ProviderSettings{
							ClientID: &name, ClientSecret: new(contract.Secret(secret)),
						},
					}},
			},
		}.Request())
	if err != nil {
		t.Fatal(err)
	}
	issuer.Register(t, "shop", name, secret, made.Login.Callbacks["oidc"])

	p := harness.NewPerson(t)
	p.IgnoresErrorsAt(issuer.URL)
	p.Open(app.authorize(*made.Login))
	p.Sees("Sign in to your account") // Keycloak's own page
	p.Types("username", "ana")
	p.Types("password", "correct horse")
	p.Presses("Sign In")
	p.Presses("Agree and continue") // it is the first time
	p.Sees("Back at the application")
	first := app.exchange(t, *made.Login)
	if first.Subject == "" || first.Email != "ana@example.com" || first.Nonce != app.nonce {
		t.Errorf("the ID token says %+v", first.idClaims)
	}
	if told := userInfo(t, *made.Login, first.access); told.Subject != first.Subject || told.Name != "Ana Gomez" ||
		told.Email != "ana@example.com" ||
		!told.EmailVerified {
		t.Errorf("userinfo says %+v", told)
	}

	p.Open(app.authorize(*made.Login))
	// Neither Keycloak nor the hosted login has anything to ask.
	p.Sees("Back at the application")
	if again := app.exchange(t, *made.Login); again.Subject != first.Subject {
		t.Errorf("the same person is %s and then %s", first.Subject, again.Subject)
	}

	// A step-up: Keycloak asks for the password again, and states when that was.
	before := time.Now().Add(-time.Second)
	p.Open(app.authorize(*made.Login) + "&prompt=login&login_hint=ana")
	p.Sees("Sign in to your account")
	p.Types("password", "correct horse")
	p.Presses("Sign In")
	p.Sees("Back at the application")
	if again := app.exchange(t, *made.Login); again.AuthTime == nil || again.AuthTime.Time().Before(before) {
		t.Errorf("after a step-up, auth_time is %v, want one after %v", again.AuthTime, before)
	}
}

// told is a userinfo response (OpenID Connect Core 1.0, 5.3.2).
type told struct {
	Subject       string `json:"sub"`
	Name          string `json:"name"`
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
}

func userInfo(t *testing.T, login contract.ProxyLogin, access string) (out told) {
	t.Helper()
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, login.Issuer+"/userinfo", nil)
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Authorization", "Bearer "+access)
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	readJSON(t, answer, &out)
	return out
}
