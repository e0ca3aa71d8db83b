package login

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"postern/models"
)

const (
	logoutType   = "logout+jwt" // OpenID Connect Back-Channel Logout 1.0, 2.4
	logoutEvent  = "http://schemas.openid.net/event/backchannel-logout"
	logoutTTL    = 2 * time.Minute  // of a logout token (2.4)
	logoutWait   = 10 * time.Second // for the application's answer
	logoutsAtOne = 50               // delivered by one call of SendLogouts
)

// logoutBackoff is how long after each failed attempt the next one is due. After the last
// the notice is given up: the access tokens have expired by then.
var logoutBackoff = []time.Duration{
	10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour,
	6 * time.Hour, 12 * time.Hour,
}

// logoutClaims are the claims of a logout token (2.4). A nonce is forbidden.
type logoutClaims struct {
	jwt.Claims
	Session string              `json:"sid"`
	Events  map[string]struct{} `json:"events"`
}

// SendLogouts tells app clients of sessions that have ended, as far as notices are due.
func (s *Service) SendLogouts(ctx context.Context) error {
	due, err := s.DB.Read(ctx).DueLogoutNotices(models.Now(), logoutsAtOne)
	if err != nil {
		return fmt.Errorf("login: find back-channel logouts to send: %w", err)
	}
	var all sync.WaitGroup
	failed := make([]error, len(due))
	for i, notice := range due {
		all.Go(func() { failed[i] = s.sendLogout(ctx, notice) })
	}
	all.Wait()
	return errors.Join(failed...)
}

// sendLogout tells an app client of one session. An application that cannot be reached isn't
// an error: the notice stays and is tried again.
func (s *Service) sendLogout(ctx context.Context, notice models.LogoutNotice) error {
	last := int(notice.Attempts) >= len(logoutBackoff)
	next := models.Now().Add(logoutBackoff[min(int(notice.Attempts), len(logoutBackoff)-1)])
	claimed := false
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		var err error
		claimed, err = tx.ClaimLogoutNotice(notice, next)
		return err
	})
	if err != nil || !claimed {
		return err
	}
	client, err := s.client(ctx, notice.ClientID)
	if err != nil {
		return err
	}
	if client.BackchannelLogoutURI != "" {
		if err := s.sendLogoutToken(ctx, client, notice); err != nil {
			s.Log.InfoContext(ctx, "could not send a back-channel logout to an app client",
				"client", client.ID, "session", notice.SessionID, "attempt", notice.Attempts+1, "error", err)
			if !last {
				return nil
			}
		}
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error { return tx.DeleteLogoutNotice(notice.ID) })
}

// sendLogoutToken posts a logout token to the client's URI (2.5). Any answer but 200 and 204 is
// an error (2.8).
func (s *Service) sendLogoutToken(ctx context.Context, client models.AppClient, notice models.LogoutNotice) error {
	key, err := s.signer(ctx, client)
	if err != nil {
		return err
	}
	now := time.Now()
	claims := logoutClaims{
		Claims:  s.claims(client, notice.UserID, now),
		Session: notice.SessionID,
		Events:  map[string]struct{}{logoutEvent: {}},
	}
	claims.ID = models.NewID("jti")
	claims.Expiry = jwt.NewNumericDate(now.Add(logoutTTL))
	token, err := key.sign(logoutType, claims)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, logoutWait)
	defer cancel()
	form := url.Values{"logout_token": {token}}.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, client.BackchannelLogoutURI, strings.NewReader(form))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := s.Clients.Providers.HTTP.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, 4096) // so that the connection can be used again
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusNoContent {
		return fmt.Errorf("the application responded with %d", answer.StatusCode)
	}
	return nil
}
