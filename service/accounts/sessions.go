package accounts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"postern/models"
	"postern/service/access"
)

// From is where somebody signs in from: what their sessions are shown by, and
// the request that the audit log names.
type From struct {
	RemoteAddr string // host:port
	UserAgent  string
	RequestID  string
	Device     string // secret of the browser's device cookie, "" for none
}

func (f From) as(account string) access.Principal {
	return access.Principal{Account: account, RemoteAddr: f.RemoteAddr, RequestID: f.RequestID}
}

// maxUserAgent bounds what is kept of a browser's name, in bytes.
const maxUserAgent = 256

func (f From) host() string {
	if host, _, err := net.SplitHostPort(f.RemoteAddr); err == nil {
		return host
	}
	return f.RemoteAddr
}

// userAgent is the header as text that can be kept and shown.
func (f From) userAgent() string {
	text := strings.Map(func(r rune) rune {
		if Unprintable(r) || r == 0xFFFD {
			return -1
		}
		return r
	}, strings.ToValidUTF8(f.UserAgent, ""))
	if len(text) > maxUserAgent {
		text = strings.ToValidUTF8(text[:maxUserAgent], "")
	}
	return text
}

// maxSessions is in how many places an account can be signed in at a time.
const maxSessions = 100

// newSession signs an account in, and out where it has been signed in longest if
// there are too many places.
func newSession(tx *models.Tx, account string, from From) (string, error) {
	secret, now := newSecret(), models.Now()
	until := now.Add(SessionTTL)
	err := tx.Insert(&models.Token{
		ID:         models.NewID("ses"),
		Kind:       kindSession,
		AccountID:  &account,
		Hash:       hash(secret),
		CreatedAt:  now,
		ExpiresAt:  &until,
		UserAgent:  from.userAgent(),
		RemoteAddr: from.host(),
		SeenAt:     &now,
	})
	if err != nil {
		return "", err
	}
	rows, err := tx.TokensOf(kindSession, account, now)
	if err != nil || len(rows) <= maxSessions {
		return secret, err
	}
	for _, row := range rows[maxSessions:] {
		if err := endSession(tx, from.as(account), row); err != nil {
			return "", err
		}
	}
	return secret, nil
}

func endSession(tx *models.Tx, p access.Principal, row models.Token) error {
	if err := tx.DeleteToken(row.ID); err != nil {
		return err
	}
	return recordSelf(tx, p, row.ID, row, nil)
}

// seenEvery is how exact a session's last use is kept: a write for each request
// would be one too many.
const seenEvery = 5 * time.Minute

// BySession is the principal a session stands for; the zero Principal when the
// session is over.
func (s *Service) BySession(ctx context.Context, session string) (access.Principal, error) {
	tx, now := s.DB.Read(ctx), models.Now()
	token, err := tx.TokenByHash(kindSession, hash(session), now)
	if errors.Is(err, models.ErrNotFound) || (err == nil && token.AccountID == nil) {
		return access.Principal{}, nil
	}
	if err != nil {
		return access.Principal{}, fmt.Errorf("accounts: look up a session: %w", err)
	}
	p, err := PrincipalOf(tx, *token.AccountID)
	if err != nil {
		return access.Principal{}, err
	}
	p.Token = token.ID
	if token.SeenAt == nil || now.Sub(*token.SeenAt) >= seenEvery {
		if err := s.DB.Write(ctx, func(tx *models.Tx) error { return tx.TouchToken(token.ID, now) }); err != nil {
			return access.Principal{}, fmt.Errorf("accounts: note that a session was used: %w", err)
		}
	}
	return p, nil
}

// Session is a place where an account is signed in.
type Session struct {
	ID         string
	UserAgent  string
	RemoteAddr string // host that it was begun from
	CreatedAt  time.Time
	SeenAt     time.Time // to within five minutes
	Current    bool      // the one that asks
}

// Sessions lists where the account is signed in, newest first.
func (s *Service) Sessions(ctx context.Context, p access.Principal) ([]Session, error) {
	if err := access.CheckSelf(p, access.AccountRead); err != nil {
		return nil, err
	}
	rows, err := s.DB.Read(ctx).TokensOf(kindSession, p.Account, models.Now())
	if err != nil {
		return nil, fmt.Errorf("accounts: sessions of %s: %w", p.Account, err)
	}
	var list []Session
	for _, row := range rows {
		session := Session{
			ID:         row.ID,
			UserAgent:  row.UserAgent,
			RemoteAddr: row.RemoteAddr,
			CreatedAt:  row.CreatedAt,
			SeenAt:     row.CreatedAt,
			Current:    row.ID == p.Token,
		}
		if row.SeenAt != nil {
			session.SeenAt = *row.SeenAt
		}
		list = append(list, session)
	}
	return list, nil
}

// EndSession signs the account out in one place. Another account's session is
// not found.
func (s *Service) EndSession(ctx context.Context, p access.Principal, id string) error {
	if err := access.CheckSelf(p, access.AccountUpdate); err != nil {
		return err
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		rows, err := tx.TokensOf(kindSession, p.Account, models.Now())
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.ID == id {
				return endSession(tx, p, row)
			}
		}
		return access.NotFound()
	})
	if err != nil {
		return fmt.Errorf("accounts: end the session %s: %w", id, err)
	}
	return nil
}

// EndOtherSessions signs the account out everywhere but where it asks from, and
// tells how many places that were.
func (s *Service) EndOtherSessions(ctx context.Context, p access.Principal) (int64, error) {
	if err := access.CheckSelf(p, access.AccountUpdate); err != nil {
		return 0, err
	}
	var ended int64
	err := s.DB.Write(ctx, func(tx *models.Tx) (err error) {
		if ended, err = tx.DeleteTokensExcept(kindSession, p.Account, p.Token); err != nil {
			return err
		}
		return recordSelf(tx, p, p.Account, signedIn{Places: ended + 1}, signedIn{Places: 1})
	})
	if err != nil {
		return 0, fmt.Errorf("accounts: end the other sessions of %s: %w", p.Account, err)
	}
	return ended, nil
}

// signedIn is what signing out everywhere else changes.
type signedIn struct{ Places int64 }

// recordSelf writes down what an account changed about itself.
func recordSelf(tx *models.Tx, p access.Principal, object string, before, after any) error {
	return access.Record(tx, p, access.Entry{
		Action: access.AccountUpdate,
		Object: object,
		Before: before,
		After:  after,
	})
}

// Rotate gives the session that asks a new secret, because it may do more from
// now on than before: who knew the old one must not come along.
func (s *Service) Rotate(ctx context.Context, p access.Principal) (secret string, err error) {
	if err := access.CheckSelf(p, access.AccountUpdate); err != nil {
		return "", err
	}
	secret = newSecret()
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		found, err := tx.SetTokenHash(p.Token, hash(secret))
		if err == nil && !found {
			err = access.NotFound()
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("accounts: rotate the session %s: %w", p.Token, err)
	}
	return secret, nil
}

// SignOut ends a session; ending one that is over is not an error.
func (s *Service) SignOut(ctx context.Context, session string, from From) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		token, err := tx.TokenByHash(kindSession, hash(session), models.Now())
		if errors.Is(err, models.ErrNotFound) || (err == nil && token.AccountID == nil) {
			return nil
		}
		if err != nil {
			return err
		}
		p := from.as(*token.AccountID)
		p.Token = token.ID
		return endSession(tx, p, token)
	})
	if err != nil {
		return fmt.Errorf("accounts: sign out: %w", err)
	}
	return nil
}
