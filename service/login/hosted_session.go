package login

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"postern/models"
	"postern/platform/secrets"
	"postern/service/directory"
)

// A user's session at the hosted pages of an app client is the login session of their
// sign-in, for as long as the browser's cookie lives: at most HostedTTL after the sign-in,
// and hostedIdle after the cookie's last use.
const (
	HostedTTL  = 7 * 24 * time.Hour
	hostedMax  = HostedTTL
	hostedIdle = 24 * time.Hour

	maxUserAgent = 200 // bytes
)

// hostedCookie gives a new session a cookie and returns it, "" for a test login, whose
// session ends with the page that shows it.
func hostedCookie(attempt models.LoginAttempt, session *models.LoginSession) secrets.Secret {
	if attempt.Tester != "" {
		return ""
	}
	cookie := newSecret()
	session.CookieHash, session.SeenAt = hash(cookie), &session.CreatedAt
	return secrets.Secret(cookie)
}

// hosted is a live session at the hosted pages.
type hosted struct {
	models.LoginSession
	user     models.EndUser
	provider models.Provider
}

// ownSession returns the session of a cookie at a client's pages, and false if it is none, has ended or expired. It is
// found for as long as the cookie lives, also where hostedBy would have the user sign in again.
func ownSession(tx *models.Tx, clientID, cookie string, now time.Time) (models.LoginSession, bool, error) {
	if cookie == "" {
		return models.LoginSession{}, false, nil
	}
	session, err := tx.LoginSessionByCookie(hash(cookie))
	live := err == nil && session.ClientID == clientID && session.EndedAt == nil && session.ExpiresAt.After(now)
	return session, live, unlessAbsent(err)
}

// hostedBy returns the session of a cookie at a client's pages, and false if it is none,
// has ended or expired, or its user or provider may not sign in now.
func hostedBy(tx *models.Tx, clientID, cookie string, now time.Time) (hosted, bool, error) {
	session, live, err := ownSession(tx, clientID, cookie, now)
	if err != nil || !live {
		return hosted{}, false, err
	}
	out := hosted{LoginSession: session}
	if now.Sub(session.CreatedAt) > hostedMax || session.SeenAt == nil || now.Sub(*session.SeenAt) > hostedIdle {
		return hosted{}, false, nil
	}
	if out.provider, err = tx.ProviderByID(session.ProviderID); err != nil {
		return hosted{}, false, unlessAbsent(err)
	}
	if out.user, err = tx.EndUserByID(session.UserID); err != nil {
		return hosted{}, false, unlessAbsent(err)
	}
	return out, out.provider.Enabled && out.user.State == directory.Active, nil
}

// hintedUser returns the user that an ID token of the issuer names, "" for no token. The errors are those of hinted.
func (s *Service) hintedUser(ctx context.Context, client models.AppClient, hint string) (string, error) {
	if hint == "" {
		return "", nil
	}
	claims, err := s.hinted(ctx, client, hint)
	return claims.Subject, err
}

// hinted returns the claims of an ID token of the issuer, which may have expired. The error wraps errToken if it is
// none of the issuer's.
func (s *Service) hinted(ctx context.Context, client models.AppClient, hint string) (idClaims, error) {
	var claims idClaims
	if err := s.verify(ctx, client.ID, idType, hint, &claims); err != nil {
		return idClaims{}, err
	}
	if claims.Issuer != s.Issuer(client.ID) || !slices.Contains(claims.Audience, client.ID) || claims.Subject == "" {
		return idClaims{}, errToken
	}
	return claims, nil
}

// silent answers an authorization request with prompt=none: with a code if the user has a
// session here and agreed to what is asked, otherwise with the error that says what is
// missing (OpenID Connect Core 1.0, 3.1.2.6). It never shows a page, except for an
// unclaimed application.
func (s *Service) silent(
	ctx context.Context, client models.AppClient, look Look, in AuthorizationRequest, hint string,
) (Attempt, error) {
	var refused, text, code string
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		session, live, err := hostedBy(tx, client.ID, in.Cookie, now)
		if err != nil {
			return err
		}
		isOther := hint != "" && hint != session.user.ID
		if !live || isOther || demandOf(in.attempt("", now)).unmet(statedIn(session.LoginSession), now) != "" ||
			(TokenTypes{session.provider.TokenClient, session.provider.TokenUpstream}).needsProviders() {
			refused, text = "login_required", "the user has to sign in"
			return nil
		}
		agreed, err := consentOf(tx, session.user.ID, client.ID)
		if err != nil {
			return err
		}
		if !covers(agreed, in.Scope) {
			refused, text = "consent_required", "the user has not agreed to all of the scopes"
			return nil
		}
		if look.Unclaimed {
			refused, text = "interaction_required", "an unclaimed application needs a click of the user for each "+
				"sign-in"
			return nil
		}
		code = newSecret()
		grant := models.LoginGrant{
			Hash:          hash(code),
			Kind:          kindCode,
			SessionID:     session.ID,
			RedirectURI:   in.RedirectURI,
			CodeChallenge: in.Challenge,
			Scope:         in.Scope,
			Resources:     in.Resources,
			Nonce:         in.Nonce,
			CreatedAt:     now,
			ExpiresAt:     now.Add(codeTTL),
		}
		if err := tx.Insert(&grant); err != nil {
			return err
		}
		return tx.TouchLoginSession(session.ID, now)
	})
	if err != nil {
		return Attempt{}, fmt.Errorf("login: sign in at %s by a session: %w", client.ID, err)
	}
	if refused != "" {
		return s.sentBack(look, in, refused, text), nil
	}
	return Attempt{Back: s.backTo(in.attempt("", models.Now()), url.Values{"code": {code}})}, nil
}

// otherUser finishes an attempt whose request named another user than the one who signed
// in (OpenID Connect Core 1.0, 3.1.2.1), and returns the redirect to the client.
func (s *Service) otherUser(tx *models.Tx, attempt models.LoginAttempt) (Back, error) {
	won, err := tx.FinishLoginAttempt(attempt.ID, models.Now())
	if err != nil {
		return Back{}, err
	}
	if !won {
		return Back{}, errAnswered
	}
	return s.backTo(attempt, url.Values{
		"error":             {"login_required"},
		"error_description": {"another user signed in than the one that id_token_hint names"},
	}), nil
}

// shortened returns the name that a browser gives itself, fit to be stored and shown.
func shortened(agent string) string {
	agent = strings.ToValidUTF8(agent, "")
	for len(agent) > maxUserAgent {
		_, size := utf8.DecodeLastRuneInString(agent)
		agent = agent[:len(agent)-size]
	}
	return strings.Map(func(r rune) rune {
		if unprintable(r) {
			return -1
		}
		return r
	}, agent)
}
