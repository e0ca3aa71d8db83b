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
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/appclients"
	"postern/service/directory"
	"postern/service/login/providers"
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
	cookie := secrets.Random()
	session.CookieHash, session.SeenAt = secrets.Digest(cookie), &session.CreatedAt
	return secrets.Secret(cookie)
}

// hosted is a live session at the hosted pages.
type hosted struct {
	models.LoginSession
	user     models.EndUser
	provider models.Provider
}

// ownSession returns the session of a cookie at a client's pages, and false if there is none, or it has ended or
// expired. It is found for as long as the cookie lives, also where hostedBy would have the user sign in again.
func ownSession(tx *models.Tx, clientID, cookie string, now time.Time) (models.LoginSession, bool, error) {
	if cookie == "" {
		return models.LoginSession{}, false, nil
	}
	session, err := tx.LoginSessionByCookie(secrets.Digest(cookie))
	live := err == nil && session.ClientID == clientID && session.EndedAt == nil && session.ExpiresAt.After(now)
	return session, live, unlessAbsent(err)
}

// hostedBy returns the session of a cookie at a client's pages, and false if there is none, it has ended or expired, or
// its user or provider may not sign in now.
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

// hinted returns the claims of an ID token of the issuer, which may have expired. The error wraps errToken if it isn't
// one of the issuer's.
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
	attempt := in.attempt("", models.Now())
	attempt.HintUser = hint
	code, refused, err := s.bySession(ctx, client, look, attempt, in.Cookie)
	if err != nil {
		return Attempt{}, fmt.Errorf("login: sign in at %s by a session: %w", client.ID, err)
	}
	if refused.code != "" {
		return s.sentBack(look, in, refused.code, refused.text), nil
	}
	return Attempt{Back: s.backTo(attempt, url.Values{"code": {code}})}, nil
}

// refusal is an error of an authorization response (RFC 6749, 4.1.2.1), for developers.
type refusal struct{ code, text string }

// bySession issues a code for the session of a cookie, as the attempt's request asks.
func (s *Service) bySession(
	ctx context.Context, client models.AppClient, look Look, attempt models.LoginAttempt, cookie string,
) (code string, refused refusal, err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		session, live, err := hostedBy(tx, client.ID, cookie, now)
		if err != nil {
			return err
		}
		isOther := attempt.HintUser != "" && attempt.HintUser != session.user.ID
		isOlder := attempt.FinishedAt != nil && session.CreatedAt.Before(attempt.CreatedAt)
		if !live || isOther || isOlder || demandOf(attempt).unmet(statedIn(session.LoginSession), now) != "" ||
			appclients.NeedsProvider(appclients.TokenTypeOf(session.provider)) {
			refused = refusal{"login_required", "the user must sign in"}
			return nil
		}
		agreed, err := consentOf(tx, session.user.ID, client.ID)
		if err != nil {
			return err
		}
		if !covers(agreed, attempt.Scope) {
			refused = refusal{"consent_required", "the user hasn't agreed to all requested scopes"}
			return nil
		}
		if look.Unclaimed {
			refused = refusal{"interaction_required", "an unclaimed application requires the user to confirm each " +
				"sign-in"}
			return nil
		}
		code = secrets.Random()
		grant := models.LoginGrant{
			Hash:          secrets.Digest(code),
			Kind:          kindCode,
			SessionID:     session.ID,
			RedirectURI:   attempt.RedirectURI,
			CodeChallenge: attempt.CodeChallenge,
			Scope:         attempt.Scope,
			Resources:     attempt.Resources,
			Nonce:         attempt.Nonce,
			CreatedAt:     now,
			ExpiresAt:     now.Add(codeTTL),
		}
		if err := tx.Insert(&grant); err != nil {
			return err
		}
		return tx.TouchLoginSession(session.ID, now)
	})
	return code, refused, err
}

// Continue returns the way to the client for a browser that comes to a sign-in again that
// it has finished, by Back or a reload: with a new code while the session of that sign-in
// lives, otherwise with an error, after which the client can begin again. It returns false
// for a sign-in that is not finished, or not this browser's, and for an unclaimed
// application, whose users are warned before each redirect.
func (s *Service) Continue(ctx context.Context, clientID, attemptID, browser, cookie string) (Back, bool, error) {
	attempt, err := s.begun(ctx, clientID, attemptID, browser)
	if err != nil || attempt.FinishedAt == nil || attempt.Tester != "" {
		return Back{}, false, onlyInternal(err)
	}
	if attempt.RedirectURI == s.accountURI(clientID) {
		return Back{URL: attempt.RedirectURI}, true, nil
	}
	client, err := s.client(ctx, clientID)
	if err != nil {
		return Back{}, false, onlyInternal(err)
	}
	look, err := s.lookOf(s.DB.Read(ctx), client, attempt.RedirectURI)
	if err != nil || look.Unclaimed || client.FrozenAt != nil ||
		!appclients.IsRegistered(client.RedirectURIs, attempt.RedirectURI) {
		return Back{}, false, err
	}
	code, refused, err := s.bySession(ctx, client, look, attempt, cookie)
	if err != nil {
		return Back{}, false, fmt.Errorf("login: continue from a finished sign-in at %s: %w", clientID, err)
	}
	if refused.code != "" {
		return s.backTo(attempt, url.Values{"error": {refused.code}, "error_description": {refused.text}}), true, nil
	}
	return s.backTo(attempt, url.Values{"code": {code}}), true, nil
}

// onlyInternal returns err unless it is a fault for users.
func onlyInternal(err error) error {
	if err == nil || fault.KindOf(err) == fault.Internal {
		return err
	}
	return nil
}

// otherUser finishes an attempt whose request named another user than the one who signed
// in (OpenID Connect Core 1.0, 3.1.2.1), and returns the redirect to the client.
func (s *Service) otherUser(tx *models.Tx, attempt models.LoginAttempt) (Back, error) {
	finished, err := tx.FinishLoginAttempt(attempt.ID, models.Now())
	if err != nil {
		return Back{}, err
	}
	if !finished {
		return Back{}, errAnswered
	}
	return s.backTo(attempt, url.Values{
		"error":             {"login_required"},
		"error_description": {"a user other than the one in id_token_hint signed in"},
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
		if providers.Unprintable(r) {
			return -1
		}
		return r
	}, agent)
}
