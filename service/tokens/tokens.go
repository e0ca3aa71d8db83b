// Package tokens manages the tokens that act for an account: personal access tokens, and
// those that a command line gets by the device flow (RFC 8628). They are sent as bearer
// tokens (RFC 6750), and only their SHA-256 is stored.
//
// It owns their creation, life and use, and lists workspace keys beside them. It leaves
// scopes to access, accounts and workspaces to accounts, and HTTP to the handlers.
package tokens

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
)

// The kinds of token.
const (
	Personal  = "personal"  // made by hand
	CLI       = "cli"       // made by the device flow
	Workspace = "workspace" // the key of an unclaimed workspace
)

// begins is what a token of each kind begins with: none can be taken for an API
// key, and scanners for leaked secrets know them by it.
var begins = map[string]string{Personal: "postern_pat_", CLI: "postern_cli_"}

// How long a token lives.
const (
	DefaultTTL = 90 * 24 * time.Hour
	MaxTTL     = 366 * 24 * time.Hour
)

// maxTokens is how many an account may have at a time.
const maxTokens = 100

// Service manages access tokens.
type Service struct {
	DB         *models.DB
	MaxWaiting int64 // programs that wait for approval at a time; 0 means maxWaiting
	guesses    guesses
}

// Token is a credential without its secret.
type Token struct {
	ID         string
	Kind       string
	Name       string
	Scopes     []access.Scope // empty for a workspace key, which no scope narrows
	Last4      string
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	LastUsedAt *time.Time // to the minute; nil for never

	// LastUsedFrom is the client's IP address at the first use within that minute.
	LastUsedFrom string

	Current bool // it is the one that asks
}

// Minted is a new token with its plaintext, which is shown this once.
type Minted struct {
	Token
	Plaintext string
}

// IsToken reports whether a bearer token is one of this package, by its prefix.
func IsToken(bearer string) bool {
	return wellFormed(bearer) != ""
}

// wellFormed is the kind that a text has the make of, "" for none. It costs no
// lookup.
func wellFormed(bearer string) string {
	for kind, begin := range begins {
		if policy.WellFormedToken(bearer, begin) {
			return kind
		}
	}
	return ""
}

var errInvalid = fault.New(fault.Unauthenticated, "invalid_token", "This access token is not valid: it has expired, "+
	"or was revoked.")

// ByToken is the principal that an access token stands for: its account, as far
// as its scopes go.
func (s *Service) ByToken(ctx context.Context, bearer, remoteAddr string) (access.Principal, error) {
	if wellFormed(bearer) == "" {
		return access.Principal{}, errInvalid
	}
	tx, now := s.DB.Read(ctx), models.Now()
	sum := policy.HashKey(bearer)
	row, err := tx.AccessTokenByHash(sum[:], now)
	if errors.Is(err, models.ErrNotFound) {
		return access.Principal{}, errInvalid
	}
	if err != nil {
		return access.Principal{}, fmt.Errorf("tokens: look one up: %w", err)
	}
	p, err := accounts.PrincipalOf(tx, row.AccountID)
	if err != nil {
		return access.Principal{}, fmt.Errorf("tokens: %w", err)
	}
	p.Token, p.Scoped, p.Scopes = row.ID, true, scopesOf(row.Scopes)
	p.Operator = p.Operator && slices.Contains(p.Scopes, access.ScopeAdmin)
	return p, s.touch(ctx, row, remoteAddr, now.Truncate(time.Minute))
}

// touch records the minute of a token's last use, and from where.
func (s *Service) touch(ctx context.Context, row models.AccessToken, remoteAddr string, minute time.Time) error {
	if row.LastUsedAt != nil && !row.LastUsedAt.Before(minute) {
		return nil
	}
	from := remoteAddr
	if host, _, err := net.SplitHostPort(remoteAddr); err == nil {
		from = host
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error { return tx.TouchAccessToken(row.ID, from, minute) })
	if err != nil {
		return fmt.Errorf("tokens: note the use of %s: %w", row.ID, err)
	}
	return nil
}

func scopesOf(names []string) []access.Scope {
	out := make([]access.Scope, 0, len(names))
	for _, name := range names {
		out = append(out, access.Scope(name))
	}
	return out
}

func view(row models.AccessToken, p access.Principal) Token {
	return Token{
		ID:           row.ID,
		Kind:         row.Kind,
		Name:         row.Name,
		Scopes:       scopesOf(row.Scopes),
		Last4:        row.Last4,
		CreatedAt:    row.CreatedAt,
		ExpiresAt:    &row.ExpiresAt,
		LastUsedAt:   row.LastUsedAt,
		LastUsedFrom: row.LastUsedFrom,
		Current:      row.ID == p.Token,
	}
}

