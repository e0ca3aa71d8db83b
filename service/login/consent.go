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
	"postern/platform/federation"
	"postern/platform/secrets"
)

// providerScope stands beside the scopes of a request where the client gets a token
// of the provider's: people agree to that as well.
const providerScope = "provider_token"

// shared is everything that the client learns by an attempt, as scopes.
func shared(attempt models.LoginAttempt, tokens *handed) string {
	if tokens == nil {
		return attempt.Scope
	}
	return attempt.Scope + " " + providerScope
}

func asksConsent(prompt string) bool { return granted(prompt, "consent") }

// covers tells whether all that is asked for was agreed to.
func covers(before, asked string) bool {
	return !slices.ContainsFunc(strings.Fields(asked), func(one string) bool { return !granted(before, one) })
}

// consentOf is what somebody agreed to at a client, "" for nothing.
func consentOf(tx *models.Tx, user, client string) (string, error) {
	found, err := tx.LoginConsentOf(user, client)
	if isAbsent(err) {
		return "", nil
	}
	return found.Scope, err
}

// agreed remembers that somebody lets a client learn this, beside what they let it
// learn before: it has that already.
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

// ask seals what is known until the person has answered.
func (s *Service) ask(
	tx *models.Tx, attempt models.LoginAttempt, client models.AppClient, row models.Provider, entry ticket,
	identity federation.Identity, before string,
) (Outcome, error) {
	_, team, err := teamOf(tx, client.TenantID)
	if err != nil {
		return Outcome{}, err
	}
	look, err := s.lookOf(tx, client, attempt.RedirectURI)
	if err != nil {
		return Outcome{}, err
	}
	plain, err := json.Marshal(entry)
	if err != nil {
		return Outcome{}, err
	}
	sealed, err := s.Vault.Seal(tx, team, ticketPlace(attempt.ID), secrets.Secret(plain))
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{
		Attempt:  attempt.ID,
		Ticket:   secrets.Secret(base64.RawURLEncoding.EncodeToString(sealed)),
		Client:   look,
		Identity: identity,
		Label:    labelOf(row),
		Shares:   shares(shared(attempt, entry.Handed), before),
		Site:     originOf(attempt.RedirectURI),
		Trial:    attempt.Tester != "",
	}, nil
}

// Share is something that a client learns, in words.
type Share struct {
	Text string
	New  bool // not agreed to before
}

// shareTexts says what each scope lets a client learn.
var shareTexts = map[string]string{
	"openid":         "an id that stands for you",
	"profile":        "your name",
	"email":          "your e-mail address",
	"groups":         "the groups you are in",
	"offline_access": "access while you are away, until you sign out",
	providerScope:    "a token that acts for you at your provider",
}

// shares says in words what a client learns, and what of it is new.
func shares(scope, before string) []Share {
	var list []Share
	for _, one := range strings.Fields(scope) {
		list = append(list, Share{Text: shareTexts[one], New: before != "" && !granted(before, one)})
	}
	return list
}

// Agree lets in who is here for the first time and agrees, and sends the browser
// back to the client.
func (s *Service) GrantConsent(ctx context.Context, clientID, attemptID, ticketText, browser string) (string, error) {
	attempt, err := s.attempt(ctx, clientID, attemptID, browser)
	if err != nil {
		return "", err
	}
	client, err := s.client(ctx, clientID)
	if err != nil {
		return "", err
	}
	sealed, err := base64.RawURLEncoding.DecodeString(ticketText)
	if err != nil {
		return "", errOtherBrowser
	}
	var back string
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		plain, err := s.Vault.Open(tx, ticketPlace(attempt.ID), sealed)
		if err != nil {
			return errOtherBrowser.Because(err)
		}
		var entry ticket
		if err := json.Unmarshal([]byte(plain.Reveal()), &entry); err != nil {
			return err
		}
		back, err = s.finish(tx, attempt, client, entry)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("login: agree at %s: %w", clientID, err)
	}
	return back, nil
}

// Decline ends an attempt and sends the browser back with access_denied.
func (s *Service) DenyConsent(ctx context.Context, clientID, attemptID, browser string) (string, error) {
	attempt, err := s.attempt(ctx, clientID, attemptID, browser)
	if err != nil {
		return "", err
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		_, err := tx.FinishLoginAttempt(attempt.ID, models.Now())
		return err
	})
	if err != nil {
		return "", fmt.Errorf("login: decline at %s: %w", clientID, err)
	}
	return s.backWith(clientID, attempt.RedirectURI, attempt.State, url.Values{"error": {"access_denied"}}), nil
}
