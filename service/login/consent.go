package login

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"postern/models"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/appclients"
)

// providerScope is a pseudo scope for a login whose client gets a token of the
// provider's: the user consents to that as well.
const providerScope = "provider_token"

// shared returns the scopes that an attempt needs consent for.
func shared(attempt models.LoginAttempt, tokens *handed) string {
	if tokens == nil {
		return attempt.Scope
	}
	return attempt.Scope + " " + providerScope
}

func asksConsent(prompt string) bool { return granted(prompt, "consent") }

// covers reports whether every scope in asked is in before.
func covers(before, asked string) bool {
	return !slices.ContainsFunc(strings.Fields(asked), func(one string) bool { return !granted(before, one) })
}

// consentOf returns the scopes that a user consented to at a client, "" for none.
func consentOf(tx *models.Tx, user, client string) (string, error) {
	found, err := tx.LoginConsentOf(user, client)
	if isAbsent(err) {
		return "", nil
	}
	return found.Scope, err
}

// recordConsent adds scopes to those that the user consented to at the client.
func recordConsent(tx *models.Tx, user, client, scope string, now time.Time) error {
	before, err := consentOf(tx, user, client)
	if err != nil || covers(before, scope) {
		return err
	}
	all := strings.Fields(before)
	for _, one := range strings.Fields(scope) {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return tx.SaveLoginConsent(models.LoginConsent{
		UserID:    user,
		ClientID:  client,
		Scope:     strings.Join(all, " "),
		CreatedAt: now,
		UpdatedAt: now,
	})
}

// askConsent returns the consent page's content, with the login's state sealed.
func (s *Service) askConsent(
	tx *models.Tx, attempt models.LoginAttempt, client models.AppClient, row models.Provider, entry ticket,
	before string,
) (Outcome, error) {
	_, team, err := access.TenantAndTeam(tx, client.TenantID)
	if err != nil {
		return Outcome{}, err
	}
	look, err := s.lookOf(tx, client, attempt.RedirectURI)
	if err != nil {
		return Outcome{}, err
	}
	look.Locales = attempt.UILocales
	sealed, err := s.sealTicket(tx, team, attempt.ID, entry)
	if err != nil {
		return Outcome{}, err
	}
	kept := sealed
	if entry.Handed != nil {
		bare := entry
		bare.Handed = &handed{}
		if kept, err = s.sealTicket(tx, team, attempt.ID, bare); err != nil {
			return Outcome{}, err
		}
	}
	if err := tx.KeepLoginTicket(attempt.ID, kept); err != nil {
		return Outcome{}, err
	}
	offered, err := apisOf(tx, client)
	if err != nil {
		return Outcome{}, err
	}
	asked := shared(attempt, entry.Handed)
	list := shares(asked, before)
	if !look.Unclaimed { // whose project may describe its scopes in any words
		list = offered.describe(list, asked)
	}
	return Outcome{
		Attempt:   attempt.ID,
		Ticket:    secrets.Secret(base64.RawURLEncoding.EncodeToString(sealed)),
		Client:    look,
		Name:      look.nameOf(entry.Identity.Name),
		Email:     entry.Identity.Email,
		Label:     appclients.PublicLabel(row, look.Unclaimed),
		Shares:    list,
		Site:      appclients.OriginOf(attempt.RedirectURI),
		TestLogin: attempt.Tester != "",
	}, nil
}

func (s *Service) sealTicket(tx *models.Tx, team, attempt string, entry ticket) (secrets.Sealed, error) {
	plain, err := json.Marshal(entry)
	if err != nil {
		return nil, err
	}
	return s.Vault.Seal(tx, team, ticketPlace(attempt), secrets.Secret(plain))
}

// openTicket returns the ticket of an attempt. Forbidden login_other_browser for one of another attempt.
func (s *Service) openTicket(tx *models.Tx, attempt string, sealed secrets.Sealed) (ticket, error) {
	var entry ticket
	plain, err := s.Vault.Open(tx, ticketPlace(attempt), sealed)
	if err != nil {
		return entry, errOtherBrowser.Because(err)
	}
	return entry, json.Unmarshal([]byte(plain.Reveal()), &entry)
}

// Share is one line of the consent page: an ability that the client gets.
type Share struct {
	Scope      string // or the pseudo scope provider_token
	Text       string // the project's own description of the scope, or ""
	New        bool   // the user consented to others before, and not to this
	Permission bool   // the client may act at an API, or manage groups
}

// shares returns the lines of the consent page for the scopes.
func shares(scope, before string) []Share {
	var list []Share
	for _, one := range strings.Fields(scope) {
		share := Share{Scope: one, New: before != "" && !granted(before, one)}
		share.Permission = one == ManagesGroups || isPermission(one)
		list = append(list, share)
	}
	return list
}

// GrantConsent finishes an attempt with the user's consent.
func (s *Service) GrantConsent(
	ctx context.Context, clientID, attemptID, ticketText, browser string,
) (Finished, error) {
	attempt, err := s.attempt(ctx, clientID, attemptID, browser)
	if err != nil {
		return Finished{}, err
	}
	client, err := s.client(ctx, clientID)
	if err != nil {
		return Finished{}, err
	}
	sealed, err := base64.RawURLEncoding.DecodeString(ticketText)
	if err != nil {
		return Finished{}, errOtherBrowser
	}
	var out Finished
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		entry, err := s.openTicket(tx, attempt.ID, sealed)
		if err != nil {
			return err
		}
		out, err = s.finish(ctx, tx, attempt, client, entry)
		return err
	})
	if err != nil {
		return Finished{}, fmt.Errorf("login: grant consent at %s: %w", clientID, err)
	}
	return out, nil
}

// DenyConsent ends an attempt and returns the response access_denied.
func (s *Service) DenyConsent(ctx context.Context, clientID, attemptID, browser string) (Back, error) {
	attempt, err := s.attempt(ctx, clientID, attemptID, browser)
	if err != nil {
		return Back{}, err
	}
	client, err := s.client(ctx, clientID)
	if err != nil {
		return Back{}, err
	}
	if attempt.RedirectURI != s.testLoginURI(clientID) &&
		!appclients.IsRegistered(client.RedirectURIs, attempt.RedirectURI) {
		return Back{}, errRedirectURI
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		_, err := tx.FinishLoginAttempt(attempt.ID, models.Now())
		return err
	})
	if err != nil {
		return Back{}, fmt.Errorf("login: deny consent at %s: %w", clientID, err)
	}
	return s.backTo(attempt, url.Values{"error": {"access_denied"}}), nil
}
