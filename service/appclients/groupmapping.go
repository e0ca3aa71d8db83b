package appclients

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/federation"
	"postern/service/access"
	"postern/service/directory"
	"postern/service/login/providers"
)

// MappingID identifies a rule among those of its provider, for addresses.
func MappingID(m contract.GroupMapping) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", m.Claim, m.Match, m.Value, m.Group))
	return hex.EncodeToString(sum[:8])
}

// MaxMappings bounds the rules of a provider.
const MaxMappings = 200

const (
	maxMappedValue  = 200 // bytes
	mappingsPointer = "/mappings"
)

// GroupMappings returns the rules by which a provider's claims put users into groups.
func (s *Service) GroupMappings(
	ctx context.Context, p access.Principal, in contract.ProviderPath,
) (contract.GroupMappings, error) {
	tx, provider := s.DB.Read(ctx), in.Provider
	row, tenant, _, err := findProvider(tx, p, provider, access.LoginRead)
	if err != nil {
		return contract.GroupMappings{}, fmt.Errorf("appclients: group mappings of %s: %w", provider, err)
	}
	out, err := MappingsOf(tx, tenant, row.ID)
	if err != nil {
		return contract.GroupMappings{}, fmt.Errorf("appclients: group mappings of %s: %w", provider, err)
	}
	return out, nil
}

// SetGroupMappings replaces the rules of a provider. Users leave groups that no rule names any more at
// once; all else follows at their next sign-in. The caller needs access to the tenant's
// users as well.
func (s *Service) SetGroupMappings(
	ctx context.Context, p access.Principal, in contract.GroupMappingsUpdate,
) (contract.GroupMappings, error) {
	return s.changeMappings(ctx, p, in.Provider, func(now contract.GroupMappings) ([]contract.GroupMapping, error) {
		return in.Body.Mappings, access.Unchanged(in.IfMatch, now.ETag)
	})
}

// AddGroupMapping adds a rule behind the others. See SetGroupMappings.
func (s *Service) AddGroupMapping(
	ctx context.Context, p access.Principal, provider string, rule contract.GroupMapping,
) (contract.GroupMappings, error) {
	return s.changeMappings(ctx, p, provider, func(now contract.GroupMappings) ([]contract.GroupMapping, error) {
		return append(now.Rules(), rule), nil
	})
}

// RemoveGroupMapping removes the rule with the MappingID, NotFound if there is none.
func (s *Service) RemoveGroupMapping(
	ctx context.Context, p access.Principal, provider, id string,
) (contract.GroupMappings, error) {
	return s.changeMappings(ctx, p, provider, func(now contract.GroupMappings) ([]contract.GroupMapping, error) {
		left := slices.DeleteFunc(now.Rules(), func(one contract.GroupMapping) bool { return MappingID(one) == id })
		if len(left) == len(now.Mappings) {
			return nil, fault.New(fault.NotFound, "not_found", "This mapping doesn't exist.")
		}
		return left, nil
	})
}

// auditedMappings has the values that the audit entry of a provider's rules compares.
type auditedMappings struct{ Mappings []contract.NamedGroupMapping }

// changeMappings applies change to the rules of a provider.
func (s *Service) changeMappings(
	ctx context.Context, p access.Principal, provider string,
	change func(contract.GroupMappings) ([]contract.GroupMapping, error),
) (contract.GroupMappings, error) {
	var out contract.GroupMappings
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, tenant, team, err := findProvider(tx, p, provider, access.LoginUpdate)
		if err != nil {
			return err
		}
		if _, _, err := access.Tenant(tx, p, tenant.ID, access.UserUpdate); err != nil {
			return err
		}
		if _, err := tx.LockTenant(tenant.ID); err != nil {
			return err
		}
		before, err := MappingsOf(tx, tenant, row.ID)
		if err != nil {
			return err
		}
		list, err := change(before)
		if err != nil {
			return err
		}
		rows, err := checkMappings(tx, tenant, row, list)
		if err != nil {
			return err
		}
		if err := tx.SetGroupMappings(row.ID, rows); err != nil {
			return err
		}
		if err := tx.ForgetUnstatedClaims(row.ID); err != nil {
			return err
		}
		if err := s.endMappings(ctx, tx, tenant, team, []string{row.ID}, MappedGroups(rows)); err != nil {
			return err
		}
		if out, err = MappingsOf(tx, tenant, row.ID); err != nil {
			return err
		}
		client, err := tx.AppClientByID(row.AppClientID)
		if err != nil {
			return err
		}
		entry := providerEntry(client, team, s.shownProvider(row))
		entry.Before, entry.After = auditedMappings{before.Mappings}, auditedMappings{out.Mappings}
		return access.RecordServed(tx, p, tenant, entry)
	})
	if err != nil {
		return contract.GroupMappings{}, fmt.Errorf("appclients: set the group mappings of %s: %w", provider, err)
	}
	s.Changed(ctx)
	return out, nil
}

