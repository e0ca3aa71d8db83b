// Package tokens manages the tokens that act for an account: personal access tokens, and
// those that a command line gets by the device flow (RFC 8628). They are sent as bearer
// tokens (RFC 6750), and only their SHA-256 is stored.
//
// It owns their creation, life and use, and lists workspace keys with them. It leaves
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

	"postern/core/contract"
	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
)

// begins is what a token of each kind begins with: none can be taken for an API
// key, and scanners for leaked secrets know them by it.
var begins = map[string]string{contract.PersonalToken: "postern_pat_", contract.CLIToken: "postern_cli_"}

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

var errInvalid = fault.New(fault.Unauthenticated, "invalid_token", "This access token isn't valid. It may have "+
	"expired or been revoked.")

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
		return access.Principal{}, fmt.Errorf("tokens: look up a token: %w", err)
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
		return fmt.Errorf("tokens: record the use of %s: %w", row.ID, err)
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

func shown(row models.AccessToken, p access.Principal) contract.Token {
	return contract.Token{
		ID:           row.ID,
		Kind:         row.Kind,
		Name:         row.Name,
		Scopes:       row.Scopes,
		Last4:        row.Last4,
		CreatedAt:    row.CreatedAt.UTC(),
		ExpiresAt:    contract.UTC(&row.ExpiresAt),
		LastUsedAt:   contract.UTC(row.LastUsedAt),
		LastUsedFrom: row.LastUsedFrom,
		Current:      row.ID == p.Token,
		ETag:         access.ETag(row.UpdatedAt),
	}
}

// List returns the tokens of the caller's account, newest first; for a workspace
// key, itself.
func (s *Service) List(
	ctx context.Context, p access.Principal, in contract.TokenList,
) (models.List[contract.Token], error) {
	var none models.List[contract.Token]
	if isWorkspace(p) {
		keys, err := s.workspaceKeys(ctx, p)
		return models.List[contract.Token]{Items: keys}, err
	}
	if err := access.CheckSelf(p, access.TokenRead); err != nil {
		return none, fmt.Errorf("tokens: list: %w", err)
	}
	page := models.PageOf(in.Page, in.Sort, in.Text)
	rows, err := s.DB.Read(ctx).AccessTokensOf(p.Account, page, models.Now())
	if err != nil {
		return none, fmt.Errorf("tokens: list tokens of %s: %w", p.Account, err)
	}
	return models.MapList(rows, func(row models.AccessToken) contract.Token { return shown(row, p) }), nil
}

// Get returns one token of the caller's account; for a workspace key, itself.
func (s *Service) Get(ctx context.Context, p access.Principal, in contract.TokenPath) (contract.Token, error) {
	if isWorkspace(p) {
		keys, err := s.workspaceKeys(ctx, p)
		if i := slices.IndexFunc(keys, func(t contract.Token) bool { return t.ID == in.Token }); i >= 0 {
			return keys[i], nil
		}
		return contract.Token{}, cmp.Or(err, access.NotFound())
	}
	row, err := find(s.DB.Read(ctx), p, in.Token, access.TokenRead)
	if err != nil {
		return contract.Token{}, fmt.Errorf("tokens: get %s: %w", in.Token, err)
	}
	return shown(row, p), nil
}

// find loads a token of the principal's account, which may do action.
func find(tx *models.Tx, p access.Principal, id string, action access.Action) (models.AccessToken, error) {
	if err := access.CheckSelf(p, action); err != nil {
		return models.AccessToken{}, err
	}
	return ofAccount(tx, p, id)
}

func ofAccount(tx *models.Tx, p access.Principal, id string) (models.AccessToken, error) {
	row, err := tx.AccessTokenByID(id)
	if errors.Is(err, models.ErrNotFound) || (err == nil && row.AccountID != p.Account) {
		err = access.NotFound()
	}
	return row, err
}

// Update renames a token.
func (s *Service) Update(ctx context.Context, p access.Principal, in contract.TokenUpdate) (contract.Token, error) {
	var out contract.Token
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := find(tx, p, in.Token, access.TokenUpdate)
		if err != nil {
			return err
		}
		if err := access.Unchanged(in.IfMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		before := row
		if in.Body.Name != nil {
			name, problem := readName(*in.Body.Name)
			if problem.Detail != "" {
				return fault.InvalidFields([]fault.Field{problem})
			}
			row.Name = name
		}
		row.UpdatedAt = models.Now()
		if renamed, err := tx.RenameAccessToken(row, before.UpdatedAt); err != nil || !renamed {
			return cmp.Or(err, access.Stale())
		}
		out = shown(row, p)
		return record(tx, p, access.Entry{
			Action: access.TokenUpdate,
			Object: row.ID,
			Name:   row.Name,
			Before: before,
			After:  row,
		})
	})
	if err != nil {
		return contract.Token{}, fmt.Errorf("tokens: update %s: %w", in.Token, err)
	}
	return out, nil
}

func isWorkspace(p access.Principal) bool {
	return p.Account == "" && p.Roles[p.HomeTeam] == access.Workspace
}

func (s *Service) workspaceKeys(ctx context.Context, p access.Principal) ([]contract.Token, error) {
	rows, err := s.DB.Read(ctx).TokensOfTeam(accounts.KindWorkspace, p.HomeTeam, models.Now())
	if err != nil {
		return nil, fmt.Errorf("tokens: list the keys of %s: %w", p.HomeTeam, err)
	}
	var list []contract.Token
	for _, row := range rows {
		list = append(list, shownKey(row, p))
	}
	return list, nil
}

func shownKey(row models.Token, p access.Principal) contract.Token {
	return contract.Token{
		ID:        row.ID,
		Kind:      contract.WorkspaceKey,
		Name:      "Workspace key",
		Scopes:    []string{},
		CreatedAt: row.CreatedAt.UTC(),
		ExpiresAt: contract.UTC(row.ExpiresAt),
		Current:   row.ID == p.Token,
		ETag:      access.ETag(row.CreatedAt), // it can't be changed
	}
}

// Current returns the token that the caller presented, nil for a session.
func (s *Service) Current(ctx context.Context, p access.Principal) (*contract.Token, error) {
	switch {
	case isWorkspace(p):
		keys, err := s.workspaceKeys(ctx, p)
		if i := slices.IndexFunc(keys, func(t contract.Token) bool { return t.Current }); i >= 0 {
			return &keys[i], nil
		}
		return nil, err
	case p.Scoped:
		row, err := s.DB.Read(ctx).AccessTokenByID(p.Token)
		if err != nil {
			return nil, fmt.Errorf("tokens: find %s: %w", p.Token, err)
		}
		out := shown(row, p)
		return &out, nil
	}
	return nil, nil
}

// Revoke ends a token of the caller's account at once. Any credential may end
// itself.
func (s *Service) Revoke(ctx context.Context, p access.Principal, in contract.TokenPath) (contract.None, error) {
	id := in.Token
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		if isWorkspace(p) {
			return revokeKey(tx, p, id)
		}
		if !p.Scoped || p.Token != id {
			if err := access.CheckSelf(p, access.TokenRevoke); err != nil {
				return err
			}
		}
		row, err := ofAccount(tx, p, id)
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
			Name:   row.Name,
			Before: row,
		})
	})
	if err != nil {
		return contract.None{}, fmt.Errorf("tokens: revoke %s: %w", id, err)
	}
	return contract.None{}, nil
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
