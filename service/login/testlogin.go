package login

import (
	"context"
	"crypto/hmac"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/appclients"
)

// testLoginScope are the scopes of a test login: all but offline_access.
const testLoginScope = "openid profile email groups"

// testLoginPart takes the provider's place in requestOf for the parameters of the
// application, which in a test login is Postern itself.
const testLoginPart = "trial"

// TestLogin is a finished test login from the dashboard, with the claims of its tokens. The
// tokens themselves are not returned, and their session has ended.
type TestLogin struct {
	Client   contract.AppClient
	Subject  string
	Name     string
	Email    string
	Provider string   // label
	Scopes   string   // that were granted
	ID       []Member // of the ID token
	Access   []Member // of the access token; empty where that is the provider's own
	Types    contract.TokenType
	Stated   Stated
}

// Member is one claim of a token, as JSON.
type Member struct{ Name, Value string }

// testLoginURI is the redirect URI of test logins. It is not registered for any client, so
// that no authorization request can use it.
func (s *Service) testLoginURI(clientID string) string { return s.Issuer(clientID) + "/tested" }

// StartTestLogin begins a test login for an account that may change the app client, and returns
// the attempt's id. From the choice of a provider on it is like any login. The PKCE
// verifier is derived from the browser's secret and never leaves the server. A caller without an
// account is Forbidden account_needed.
func (s *Service) StartTestLogin(
	ctx context.Context, p access.Principal, clientID, browser string,
) (attempt string, err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		client, _, team, err := appclients.Find(tx, p, clientID, access.LoginUpdate)
		if err != nil {
			return err
		}
		if p.Account == "" {
			return fault.New(
				fault.Forbidden, "account_needed",
				"Sign in with an account to test a login. You can't test one with a workspace key.",
			)
		}
		now := models.Now()
		row := models.LoginAttempt{
			ID:          models.NewID("lgn"),
			ClientID:    client.ID,
			BrowserHash: secrets.Digest(browser),
			RedirectURI: s.testLoginURI(client.ID),
			Scope:       testLoginScope,
			Tester:      p.Account,
			CreatedAt:   now,
			ExpiresAt:   now.Add(attemptTTL),
		}
		request := requestOf(row.ID, testLoginPart, browser)
		row.State, row.Nonce = request.State, request.Nonce
		row.CodeChallenge = challengeOf(request.Verifier)
		attempt = row.ID
		if err := tx.Insert(&row); err != nil {
			return err
		}
		return access.Record(tx, p, access.Entry{
			Action: access.LoginUpdate,
			Object: client.ID,
			Name:   client.Name,
			Team:   team,
			After:  struct{ TriedOut bool }{true},
		})
	})
	if err != nil {
		return "", fmt.Errorf("login: start a test login of %s: %w", clientID, err)
	}
	return attempt, nil
}

// TestLoginResponse is the authorization response of a test login.
type TestLoginResponse struct{ ClientID, Code, State, Error string }

// The error codes of FinishTestLogin.
const (
	CodeTestLoginOver    = "trial_over"
	CodeTestLoginRefused = "trial_refused"
)

var errTestLogin = fault.New(
	fault.Forbidden, CodeTestLoginOver,
	"You didn't start this test login in this browser, it took longer than ten minutes, or its result was already "+
		"shown. Start another test login on the app client's page.",
)

