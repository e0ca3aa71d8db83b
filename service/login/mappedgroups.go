package login

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/models"
	"postern/platform/federation"
	"postern/service/access"
	"postern/service/directory"
)

// mapped is what a provider's claims say about groups at one sign-in: nothing of the claims
// themselves is kept.
type mapped struct {
	Groups   []string // ids
	Withheld []string `json:",omitempty"` // claims that the provider did not send
}

// claimRules are the group mappings of a provider.
type claimRules []models.GroupMapping

func (r claimRules) paths() []federation.ClaimPath {
	var out []federation.ClaimPath
	for _, rule := range r {
		if path, err := federation.ParseClaimPath(rule.Claim); err == nil {
			out = append(out, path)
		}
	}
	return out
}

// find returns what the provider states for a rule. An e-mail address that the provider has
// not verified is not stated: on some providers users type any address.
func find(rule models.GroupMapping, identity federation.Identity) federation.Finding {
	path, err := federation.ParseClaimPath(rule.Claim)
	if err != nil || identity.Claims == nil || slices.Equal(path, federation.ClaimPath{"email"}) && !identity.EmailVerified {
		return federation.Finding{}
	}
	return identity.Claims.Find(path)
}

// holds reports whether a rule puts a user with these values into its group.
func holds(rule models.GroupMapping, values []string) bool {
	return slices.ContainsFunc(values, func(value string) bool {
		return value == rule.Value || rule.Match == MatchPrefix && strings.HasPrefix(value, rule.Value)
	})
}

// evaluate returns the groups of a user who signs in, nil without rules. A claim that the
// provider withholds counts as absent: a membership that cannot be proven any more ends.
func (r claimRules) evaluate(identity federation.Identity) *mapped {
	if len(r) == 0 {
		return nil
	}
	out := &mapped{Groups: []string{}}
	for _, rule := range r {
		found := find(rule, identity)
		if holds(rule, found.Values) && !slices.Contains(out.Groups, rule.GroupID) {
			out.Groups = append(out.Groups, rule.GroupID)
		}
		if found.Withheld && !slices.Contains(out.Withheld, rule.Claim) {
			out.Withheld = append(out.Withheld, rule.Claim)
		}
	}
	return out
}

// lockForMapping locks the tenant if a sign-in changes groups. It comes before the user is
// locked; see models.Tx.LockEndUser.
func lockForMapping(tx *models.Tx, tenant string, entry ticket) error {
	if entry.Mapped == nil {
		return nil
	}
	_, err := tx.LockTenant(tenant)
	return err
}

// mappedChange is in the audit entry of a sign-in that changed groups.
type mappedChange struct{ Added, Removed []string } // names of groups

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
	targets := targetsOf(rules)
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
	removed, err := removeMapped(tx, user, provider, held, wanted)
	if err != nil {
		return err
	}
	if len(entry.Mapped.Withheld) > 0 {
		s.Log.Warn("a provider withheld claims that groups are mapped from",
			"provider", provider, "user", user.ID, "claims", entry.Mapped.Withheld)
	}
	return s.tellMapped(ctx, tx, client, entry, user, added, removed)
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
	tx *models.Tx, user models.EndUser, provider string, held, wanted []string,
) (removed []string, err error) {
	for _, group := range held {
		if slices.Contains(wanted, group) {
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

// tellMapped writes the audit entry and the webhook events of a user's groups that a sign-in
// changed.
func (s *Service) tellMapped(
	ctx context.Context, tx *models.Tx, client models.AppClient, entry ticket, user models.EndUser,
	added, removed []string,
) error {
	changed := slices.Concat(added, removed)
	if len(changed) == 0 {
		return nil
	}
	tenant, team, err := teamOf(tx, client.TenantID)
	if err != nil {
		return err
	}
	groups, err := tx.GroupsWithin(tenant.ID, changed)
	if err != nil {
		return err
	}
	var change mappedChange
	for _, group := range groups {
		if slices.Contains(added, group.ID) {
			change.Added = append(change.Added, group.Name)
		} else {
			change.Removed = append(change.Removed, group.Name)
		}
	}
	detail := map[string]string{"tenant": tenant.ID, "by": "claims", "provider": entry.Identity.Provider}
	if len(entry.Mapped.Withheld) > 0 {
		detail["withheld"] = strings.Join(entry.Mapped.Withheld, " ")
	}
	err = access.Record(tx, access.Principal{}, access.Entry{
		Action: access.UserUpdate,
		Object: user.ID,
		Team:   team,
		Detail: detail,
		After:  change,
	})
	if err != nil {
		return fmt.Errorf("login: record the groups of %s: %w", user.ID, err)
	}
	return directory.TellGroupMembers(ctx, s.Events, tx, tenant, team, groups...)
}
