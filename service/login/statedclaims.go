package login

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"postern/core/contract"
	"postern/models"
	"postern/platform/federation"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/appclients"
)

// Stated has a provider's claims about a user in a test login, and the result of its group mappings.
type Stated struct {
	Claims   []Member // of the ID token and userinfo, shortened
	More     int      // claims that are not among these
	Mappings []MappingOutcome
}

// MappingOutcome is a group mapping with the values that its claim had.
type MappingOutcome struct {
	contract.NamedGroupMapping

	Values      []string // the first of them
	More        int      // values that are not among these
	Holds       bool
	Withheld    bool // see federation.Finding
	Unavailable bool // see federation.Finding
}

// Limits on the claims that a test login shows.
const (
	maxShownClaims = 100
	maxShownValues = 20
	maxShownBytes  = 1000     // of one claim
	maxShownSum    = 64 << 10 // bytes of all claims, and again of the values of all mappings, as JSON
)

// allowance is how many bytes of JSON may still be stored. Many rules can name one long
// claim, and a provider writes the claims: only their sum bounds the row.
type allowance int

// take reports whether the texts fit, and subtracts them if so.
func (a *allowance) take(texts ...string) bool {
	encoded, err := json.Marshal(texts) // escapes make a text up to six times as long
	if err != nil || len(encoded) > int(*a) {
		return false
	}
	*a -= allowance(len(encoded))
	return true
}

func statedPlace(attempt string) secrets.Place {
	return secrets.Place{
		Table:   "login_attempts",
		Row:     attempt,
		Column:  "stated",
		Purpose: secrets.ForControl,
	}
}

// keepStated stores a provider's claims in a test login until its result is shown.
func (s *Service) keepStated(
	ctx context.Context, attempt models.LoginAttempt, row models.Provider, identity federation.Identity,
) error {
	client, err := s.client(ctx, row.AppClientID)
	if err != nil {
		return err
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		tenant, team, err := access.TenantAndTeam(tx, client.TenantID)
		if err != nil {
			return err
		}
		mappings, err := appclients.MappingsOf(tx, tenant, row.ID)
		if err != nil {
			return err
		}
		plain, err := json.Marshal(statedBy(identity, mappings.Mappings))
		if err != nil {
			return err
		}
		sealed, err := s.Vault.Seal(tx, team, statedPlace(attempt.ID), secrets.Secret(plain))
		if err != nil {
			return err
		}
		return tx.SetStatedClaims(attempt.ID, sealed)
	})
	if err != nil {
		return fmt.Errorf("login: keep the claims of the test login %s: %w", attempt.ID, err)
	}
	return nil
}

func statedBy(identity federation.Identity, mappings []contract.NamedGroupMapping) Stated {
	var out Stated
	out.Claims, out.More = shownClaims(identity.Claims)
	left := allowance(maxShownSum)
	for _, one := range mappings {
		rule := models.GroupMapping{Claim: one.Claim, Value: one.Value, Match: one.Match, GroupID: one.Group}
		found := find(rule, identity)
		shown := found.Values[:min(len(found.Values), maxShownValues)]
		for i, value := range shown {
			if !left.take(value) {
				shown = shown[:i]
				break
			}
		}
		out.Mappings = append(out.Mappings, MappingOutcome{
			NamedGroupMapping: one,
			Values:            shown,
			More:              len(found.Values) - len(shown),
			Holds:             holds(rule, found.Values),
			Withheld:          found.Withheld,
			Unavailable:       found.Unavailable,
		})
	}
	return out
}

// shownClaims returns the first claims by name, and how many more there are.
func shownClaims(claims *federation.ClaimSet) (shown []Member, more int) {
	if claims == nil {
		return nil, 0
	}
	all := claims.List(math.MaxInt, maxShownBytes)
	left := allowance(maxShownSum)
	for i, claim := range all {
		if i == maxShownClaims || !left.take(claim.Name, claim.Value) {
			return shown, len(all) - i
		}
		shown = append(shown, Member(claim))
	}
	return shown, 0
}

// takeStated returns what keepStated stored for an attempt, and deletes it.
func (s *Service) takeStated(tx *models.Tx, attempt models.LoginAttempt) (Stated, error) {
	var out Stated
	if len(attempt.Stated) == 0 {
		return out, nil
	}
	plain, err := s.Vault.Open(tx, statedPlace(attempt.ID), attempt.Stated)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal([]byte(plain.Reveal()), &out); err != nil {
		return out, err
	}
	return out, tx.SetStatedClaims(attempt.ID, nil)
}