// endMappings takes users out of the groups that only claims of these providers put them
// into, but for the groups kept. The tenant is locked.
func (s *Service) endMappings(
	ctx context.Context, tx *models.Tx, tenant models.Tenant, team string, providerIDs, kept []string,
) error {
	left, err := tx.EndMappings(providerIDs, kept)
	if err != nil || len(left) == 0 {
		return err
	}
	groups, err := tx.GroupsWithin(tenant.ID, left)
	if err != nil {
		return err
	}
	return directory.EmitGroupMembers(ctx, s.Events, tx, tenant, team, groups...)
}

// endMappingsOf is endMappings for an app client or provider that is about to be deleted.
func (s *Service) endMappingsOf(
	ctx context.Context, tx *models.Tx, tenant models.Tenant, team string, rows ...models.Provider,
) error {
	if len(rows) == 0 {
		return nil
	}
	if _, err := tx.LockTenant(tenant.ID); err != nil {
		return err
	}
	var ids []string
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return s.endMappings(ctx, tx, tenant, team, ids, nil)
}

// MappingsOf returns the rules of a provider, with the names of their groups.
func MappingsOf(tx *models.Tx, tenant models.Tenant, provider string) (contract.GroupMappings, error) {
	rows, err := tx.GroupMappingsOf(provider)
	if err != nil {
		return contract.GroupMappings{}, err
	}
	groups, err := tx.GroupsWithin(tenant.ID, MappedGroups(rows))
	if err != nil {
		return contract.GroupMappings{}, err
	}
	names := map[string]string{}
	for _, group := range groups {
		names[group.ID] = group.Name
	}
	sum := sha256.Sum256(fmt.Append(nil, rows))
	out := contract.GroupMappings{Mappings: []contract.NamedGroupMapping{}, ETag: hex.EncodeToString(sum[:8])}
	for _, row := range rows {
		rule := contract.GroupMapping{Claim: row.Claim, Value: row.Value, Match: row.Match, Group: row.GroupID}
		named := contract.NamedGroupMapping{GroupMapping: rule, GroupName: names[row.GroupID]}
		out.Mappings = append(out.Mappings, named)
	}
	return out, nil
}

// MappedGroups returns the groups that rules name, each once.
func MappedGroups(rows []models.GroupMapping) []string {
	var out []string
	for _, row := range rows {
		if !slices.Contains(out, row.GroupID) {
			out = append(out, row.GroupID)
		}
	}
	return out
}