// List returns the tokens of the caller's account, newest first; for a workspace
// key, itself.
func (s *Service) List(ctx context.Context, p access.Principal, page models.Page) (models.List[Token], error) {
	if isWorkspace(p) {
		keys, err := s.workspaceKeys(ctx, p)
		return models.List[Token]{Items: keys}, err
	}
	if err := access.CheckSelf(p, access.TokenRead); err != nil {
		return models.List[Token]{}, fmt.Errorf("tokens: list: %w", err)
	}
	rows, err := s.DB.Read(ctx).AccessTokensOf(p.Account, page, models.Now())
	if err != nil {
		return models.List[Token]{}, fmt.Errorf("tokens: list those of %s: %w", p.Account, err)
	}
	return models.MapList(rows, func(row models.AccessToken) Token { return view(row, p) }), nil
}

// Find returns one token of the caller's account.
func (s *Service) Find(ctx context.Context, p access.Principal, id string) (Token, error) {
	if err := access.CheckSelf(p, access.TokenRead); err != nil {
		return Token{}, fmt.Errorf("tokens: find %s: %w", id, err)
	}
	row, err := s.DB.Read(ctx).AccessTokenByID(id)
	if errors.Is(err, models.ErrNotFound) || (err == nil && row.AccountID != p.Account) {
		err = access.NotFound()
	}
	if err != nil {
		return Token{}, fmt.Errorf("tokens: find %s: %w", id, err)
	}
	return view(row, p), nil
}

func isWorkspace(p access.Principal) bool {
	return p.Account == "" && p.Roles[p.HomeTeam] == access.Workspace
}

func (s *Service) workspaceKeys(ctx context.Context, p access.Principal) ([]Token, error) {
	rows, err := s.DB.Read(ctx).TokensOfTeam(accounts.KindWorkspace, p.HomeTeam, models.Now())
	if err != nil {
		return nil, fmt.Errorf("tokens: list the keys of %s: %w", p.HomeTeam, err)
	}
	var list []Token
	for _, row := range rows {
		list = append(list, viewKey(row, p))
	}
	return list, nil
}

func viewKey(row models.Token, p access.Principal) Token {
	return Token{
		ID:        row.ID,
		Kind:      Workspace,
		Name:      "Workspace key",
		CreatedAt: row.CreatedAt,
		ExpiresAt: row.ExpiresAt,
		Current:   row.ID == p.Token,
	}
}

// Current returns the token that the caller presented. ok is false for a session.
func (s *Service) Current(ctx context.Context, p access.Principal) (t Token, ok bool, err error) {
	switch {
	case isWorkspace(p):
		keys, err := s.workspaceKeys(ctx, p)
		if err != nil {
			return Token{}, false, err
		}
		i := slices.IndexFunc(keys, func(t Token) bool { return t.Current })
		if i < 0 {
			return Token{}, false, nil
		}
		return keys[i], true, nil
	case p.Scoped:
		row, err := s.DB.Read(ctx).AccessTokenByID(p.Token)
		if err != nil {
			return Token{}, false, fmt.Errorf("tokens: find %s: %w", p.Token, err)
		}
		return view(row, p), true, nil
	}
	return Token{}, false, nil
}

// Revoke ends a token of the caller's account at once. Any credential may end
// itself.
func (s *Service) Revoke(ctx context.Context, p access.Principal, id string) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		if isWorkspace(p) {
			return revokeKey(tx, p, id)
		}
		if !p.Scoped || p.Token != id {
			if err := access.CheckSelf(p, access.TokenRevoke); err != nil {
				return err
			}
		}
		row, err := tx.AccessTokenByID(id)
		if errors.Is(err, models.ErrNotFound) || (err == nil && row.AccountID != p.Account) {
			return access.NotFound()
		}
		if err != nil {
			return err
		}
		gone, err := tx.DeleteAccessToken(id)
		if err != nil || !gone {
			return cmp.Or(err, access.NotFound())
		}
		return record(tx, p, access.Entry{
			Action: access.TokenRevoke,
			Object: id,
			Detail: map[string]string{"name": row.Name},
			Before: row,
		})
	})
	if err != nil {
		return fmt.Errorf("tokens: revoke %s: %w", id, err)
	}
	return nil
}

func revokeKey(tx *models.Tx, p access.Principal, id string) error {
	rows, err := tx.TokensOfTeam(accounts.KindWorkspace, p.HomeTeam, models.Now())
	if err != nil {
		return err
	}
	i := slices.IndexFunc(rows, func(row models.Token) bool { return row.ID == id })
	if i < 0 {
		return access.NotFound()
	}
	if err := tx.DeleteToken(id); err != nil {
		return err
	}
	return record(tx, p, access.Entry{Action: access.TokenRevoke, Object: id, Before: rows[i]})
}

// record writes the audit entry of a token for every team of the account, since the
// token opens each of them.
func record(tx *models.Tx, p access.Principal, e access.Entry) error {
	teams := p.Teams()
	slices.Sort(teams)
	if len(teams) == 0 {
		teams = []string{""}
	}
	for _, team := range teams {
		e.Team = team
		if err := access.Record(tx, p, e); err != nil {
			return err
		}
	}
	return nil
}
