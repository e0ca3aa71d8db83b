package login

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// trialScope is what a login that is tried out asks for: all but to stay signed in.
const trialScope = "openid profile email groups"

// trialPart stands in a provider's place where requestOf makes what belongs to the
// application, which in a trial is Postern itself.
const trialPart = "trial"

// Trial is a login that somebody tried out from the dashboard, and what the tokens
// said. The tokens themselves went nowhere: their session ended before this was made.
type Trial struct {
	Client   Client
	Subject  string
	Name     string
	Email    string
	Provider string   // label
	Scopes   string   // that were granted
	ID       []Member // of the ID token
	Access   []Member // of the access token; empty where that is the provider's own
	Types    TokenTypes
}

// Member is one claim of a token, as JSON.
type Member struct{ Name, Value string }

// trialAddress takes the place of an application's redirect URI. It is in no
// client's list, so that no authorization request leads there.
func (s *Service) trialAddress(clientID string) string { return s.Issuer(clientID) + "/tested" }

// TryOut begins a login with an app client for whoever may change it, in their
// browser. It goes the way of all logins from the choice of a provider on; PKCE's
// verifier follows from the browser's secret and never leaves the server.
func (s *Service) TryOut(
	ctx context.Context, p access.Principal, clientID, browser string,
) (attempt string, err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		client, _, team, err := findClient(tx, p, clientID, access.LoginUpdate)
		if err != nil {
			return err
		}
		if p.Account == "" {
			return fault.New(fault.Forbidden, "account_needed", "Sign in to try a login out: a key has no browser.")
		}
		now := models.Now()
		row := models.LoginAttempt{
			ID:          models.NewID("lgn"),
			ClientID:    client.ID,
			BrowserHash: hash(browser),
			RedirectURI: s.trialAddress(client.ID),
			Scope:       trialScope,
			Tester:      p.Account,
			CreatedAt:   now,
			ExpiresAt:   now.Add(attemptTTL),
		}
		request := requestOf(row.ID, trialPart, browser)
		sum := sha256.Sum256([]byte(request.Verifier))
		row.State, row.Nonce, row.CodeChallenge = request.State, request.Nonce, base64.RawURLEncoding.EncodeToString(
			sum[:],
		)
		attempt = row.ID
		if err := tx.Insert(&row); err != nil {
			return err
		}
		return access.Record(tx, p, access.Entry{
			Action: access.LoginUpdate,
			Object: client.ID,
			Team:   team,
			After:  struct{ TriedOut bool }{true},
		})
	})
	if err != nil {
		return "", fmt.Errorf("login: try out %s: %w", clientID, err)
	}
	return attempt, nil
}

// TrialInput is what the issuer sent the browser back with.
type TrialInput struct{ ClientID, Code, State, Error string }

// The codes of a trial that ended with nothing.
const (
	TrialOver    = "trial_over"
	TrialRefused = "trial_refused"
)

var errTrial = fault.New(fault.Forbidden, TrialOver, "This test login was not begun by you in this browser, took "+
	"longer than ten minutes, or was shown already. Begin another on the app client's page.")

// Tested ends a trial: it exchanges the code as an application would, ends what came
// of it, and tells what the tokens said.
func (s *Service) Tested(ctx context.Context, p access.Principal, in TrialInput, browser string) (Trial, error) {
	client, _, _, err := findClient(s.DB.Read(ctx), p, in.ClientID, access.LoginUpdate)
	if err != nil {
		return Trial{}, fmt.Errorf("login: what came of trying out %s: %w", in.ClientID, err)
	}
	id, _, _ := strings.Cut(in.State, ".")
	attempt, err := s.DB.Read(ctx).TrialByID(id, models.Now())
	if err != nil && !isAbsent(err) {
		return Trial{}, fmt.Errorf("login: find the trial %s: %w", id, err)
	}
	request := requestOf(id, trialPart, browser)
	if err != nil || attempt.ClientID != client.ID || attempt.Tester != p.Account || browser == "" ||
		subtle.ConstantTimeCompare(
			attempt.BrowserHash, hash(browser),
		) != 1 || !hmac.Equal([]byte(request.State), []byte(in.State)) {
		return Trial{}, errTrial
	}
	if in.Error != "" {
		return Trial{}, fault.New(fault.Forbidden, TrialRefused, "The application would be told %s: the test login "+
			"was cancelled.", plainCode(in.Error))
	}
	done, err := s.redeem(ctx, client, kindCode, in.Code, fitsCode(attempt.RedirectURI, request.Verifier))
	if fault.CodeOf(err) == errGrant.Code {
		return Trial{}, errTrial.Because(err)
	}
	if err != nil {
		return Trial{}, err
	}
	tokens, err := s.issue(ctx, client, done)
	ended := s.DB.Write(ctx, func(tx *models.Tx) error { return tx.EndLoginSession(done.session.ID, models.Now()) })
	if err != nil {
		return Trial{}, err
	}
	if ended != nil {
		return Trial{}, fmt.Errorf("login: end the session of a trial: %w", ended)
	}
	return s.trialOf(ctx, client, done, tokens)
}

func (s *Service) trialOf(ctx context.Context, client models.AppClient, done redeemed, tokens Tokens) (Trial, error) {
	row, err := s.DB.Read(ctx).ProviderByID(done.session.ProviderID)
	if err != nil {
		return Trial{}, fmt.Errorf("login: the provider of a trial: %w", err)
	}
	out := Trial{
		Client:   viewClient(client),
		Subject:  done.user.ID,
		Name:     done.user.Name,
		Email:    done.user.Email,
		Provider: labelOf(row),
		Scopes:   done.session.Scope,
		Types:    TokenTypes{Client: row.TokenClient, Upstream: row.TokenUpstream},
	}
	if out.ID, err = members(tokens.ID); err != nil {
		return Trial{}, err
	}
	if done.handed == nil || done.handed.Client != ProviderToken {
		out.Access, err = members(tokens.Access)
	}
	return out, err
}

// members lists what a token of ours says. What is
// sealed in it is left out, and so is its signature: nothing here can be presented.
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
			value = "sealed, for the gateway alone"
		}
		list = append(list, Member{Name: name, Value: value})
	}
	return list, nil
}

// memberOrder puts first what people look for, and the rest by name.
func memberOrder(claims map[string]json.RawMessage) []string {
	first := []string{"iss", "sub", "aud", "name", "email", "email_verified", "groups", "tenant", "scope"}
	names := slices.Sorted(maps.Keys(claims))
	return slices.DeleteFunc(
		append(first, slices.DeleteFunc(names, func(name string) bool { return slices.Contains(first, name) })...),
		func(name string) bool { _, there := claims[name]; return !there },
	)
}