// checkMappings returns the rows of a provider's rules, and refuses invalid ones.
func checkMappings(
	tx *models.Tx, tenant models.Tenant, provider models.Provider, list []contract.GroupMapping,
) ([]models.GroupMapping, error) {
	if err := takesMappings(provider, list); err != nil {
		return nil, err
	}
	var wrong []fault.Field
	var rows []models.GroupMapping
	for i, one := range list {
		row := models.GroupMapping{
			ProviderID: provider.ID,
			Position:   int64(i),
			Claim:      strings.TrimSpace(one.Claim),
			Value:      one.Value,
			Match:      one.Match,
		}
		if row.Match == "" {
			row.Match = contract.MatchExact
		}
		fields := checkMapping(provider, row)
		group, err := groupOf(tx, tenant, one.Group)
		if err != nil {
			return nil, err
		}
		if row.GroupID = group.ID; row.GroupID == "" {
			fields = append(fields, fault.Field{
				Pointer: "/group",
				Code:    "unknown_group",
				Detail:  "The app client's tenant has no group with this name or ID. Create the group first.",
			})
		}
		same := func(o models.GroupMapping) bool {
			return o.Claim == row.Claim && o.Value == row.Value && o.Match == row.Match && o.GroupID == row.GroupID
		}
		if len(fields) == 0 && slices.ContainsFunc(rows, same) {
			fields = append(fields, fault.Field{Code: "duplicate", Detail: "This mapping is listed twice. Remove one."})
		}
		for _, field := range fields {
			field.Pointer = fmt.Sprintf("%s/%d%s", mappingsPointer, i, field.Pointer)
			wrong = append(wrong, field)
		}
		rows = append(rows, row)
	}
	return rows, fault.InvalidFields(wrong)
}

// takesMappings refuses mappings for a provider that doesn't send claims.
func takesMappings(provider models.Provider, list []contract.GroupMapping) error {
	traits, _ := providers.TraitsOf(provider.Type)
	switch {
	case len(list) > MaxMappings:
		return fault.InvalidField(mappingsPointer, "too_many", "Use at most %d mappings.", MaxMappings)
	case len(list) == 0:
		return nil
	case provider.Managed:
		return fault.InvalidField(
			mappingsPointer, "managed_has_its_own",
			"A managed provider requests only the user's identity. To map groups, register your own OAuth app with %s.",
			traits.Label,
		)
	case traits.StatesClaims():
		return nil
	}
	return fault.InvalidField(
		mappingsPointer, "no_claims", "%s doesn't send claims that can be mapped to groups. Remove the mappings.",
		traits.Label,
	)
}

func checkMapping(provider models.Provider, row models.GroupMapping) []fault.Field {
	traits, _ := providers.TraitsOf(provider.Type)
	var wrong []fault.Field
	refuse := func(ok bool, pointer, code, detail string) {
		if !ok {
			wrong = append(wrong, fault.Field{Pointer: pointer, Code: code, Detail: detail})
		}
	}
	_, err := federation.ParseClaimPath(row.Claim)
	refuse(err == nil, "/claim", "invalid_claim", "Use the path to a claim, such as groups or realm_access.roles, "+
		`with at most 200 bytes and 10 names. To escape a dot in a name, write \. (not needed in URLs).`)
	refuse(
		err != nil || traits.HasIDToken || slices.Contains(traits.Claims, row.Claim), "/claim", "unknown_claim",
		"For "+traits.Label+", use one of these claims: "+strings.Join(traits.Claims, ", ")+".",
	)
	refuse(row.Value != "", "/value", "required", "Enter the value that the claim must have.")
	refuse(
		len(row.Value) <= maxMappedValue && utf8.ValidString(row.Value) &&
			!strings.ContainsFunc(row.Value, providers.Unprintable),
		"/value", "invalid_value", fmt.Sprintf("Use at most %d bytes on one line.", maxMappedValue),
	)
	refuse(
		row.Match == contract.MatchExact || row.Match == contract.MatchPrefix,
		"/match", "invalid_match", "Use exact or prefix.",
	)
	return wrong
}

// groupOf finds a group of a tenant by its id or name, the zero UserGroup if there is none.
func groupOf(tx *models.Tx, tenant models.Tenant, ref string) (models.UserGroup, error) {
	if ref == "" {
		return models.UserGroup{}, nil
	}
	for _, filter := range []models.GroupFilter{{ID: ref}, {Name: ref}} {
		found, _, err := tx.UserGroupsFrom(tenant.ID, filter, 0, 1)
		if err != nil {
			return models.UserGroup{}, err
		}
		if len(found) > 0 {
			return found[0], nil
		}
	}
	return models.UserGroup{}, nil
}