// FinishTestLogin ends a test login: it exchanges the code as an application would, ends the
// session, and returns the claims of the tokens and those that the provider stated. Forbidden
// trial_over or trial_refused.
func (s *Service) FinishTestLogin(
	ctx context.Context, p access.Principal, in TestLoginResponse, browser string,
) (TestLogin, error) {
	client, _, _, err := appclients.Find(s.DB.Read(ctx), p, in.ClientID, access.LoginUpdate)
	if err != nil {
		return TestLogin{}, fmt.Errorf("login: finish the test login of %s: %w", in.ClientID, err)
	}
	id, _, _ := strings.Cut(in.State, ".")
	attempt, err := s.DB.Read(ctx).LoginAttemptByID(id, models.Now())
	if err != nil && !isAbsent(err) {
		return TestLogin{}, fmt.Errorf("login: find the test login %s: %w", id, err)
	}
	request := requestOf(id, testLoginPart, browser)
	isSameBrowser := browser != "" && subtle.ConstantTimeCompare(attempt.BrowserHash, secrets.Digest(browser)) == 1 &&
		hmac.Equal([]byte(request.State), []byte(in.State))
	if err != nil || attempt.ClientID != client.ID || attempt.Tester == "" ||
		attempt.Tester != p.Account || !isSameBrowser {
		return TestLogin{}, errTestLogin
	}
	if in.Error != "" {
		return TestLogin{}, fault.New(
			fault.Forbidden, CodeTestLoginRefused,
			"The test login was canceled, so the application would get this error: %s.", plainCode(in.Error),
		)
	}
	done, err := s.redeem(ctx, client, kindCode, in.Code, fitsCode(client, attempt.RedirectURI, request.Verifier))
	if fault.CodeOf(err) == errGrant.Code {
		return TestLogin{}, errTestLogin.Because(err)
	}
	if err != nil {
		return TestLogin{}, err
	}
	tokens, err := s.issue(ctx, client, done)
	var stated Stated
	ended := s.DB.Write(ctx, func(tx *models.Tx) error {
		var err error
		if stated, err = s.takeStated(tx, attempt); err != nil {
			return err
		}
		return tx.EndLoginSession(done.session.ID, models.Now())
	})
	if err != nil {
		return TestLogin{}, err
	}
	if ended != nil {
		return TestLogin{}, fmt.Errorf("login: end the session of a test login: %w", ended)
	}
	out, err := s.viewTestLogin(ctx, client, done, tokens)
	out.Stated = stated
	return out, err
}

func (s *Service) viewTestLogin(
	ctx context.Context, client models.AppClient, done redeemed, tokens Tokens,
) (TestLogin, error) {
	row, err := s.DB.Read(ctx).ProviderByID(done.session.ProviderID)
	if err != nil {
		return TestLogin{}, fmt.Errorf("login: the provider of a test login: %w", err)
	}
	out := TestLogin{
		Client:   s.Clients.Shown(client),
		Subject:  done.user.ID,
		Name:     done.user.Name,
		Email:    done.user.Email,
		Provider: appclients.Label(row),
		Scopes:   done.session.Scope,
		Types:    appclients.TokenTypeOf(row),
	}
	if out.ID, err = members(tokens.ID); err != nil {
		return TestLogin{}, err
	}
	if done.handed == nil || done.handed.Client != contract.ProviderToken {
		out.Access, err = members(tokens.Access)
	}
	return out, err
}

// members returns the claims of a token that this issuer signed, without its sealed part
// and its signature: the result cannot be presented as a token.
func members(token string) ([]Member, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, fmt.Errorf("login: a token of our own has %d parts", len(parts))
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, fmt.Errorf("login: read a token of our own: %w", err)
	}
	claims := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &claims); err != nil {
		return nil, fmt.Errorf("login: read a token of our own: %w", err)
	}
	var list []Member
	for _, name := range memberOrder(claims) {
		value := string(claims[name])
		if name == "upstream_token" {
			value = "encrypted so that only the gateway can read it"
		}
		list = append(list, Member{Name: name, Value: value})
	}
	return list, nil
}

// memberOrder returns the names of the claims: the usual ones first, the rest by name.
func memberOrder(claims map[string]json.RawMessage) []string {
	first := []string{"iss", "sub", "aud", "name", "email", "email_verified", "groups", "tenant", "scope"}
	names := slices.Sorted(maps.Keys(claims))
	return slices.DeleteFunc(
		append(first, slices.DeleteFunc(names, func(name string) bool { return slices.Contains(first, name) })...),
		func(name string) bool { _, there := claims[name]; return !there },
	)
}
