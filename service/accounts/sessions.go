package accounts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/secrets"
	"postern/service/access"
)

// From describes the request of a sign-in, for the list of sessions and the audit log.
type From struct {
	RemoteAddr string // host:port
	UserAgent  string
	RequestID  string
	Device     string // secret of the browser's device cookie, "" for none
}

func (f From) as(account string) access.Principal {
	return access.Principal{Account: account, RemoteAddr: f.RemoteAddr, RequestID: f.RequestID}
}

// maxUserAgent bounds the stored User-Agent, in bytes.
const maxUserAgent = 256

func (f From) host() string {
	if host, _, err := net.SplitHostPort(f.RemoteAddr); err == nil {
		return host
	}
	return f.RemoteAddr
}

// userAgent returns the User-Agent as text that can be stored and shown.
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

// maxSessions is how many sessions an account can have at a time.
const maxSessions = 100

// newSession begins a session and returns its secret. It ends the oldest one if there are
// too many.
func newSession(tx *models.Tx, account string, from From) (string, error) {
	secret, now := secrets.Random(), models.Now()
	until := now.Add(SessionTTL)
	err := tx.Insert(&models.Token{
		ID:         models.NewID("ses"),
		Kind:       kindSession,
		AccountID:  &account,
		Hash:       secrets.Digest(secret),
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

// seenEvery is the precision of a session's last use: it is not written on each request.
const seenEvery = 5 * time.Minute

// BySession returns the principal of a session, the zero Principal if it has ended.
func (s *Service) BySession(ctx context.Context, session string) (access.Principal, error) {
	tx, now := s.DB.Read(ctx), models.Now()
	token, err := tx.TokenByHash(kindSession, secrets.Digest(session), now)
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
			return access.Principal{}, fmt.Errorf("accounts: record the use of a session: %w", err)
		}
	}
	return p, nil
}

// Sessions returns the account's sessions, newest first, or in the order of created or last_seen.
func (s *Service) Sessions(
	ctx context.Context, p access.Principal, in contract.SessionList,
) (models.List[contract.Session], error) {
	var none models.List[contract.Session]
	if err := access.CheckSelf(p, access.AccountRead); err != nil {
		return none, err
	}
	rows, err := s.DB.Read(ctx).TokensOf(kindSession, p.Account, models.Now())
	if err != nil {
		return none, fmt.Errorf("accounts: sessions of %s: %w", p.Account, err)
	}
	out := models.List[contract.Session]{Total: int64(len(rows))}
	for _, row := range rows {
		session := contract.Session{
			ID:         row.ID,
			UserAgent:  row.UserAgent,
			RemoteAddr: row.RemoteAddr,
			CreatedAt:  row.CreatedAt.UTC(),
			LastSeenAt: row.CreatedAt.UTC(),
			Current:    row.ID == p.Token,
		}
		if row.SeenAt != nil {
			session.LastSeenAt = row.SeenAt.UTC()
		}
		out.Items = append(out.Items, session)
	}
	order := models.ParseSort(in.Sort)
	switch order.By {
	case "":
		return out, nil
	case "created":
		slices.SortStableFunc(out.Items, func(a, b contract.Session) int { return a.CreatedAt.Compare(b.CreatedAt) })
	case "last_seen":
		slices.SortStableFunc(out.Items, func(a, b contract.Session) int {
			return a.LastSeenAt.Compare(b.LastSeenAt)
		})
	default:
		return none, fmt.Errorf("accounts: sessions of %s: %w: %q", p.Account, models.ErrSort, order.By)
	}
	if order.Desc {
		slices.Reverse(out.Items)
	}
	return out, nil
}

// EndSession ends one of the account's sessions. NotFound for another account's.
func (s *Service) EndSession(
	ctx context.Context, p access.Principal, in contract.SessionPath,
) (contract.None, error) {
	if err := access.CheckSelf(p, access.AccountUpdate); err != nil {
		return contract.None{}, err
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		rows, err := tx.TokensOf(kindSession, p.Account, models.Now())
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.ID == in.Session {
				return endSession(tx, p, row)
			}
		}
		return access.NotFound()
	})
	if err != nil {
		return contract.None{}, fmt.Errorf("accounts: end the session %s: %w", in.Session, err)
	}
	return contract.None{}, nil
}

// EndOtherSessions ends all of the account's sessions but the caller's.
func (s *Service) EndOtherSessions(
	ctx context.Context, p access.Principal, _ contract.None,
) (contract.EndedSessions, error) {
	var out contract.EndedSessions
	if err := access.CheckSelf(p, access.AccountUpdate); err != nil {
		return out, err
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) (err error) {
		if out.Ended, err = tx.DeleteTokensExcept(kindSession, p.Account, p.Token); err != nil {
			return err
		}
		return recordSelf(tx, p, p.Account, signedIn{Places: out.Ended + 1}, signedIn{Places: 1})
	})
	if err != nil {
		return contract.EndedSessions{}, fmt.Errorf("accounts: end the other sessions of %s: %w", p.Account, err)
	}
	return out, nil
}

// signedIn is the audit entry's state for EndOtherSessions.
type signedIn struct{ Places int64 }

// recordSelf writes the audit entry for an account's change of itself.
func recordSelf(tx *models.Tx, p access.Principal, object string, before, after any) error {
	return access.Record(tx, p, access.Entry{
		Action: access.AccountUpdate,
		Object: object,
		Before: before,
		After:  after,
	})
}

// Rotate gives the caller's session a new secret when its privileges change, so that a
// stolen earlier secret does not gain them.
func (s *Service) Rotate(ctx context.Context, p access.Principal) (secret string, err error) {
	if err := access.CheckSelf(p, access.AccountUpdate); err != nil {
		return "", err
	}
	secret = secrets.Random()
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		found, err := tx.SetTokenHash(p.Token, secrets.Digest(secret))
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

// SignOut ends a session. A session that has already ended is not an error.
func (s *Service) SignOut(ctx context.Context, session string, from From) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		token, err := tx.TokenByHash(kindSession, secrets.Digest(session), models.Now())
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
