package tokens

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"postern/core/contract"
	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
)

// Create creates a personal access token for the caller's account. A token created with
// another token has at most that token's scopes and lifetime.
func (s *Service) Create(
	ctx context.Context, p access.Principal, in contract.TokenCreation,
) (contract.TokenWithSecret, error) {
	var out contract.TokenWithSecret
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := access.CheckSelf(p, access.TokenCreate); err != nil {
			return err
		}
		now := models.Now()
		row, err := checked(tx, p, in.Body, now)
		if err != nil {
			return err
		}
		n, err := tx.CountAccessTokensOf(p.Account, now)
		if err != nil {
			return err
		}
		if n >= maxTokens {
			return fault.New(fault.Conflict, "too_many_tokens", "This account has the maximum of %d access tokens. "+
				"Revoke one that you no longer use.", n)
		}
		out, err = mint(tx, p, row)
		return err
	})
	if err != nil {
		return contract.TokenWithSecret{}, fmt.Errorf("tokens: create: %w", err)
	}
	return out, nil
}

// mint gives the row its secret and keeps it.
func mint(tx *models.Tx, p access.Principal, row models.AccessToken) (contract.TokenWithSecret, error) {
	var none contract.TokenWithSecret
	plaintext, err := policy.NewToken(begins[row.Kind])
	if err != nil {
		return none, err
	}
	sum := policy.HashKey(plaintext)
	row.ID, row.AccountID, row.Hash, row.Last4 = models.NewID("tok"), p.Account, sum[:], policy.Last4(plaintext)
	row.UpdatedAt = row.CreatedAt
	if err := tx.Insert(&row); err != nil {
		return none, err
	}
	if err := record(tx, p, access.Entry{
		Action: access.TokenCreate,
		Object: row.ID,
		Name:   row.Name,
		After:  row,
	}); err != nil {
		return none, err
	}
	return contract.TokenWithSecret{Token: shown(row, p), Secret: contract.Secret(plaintext)}, nil
}

// checked returns the row of a new token. Without an end it lives for DefaultTTL, or as long as the token that creates
// it.
func checked(tx *models.Tx, p access.Principal, in contract.NewToken, now time.Time) (models.AccessToken, error) {
	name, problem := readName(in.Name)
	wrong := slices.DeleteFunc([]fault.Field{problem}, func(f fault.Field) bool { return f.Detail == "" })
	scopes, problems := readScopes(in.Scopes, p)
	wrong = append(wrong, problems...)
	limit := now.Add(MaxTTL)
	if p.Scoped {
		own, err := tx.AccessTokenByID(p.Token)
		if err != nil {
			return models.AccessToken{}, fmt.Errorf("find the token %s of the request: %w", p.Token, err)
		}
		limit = own.ExpiresAt
	}
	expires := now.Add(DefaultTTL)
	switch {
	case in.ExpiresAt == nil:
		if expires.After(limit) {
			expires = limit
		}
	case !in.ExpiresAt.After(now):
		wrong = append(wrong, fault.Field{
			Pointer: "/expires_at",
			Code:    "in_the_past",
			Detail:  "This time is in the past. Choose a later time, or omit the time to get a lifetime of 90 days.",
		})
	case in.ExpiresAt.After(limit):
		wrong = append(wrong, fault.Field{
			Pointer: "/expires_at",
			Code:    "too_late",
			Detail: "A token can't be valid for more than a year, or for longer than the token that creates it. " +
				"Use a time no later than " + limit.UTC().Format(time.RFC3339) + ".",
		})
	default:
		expires = in.ExpiresAt.UTC().Truncate(time.Microsecond)
	}
	return models.AccessToken{
		Kind:      contract.PersonalToken,
		Name:      name,
		Scopes:    scopes,
		CreatedAt: now,
		ExpiresAt: expires,
	}, fault.InvalidFields(wrong)
}

const maxName = 80 // characters

func readName(name string) (string, fault.Field) {
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n == 0 || n > maxName || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, accounts.Unprintable) {
		return "", fault.Field{
			Pointer: "/name",
			Code:    "invalid_name",
			Detail:  "Enter a name of 1 to 80 characters that describes what the token is used for.",
		}
	}
	return name, fault.Field{}
}

// readScopes brings scopes into the order of access.Scopes, each once.
func readScopes(names []string, p access.Principal) ([]string, []fault.Field) {
	var wrong []fault.Field
	if len(names) == 0 {
		wrong = append(wrong, fault.Field{
			Pointer: "/scopes",
			Code:    "required",
			Detail:  "Choose at least one of the scopes " + allScopes() + ".",
		})
	}
	for i, name := range names {
		pointer := fmt.Sprintf("/scopes/%d", i)
		switch {
		case !slices.Contains(access.Scopes(), access.Scope(name)):
			wrong = append(wrong, fault.Field{
				Pointer: pointer,
				Code:    "unknown_scope",
				Detail:  "This isn't a scope. Use one of " + allScopes() + ".",
			})
		case p.Scoped && !slices.Contains(p.Scopes, access.Scope(name)):
			wrong = append(wrong, fault.Field{
				Pointer: pointer,
				Code:    "exceeds_own_scopes",
				Detail:  "You can't grant scopes that your own token doesn't have: " + name + ".",
			})
		}
	}
	var out []string
	for _, scope := range access.Scopes() {
		if slices.Contains(names, string(scope)) {
			out = append(out, string(scope))
		}
	}
	return out, wrong
}

func allScopes() string {
	var names []string
	for _, scope := range access.Scopes() {
		names = append(names, string(scope))
	}
	return strings.Join(names, ", ")
}
