package providers

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/platform/federation"
	"postern/service/login/tokencheck"
)

// facebook is Facebook Login, by hand
// (developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow). Its ids
// are of one app only, and a person may have no address or refuse to tell it.
type facebook struct{ noIDTokens }

const facebookVersion = "/v23.0"

func (facebook) traits() Traits {
	return Traits{
		Label:       contract.ProviderTypeLabel(Facebook),
		Scopes:      []string{"public_profile", "email"},
		NeedsSecret: true,
	}
}

func (facebook) site(s *Set) string { return cmp.Or(s.FacebookURL, "https://www.facebook.com") }

func (facebook) graph(s *Set) string {
	return cmp.Or(s.FacebookGraph, "https://graph.facebook.com") + facebookVersion
}

func (f facebook) endpoint(_ context.Context, s *Set, _ Config) (oauth2.Endpoint, error) {
	return oauth2.Endpoint{
		AuthURL:   f.site(s) + facebookVersion + "/dialog/oauth",
		TokenURL:  f.graph(s) + "/oauth/access_token",
		AuthStyle: oauth2.AuthStyleInParams,
	}, nil
}

// parameters: auth_type=reauthenticate asks for the password again
// (developers.facebook.com/docs/facebook-login/guides/advanced/re-authentication). There
// are none for the account, a hint or a language
// (developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow).
func (facebook) parameters(r Request) []oauth2.AuthCodeOption {
	if !r.Prompt.Login {
		return nil
	}
	return parameters("auth_type", "reauthenticate")
}

func (f facebook) identify(ctx context.Context, s *Set, c Config, e exchange) (federation.Identity, error) {
	if e.iss != "" && e.iss != f.site(s) {
		return federation.Identity{}, refusedAnswer(c, "it names a different issuer")
	}
	// The operator of another app holds tokens of its users, and could sign in here as
	// any of them, so Facebook is asked which app the token was issued to.
	var inspected struct {
		Data struct {
			AppID   string `json:"app_id"`
			UserID  string `json:"user_id"`
			IsValid bool   `json:"is_valid"`
		} `json:"data"`
	}
	app := c.ClientID + "|" + c.ClientSecret.Reveal()
	inspection := f.graph(s) + "/debug_token?" + url.Values{"input_token": {e.token.AccessToken}}.Encode()
	if err := federation.GetJSON(ctx, s.client(), inspection, app, &inspected); err != nil {
		return federation.Identity{}, faultOf(c, err)
	}
	if !inspected.Data.IsValid || inspected.Data.AppID != c.ClientID {
		return federation.Identity{}, refusedAnswer(c, "its token was issued to another app")
	}
	var me struct {
		ID    string `json:"id"`
		Name  any    `json:"name"`
		Email string `json:"email"`
	}
	proof := hmac.New(sha256.New, []byte(c.ClientSecret.Reveal()))
	proof.Write([]byte(e.token.AccessToken))
	query := url.Values{"fields": {"id,name,email"}, "appsecret_proof": {hex.EncodeToString(proof.Sum(nil))}}
	profile := f.graph(s) + "/me?" + query.Encode()
	if err := federation.GetJSON(ctx, s.client(), profile, e.token.AccessToken, &me); err != nil {
		return federation.Identity{}, faultOf(c, err)
	}
	if me.ID == "" || me.ID != inspected.Data.UserID {
		return federation.Identity{}, refusedAnswer(c, "its token belongs to another user")
	}
	name, _ := me.Name.(string)
	// Ids are unique within an app only.
	return federation.Identity{
		Issuer:  f.site(s) + "/" + c.ClientID,
		Subject: me.ID,
		Email:   me.Email,
		Name:    name,
	}, nil
}

// prefixes: tokens of apps for people begin so (developers.facebook.com/docs/
// facebook-login/guides/access-tokens shows them).
func (facebook) prefixes() []string { return snapshot.OpaquePrefixes(Facebook) }

// access asks debug_token (developers.facebook.com/docs/facebook-login/guides/
// access-tokens/debugging). Its own way wants the token in the address; errors here
// hold none.
func (f facebook) ownerOfAccess(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error) {
	inspection := f.graph(s) + "/debug_token?" + url.Values{"input_token": {token}}.Encode()
	ask, err := tokencheck.Get(ctx, inspection, c.ClientID+"|"+c.ClientSecret.Reveal())
	if err != nil {
		return federation.Identity{}, err
	}
	answer, err := tokencheck.Send(s.client(), ask)
	if err != nil {
		return federation.Identity{}, err
	}
	var found struct {
		Data struct {
			AppID   string `json:"app_id"`
			Type    string `json:"type"`
			UserID  string `json:"user_id"`
			IsValid bool   `json:"is_valid"`
			Expires int64  `json:"expires_at"` // Unix seconds; 0 for never
		} `json:"data"`
		Error struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if err := answer.ReadAny(&found); err != nil {
		return federation.Identity{}, err
	}
	switch found.Error.Code { // developers.facebook.com/docs/graph-api/guides/error-handling
	case 0:
	case 1, 2, 4, 17, 341, 613:
		return federation.Identity{}, fmt.Errorf(
			"its rate limit is exceeded or it is down, code %d: %w", found.Error.Code, tokencheck.ErrUnavailable,
		)
	case 100:
		return federation.Identity{}, fmt.Errorf("it can't inspect this token: %w", tokencheck.ErrRefused)
	default: // 190 is about the app's own token
		return federation.Identity{}, answer.Unexpected()
	}
	data := found.Data
	switch {
	case answer.Status != http.StatusOK:
		return federation.Identity{}, answer.Unexpected()
	case !data.IsValid, data.AppID != c.ClientID, data.Type != "" && data.Type != "USER":
		return federation.Identity{}, fmt.Errorf("the token isn't valid or belongs to another app: "+
			"%w", tokencheck.ErrRefused)
	case data.Expires > 0 && data.Expires <= time.Now().Unix():
		return federation.Identity{}, fmt.Errorf("the token has expired: %w", tokencheck.ErrRefused)
	}
	return federation.Identity{Issuer: f.site(s) + "/" + c.ClientID, Subject: data.UserID}, nil
}
