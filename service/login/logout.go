package login

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"

	"postern/models"
	"postern/platform/fault"
	"postern/service/appclients"
)

// LogoutInput is a request to sign out (OpenID Connect RP-Initiated Logout 1.0, 2).
type LogoutInput struct {
	ClientID    string // of the endpoint's path
	NamedClient string // client_id of the request, "" for none
	Hint        string // an ID token of this issuer, which may have expired
	Cookie      string // of the user's session at the hosted pages, "" for none
	To          string
	State       string
	Locales     string // ui_locales
	Repeated    bool   // a parameter was sent twice

	Confirmed  bool // the user pressed the button
	AtProvider bool // they pressed that for the provider as well
	Posted     bool // by another site perhaps, for which the browser holds its cookie back (SameSite=Lax)
}

// LoggedOut is the result of a request to sign out: a question, a refusal, or a sign-out. Back is the address that
// the browser goes to, "" for none: it is registered for the client that client_id or a valid hint names.
type LoggedOut struct {
	Client Look
	Asks   bool   // the user has to confirm
	Who    string // name or address of the user that Asks is about, "" where it is not known
	Back   string
	Site   string // origin of Back
	Form   url.Values
	Ended  bool // the cookie is of no session any more

	Refused      *fault.Error // why the request is not followed, nil if it is
	Unregistered bool         // it names an address to return to that is not registered

	Provider    string // where the user signed in, "" if one cannot sign out there
	ProviderURL string
}

var (
	errLogoutHint = fault.New(fault.Malformed, "invalid_hint",
		"The application referred to a sign-in that this server doesn't recognize.")
	errLogoutName = fault.New(fault.Malformed, "invalid_request", "The application used the client ID of a different "+
		"application, or sent a parameter twice. Contact the application's support "+
		"team.").Worded("other_client_or_repeated")
)

// Logout ends the session that the ID token belongs to, and that of the browser if it is the same user's: they may have
// signed in again since the token was issued. It asks before it ends any other session of the browser. Tokens of the
// session end with it. If Client.Unclaimed is set, the caller must ask the user before it follows Back: the
// application's author has an ID token to put into a link.
func (s *Service) Logout(ctx context.Context, in LogoutInput) (LoggedOut, error) {
	row, err := s.client(ctx, in.ClientID)
	if err != nil {
		return LoggedOut{}, err
	}
	var out LoggedOut
	if out.Client, err = s.lookOf(s.DB.Read(ctx), row, ""); err != nil {
		return LoggedOut{}, err
	}
	out.Client.Locales = in.Locales
	hint, err := s.logoutHint(ctx, row, in)
	refused, isRefused := errors.AsType[*fault.Error](err)
	if err != nil && !isRefused {
		return out, fmt.Errorf("login: logout: %w", err)
	}
	out.Refused = refused
	if refused == nil {
		out.setBack(row, in, hint.Subject != "")
	}
	var provider string
	if hint.Subject == "" && !in.Confirmed { // nothing ends yet
		provider, err = out.end(s.DB.Read(ctx), row, in, hint)
	} else {
		err = s.DB.Write(ctx, func(tx *models.Tx) (err error) {
			provider, err = out.end(tx, row, in, hint)
			return err
		})
		s.Changed(ctx)
	}
	if err != nil {
		return out, fmt.Errorf("login: sign out at %s: %w", row.ID, err)
	}
	if provider != "" && (out.Asks || in.AtProvider || out.Back == "" || out.Client.Unclaimed) {
		out.Provider, out.ProviderURL = s.signOutAt(ctx, row.ID, provider)
	}
	return out, nil
}

// logoutHint returns the claims of the request's ID token, none without one. The errors are errLogoutHint and
// errLogoutName.
func (s *Service) logoutHint(ctx context.Context, client models.AppClient, in LogoutInput) (idClaims, error) {
	if in.Repeated || in.NamedClient != "" && in.NamedClient != client.ID {
		return idClaims{}, errLogoutName
	}
	if in.Hint == "" {
		return idClaims{}, nil
	}
	claims, err := s.hinted(ctx, client, in.Hint)
	if errors.Is(err, errToken) {
		return idClaims{}, errLogoutHint
	}
	return claims, err
}

// setBack sets where the browser goes afterward. client_id may be left out where the hint is of the client; an
// address alone says nothing of the client, even at the client's own endpoint.
func (o *LoggedOut) setBack(client models.AppClient, in LogoutInput, hinted bool) {
	if in.To == "" || !hinted && in.NamedClient == "" {
		return
	}
	if !appclients.IsRegistered(client.LogoutURIs, in.To) {
		o.Unregistered = true
		return
	}
	o.Back, o.Site = withState(in.To, in.State), appclients.OriginOf(in.To)
	o.Form = url.Values{"client_id": {client.ID}, "post_logout_redirect_uri": {in.To}, "state": {in.State}}
	if o.Client.Unclaimed {
		o.Client.Site = appclients.HostOf(in.To)
	}
}

func withState(to, state string) string {
	u, err := url.Parse(to)
	if err != nil || state == "" {
		return to // it is registered in exactly this form
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += url.Values{"state": {state}}.Encode()
	return u.String()
}

// end ends what the request may end without a question or after it, and sets Asks where a session of the browser
// remains. It returns the provider of the session that has ended or that the question is about, "" for none.
func (o *LoggedOut) end(tx *models.Tx, client models.AppClient, in LogoutInput, hint idClaims) (string, error) {
	o.Asks, o.Ended = false, false // the transaction may run again
	provider, now := "", models.Now()
	if hint.Session != "" {
		switch named, err := tx.LoginSessionByID(hint.Session); {
		case err == nil:
			provider = named.ProviderID
			if err := signOut(tx, client, named, now); err != nil {
				return "", err
			}
		case !isAbsent(err):
			return "", err
		}
	}
	own, live, err := ownSession(tx, client.ID, in.Cookie, now)
	switch {
	case err != nil:
		return "", err
	case !live:
		o.Ended = in.Cookie != ""
		o.Asks = in.Posted && !in.Confirmed && hint.Subject == ""
		return provider, nil
	case in.Confirmed || own.UserID == hint.Subject:
		o.Ended = true
		return own.ProviderID, signOut(tx, client, own, now)
	}
	o.Asks = true
	user, err := tx.EndUserByID(own.UserID)
	o.Who = cmp.Or(user.Email, o.Client.nameOf(user.Name))
	return own.ProviderID, unlessAbsent(err)
}

// signOutAt returns the public label of a provider and the address at which users sign out of it, "" if there is none.
// If a provider does not answer, the user is signed out anyway.
func (s *Service) signOutAt(ctx context.Context, clientID, id string) (label, address string) {
	config, _, err := s.providerConfig(ctx, clientID, id)
	if err == nil {
		address, err = s.Clients.Providers.EndSessionURL(ctx, config)
	}
	if err != nil || address == "" {
		return "", ""
	}
	return config.Name(), address
}
