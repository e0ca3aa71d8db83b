package login

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/federation"
	"postern/service/access"
	"postern/service/appclients"
	"postern/service/directory"
)

// mapped is the result of a provider's claims about groups at one sign-in: nothing of the claims themselves is kept.
type mapped struct {
	Groups      []string // ids
	Kept        []string `json:",omitempty"` // ids of groups that a member stays in
	Withheld    []string `json:",omitempty"` // claims that the provider did not send
	Unavailable []string `json:",omitempty"` // claims that it failed to state
}

// claimRules are the group mappings of a provider.
type claimRules []models.GroupMapping

func (s *Service) rulesOf(ctx context.Context, provider string) (claimRules, error) {
	rules, err := s.DB.Read(ctx).GroupMappingsOf(provider)
	if err != nil {
		return nil, fmt.Errorf("login: group mappings of %s: %w", provider, err)
	}
	return rules, nil
}

func (r claimRules) paths() []federation.ClaimPath {
	var out []federation.ClaimPath
	for _, rule := range r {
		if path, err := federation.ParseClaimPath(rule.Claim); err == nil {
			out = append(out, path)
		}
	}
	return out
}

// find returns what the provider states for a rule. An email address that the provider has
// not verified is not stated: on some providers users type any address.
func find(rule models.GroupMapping, identity federation.Identity) federation.Finding {
	path, err := federation.ParseClaimPath(rule.Claim)
	unproven := slices.Equal(path, federation.ClaimPath{"email"}) && !identity.EmailVerified
	if err != nil || identity.Claims == nil || unproven {
		return federation.Finding{}
	}
	return identity.Claims.Find(path)
}

// holds reports whether a rule puts a user with these values into its group.
func holds(rule models.GroupMapping, values []string) bool {
	return slices.ContainsFunc(values, func(value string) bool {
		return value == rule.Value || rule.Match == contract.MatchPrefix && strings.HasPrefix(value, rule.Value)
	})
}

// evaluate returns the groups of a user who signs in, nil without rules. A claim that the
// provider withholds counts as absent: a membership that cannot be proven any more ends. One
// that it fails to state changes nothing: an outage ends no membership.
func (r claimRules) evaluate(identity federation.Identity) *mapped {
	if len(r) == 0 {
		return nil
	}
	out := &mapped{Groups: []string{}}
	for _, rule := range r {
		found := find(rule, identity)
		if holds(rule, found.Values) {
			out.Groups = withOne(out.Groups, rule.GroupID)
		}
		if found.Withheld {
			out.Withheld = withOne(out.Withheld, rule.Claim)
		}
		if found.Unavailable {
			out.Kept, out.Unavailable = withOne(out.Kept, rule.GroupID), withOne(out.Unavailable, rule.Claim)
		}
	}
	return out
}

// withOne returns the list with a text in it once.
func withOne(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// lockForSignIn locks the tenant if a sign-in changes groups or is an identity's first. It comes before
// other rows are locked; see models.Tx.LockEndUser.
func lockForSignIn(tx *models.Tx, tenant string, entry ticket) error {
	if entry.Mapped == nil {
		if _, known, err := directory.FindByIdentity(tx, entry.Identity); err != nil || known {
			return err
		}
	}
	_, err := tx.LockTenant(tenant)
	return err
}

// mappedChange is in the audit entry of a sign-in that changed groups, or at which other
// claims were not stated than at the one before.
type mappedChange struct {
	Added, Removed        []string // names of groups
	Withheld, Unavailable []string // claims
}

// applyMapped puts a user into the groups that the claims of their sign-in map to, and takes
// them out of those that only earlier claims of the same provider put them into. The tenant
// is locked. Rules that were removed since the provider answered do not count.
func (s *Service) applyMapped(
	ctx context.Context, tx *models.Tx, client models.AppClient, entry ticket, user models.EndUser, now time.Time,
) error {
	if entry.Mapped == nil {
		return nil
	}
	provider := entry.Identity.Provider
	rules, err := tx.GroupMappingsOf(provider)
	if err != nil {
		return err
	}
	targets := appclients.MappedGroups(rules)
	wanted := slices.DeleteFunc(slices.Clone(entry.Mapped.Groups), func(group string) bool {
		return !slices.Contains(targets, group)
	})
	held, err := tx.GroupsMappedFor(user.ID, provider)
	if err != nil {
		return err
	}
	added, err := addMapped(tx, user, provider, wanted, now)
	if err != nil {
		return err
	}
	removed, err := removeMapped(tx, user, provider, held, slices.Concat(wanted, entry.Mapped.Kept))
	if err != nil {
		return err
	}
	s.warnOfMapped(ctx, entry, user)
	unstated, err := tx.SetUnstatedClaims(models.UnstatedClaims{
		UserID:      user.ID,
		ProviderID:  provider,
		Withheld:    strings.Join(entry.Mapped.Withheld, "\n"), // which no claim has in its name
		Unavailable: strings.Join(entry.Mapped.Unavailable, "\n"),
	})
	if err != nil {
		return err
	}
	return s.emitMapped(ctx, tx, client, entry, user, mappedOutcome{added, removed, unstated})
}

// warnOfMapped logs the claims that were not stated.
func (s *Service) warnOfMapped(ctx context.Context, entry ticket, user models.EndUser) {
	provider := entry.Identity.Provider
	if claims := entry.Mapped.Withheld; len(claims) > 0 {
		s.Log.WarnContext(ctx, "a provider withheld claims that group mappings use",
			"provider", provider, "user", user.ID, "claims", claims)
	}
	if claims := entry.Mapped.Unavailable; len(claims) > 0 {
		s.Log.WarnContext(ctx, "a provider didn't send claims that group mappings use; users keep their groups",
			"provider", provider, "user", user.ID, "claims", claims)
	}
}

func addMapped(
	tx *models.Tx, user models.EndUser, provider string, wanted []string, now time.Time,
) (added []string, err error) {
	for _, group := range wanted {
		member := models.GroupMember{GroupID: group, UserID: user.ID, Role: directory.RoleMember, CreatedAt: now}
		isNew, err := tx.AddMappedMember(member, provider)
		if err != nil {
			return nil, err
		}
		if isNew {
			added = append(added, group)
		}
	}
	return added, nil
}

func removeMapped(
	tx *models.Tx, user models.EndUser, provider string, held, kept []string,
) (removed []string, err error) {
	for _, group := range held {
		if slices.Contains(kept, group) {
			continue
		}
		left, err := tx.RemoveMappedMember(group, user.ID, provider)
		if err != nil {
			return nil, err
		}
		if left {
			removed = append(removed, group)
		}
	}
	return removed, nil
}

// mappedOutcome has the changes of a sign-in: groups by id, and the claims that were not stated before it.
type mappedOutcome struct {
	added, removed []string
	unstated       models.UnstatedClaims
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// emitMapped writes the audit entry of what a sign-in changed, and the webhook events of the
// groups among it.
func (s *Service) emitMapped(
	ctx context.Context, tx *models.Tx, client models.AppClient, entry ticket, user models.EndUser,
	outcome mappedOutcome,
) error {
	before := mappedChange{
		Withheld:    linesOf(outcome.unstated.Withheld),
		Unavailable: linesOf(outcome.unstated.Unavailable),
	}
	change := mappedChange{Withheld: entry.Mapped.Withheld, Unavailable: entry.Mapped.Unavailable}
	changed := slices.Concat(outcome.added, outcome.removed)
	if len(changed) == 0 && slices.Equal(before.Withheld, change.Withheld) &&
		slices.Equal(before.Unavailable, change.Unavailable) {
		return nil
	}
	tenant, team, err := access.TenantAndTeam(tx, client.TenantID)
	if err != nil {
		return err
	}
	groups, err := tx.GroupsWithin(tenant.ID, changed)
	if err != nil {
		return err
	}
	for _, group := range groups {
		if slices.Contains(outcome.added, group.ID) {
			change.Added = append(change.Added, group.Name)
		} else {
			change.Removed = append(change.Removed, group.Name)
		}
	}
	detail := map[string]string{"tenant": tenant.ID, "by": "claims", "provider": entry.Identity.Provider}
	if len(change.Withheld) > 0 {
		detail["withheld"] = strings.Join(change.Withheld, " ")
	}
	if len(change.Unavailable) > 0 {
		detail["unavailable"] = strings.Join(change.Unavailable, " ")
	}
	err = access.Record(tx, access.Principal{}, access.Entry{
		Action: access.UserUpdate,
		Object: user.ID,
		Name:   directory.NameOf(user),
		Team:   team,
		Detail: detail,
		Before: before,
		After:  change,
	})
	if err != nil {
		return fmt.Errorf("login: record the groups of %s: %w", user.ID, err)
	}
	return directory.EmitGroupMembers(ctx, s.Events, tx, tenant, team, groups...)
}
