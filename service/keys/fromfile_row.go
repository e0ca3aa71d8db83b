package keys

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/keyfile"
	"postern/models"
	"postern/platform/fault"
)

// keyOf returns the key of a row, or the mistakes in the row.
func (b *batchOf) keyOf(in *keyfile.Row) (models.APIKey, []fault.Field, error) {
	key, wrong, err := NewImported(in, b.in.AllowWeak, b.now)
	if err != nil {
		return key, nil, err
	}
	key.TeamID, key.ProjectID = b.project.TeamID, b.project.ID
	return key, append(wrong, b.placeOf(in, &key)...), nil
}

// NewImported returns the key of a row by the rules of new keys, without its team, project, tenant, key type and
// product.
func NewImported(in *keyfile.Row, allowWeak bool, now time.Time) (models.APIKey, []fault.Field, error) {
	key := models.APIKey{
		ID: models.NewID("key"), Owner: in.Owner, Environment: in.Environment, State: in.State, Hash: in.SHA256[:],
		UpdatedAt: now,
		KeyDetails: contract.KeyDetails{
			Description: describe(in), Prefix: in.Prefix, Last4: in.Last4, CreatedAt: now,
		},
	}
	if !in.CreatedAt.IsZero() {
		key.CreatedAt = *storable(&in.CreatedAt)
	}
	if !in.ExpiresAt.IsZero() {
		key.ExpiresAt = storable(&in.ExpiresAt)
	}
	if in.Limits != nil {
		key.Limits = &in.Limits
	}
	if in.CredentialID != "" {
		key.CredentialID = &in.CredentialID
	}
	if in.Consumer != (keyfile.Consumer{}) {
		key.Consumer = &contract.Consumer{
			ID: in.Consumer.ID, Username: in.Consumer.Username, CustomID: in.Consumer.CustomID,
		}
	}
	if in.Metadata != nil {
		if err := key.Metadata.UnmarshalJSON(in.Metadata); err != nil {
			return key, nil, err
		}
	}
	wrong := checkIdentity("", key.KeyIdentity)
	if in.Weak && !allowWeak {
		wrong = append(wrong, fault.Field{Pointer: "/key", Code: keyfile.CodeWeak, Detail: "The key has fewer than " +
			"16 characters or fewer than 8 different characters, so it can be guessed. Give its owner a new key, or " +
			"import with allow_weak (--allow-weak)."})
	}
	if !ValidOwner(in.Owner) {
		wrong = append(wrong, ownerFault)
	}
	wrong = append(append(wrong, checkDetails("", key.KeyDetails)...), CheckLimits("/limits", in.Limits)...)
	if in.ExpiresAt.After(now.AddDate(maxYears, 0, 0)) {
		wrong = append(wrong, fault.Field{Pointer: "/expires_at", Code: "invalid_expiry",
			Detail: fmt.Sprintf("Use a time at most %d years from now.", maxYears)})
	}
	var more []fault.Field
	key.AllowedCIDRs, more = ReadRanges("/allowed_cidrs", in.AllowedCIDRs, MaxRanges)
	return key, append(wrong, more...), nil
}

// SameAttributes reports whether two keys have the same owner, place, state, limits, addresses, expiry and identity.
func SameAttributes(a, b *models.APIKey) bool {
	ends := a.ExpiresAt == nil && b.ExpiresAt == nil ||
		a.ExpiresAt != nil && b.ExpiresAt != nil && a.ExpiresAt.Equal(*b.ExpiresAt)
	return ends && a.State == b.State && attributesOf(a) == attributesOf(b)
}

// describe joins the name and the description of a row.
func describe(in *keyfile.Row) string {
	if in.Name == "" || in.Description == "" {
		return in.Name + in.Description
	}
	return in.Name + ": " + in.Description
}

// placeOf sets the objects of the project that a row names.
func (b *batchOf) placeOf(in *keyfile.Row, key *models.APIKey) (wrong []fault.Field) {
	refuse := func(pointer, code, detail string, args ...any) {
		wrong = append(wrong, fault.Field{Pointer: pointer, Code: code, Detail: fmt.Sprintf(detail, args...)})
	}
	key.TenantID = b.known.ownTenant
	if in.Tenant != "" {
		if key.TenantID = b.known.tenants[in.Tenant]; key.TenantID == "" {
			refuse("/tenant", "unknown_tenant", "This project doesn't serve the tenant %q. Attach the tenant to the "+
				"project first.", in.Tenant)
		}
	}
	if in.Environment != "" && !b.known.environments[in.Environment] {
		refuse("/environment", "unknown_environment", "This project has no environment %q.", in.Environment)
	}
	if in.Product != "" {
		if key.ProductID = b.project.ProductID; b.known.product.Name != in.Product {
			refuse("/product", "unknown_product", "This project isn't in the product %q. Add it to the product "+
				"first, or leave this field out.", in.Product)
		}
	}
	id, more := b.typeOf(in)
	key.KeyTypeID = id
	return append(wrong, more...)
}

// checkKeyType refuses a key type for all rows that the project doesn't have.
func (b *batchOf) checkKeyType() error {
	names := make([]string, 0, len(b.known.types))
	for _, one := range b.known.types {
		names = append(names, one.Name)
	}
	if b.in.KeyType == "" || slices.Contains(names, b.in.KeyType) {
		return nil
	}
	slices.Sort(names)
	return fault.InvalidField("/key_type", "unknown_key_type", "Use one of the project's key types: %s.",
		strings.Join(names, ", "))
}

// longestShown is how many bytes of a cell an answer repeats. A longer cell may be a key, if columns were mixed up.
const longestShown = 15

// withoutCells returns a text about a row without what the row has, unless that is too short for a key.
func withoutCells(text string, in *keyfile.Row) string {
	cells := append([]string{
		in.Owner, in.Name, in.Description, in.KeyType, in.Tenant, in.Product, in.Environment, in.CredentialID,
		in.Consumer.ID, in.Consumer.Username, in.Consumer.CustomID,
	}, in.Scopes...)
	for _, cell := range append(cells, in.AllowedCIDRs...) {
		if len(cell) > longestShown {
			quoted := strconv.Quote(cell)
			text = strings.ReplaceAll(strings.ReplaceAll(text, cell, "…"), quoted[1:len(quoted)-1], "…")
		}
	}
	return text
}

// typeOf finds or creates the key type of a row.
func (b *batchOf) typeOf(in *keyfile.Row) (id string, wrong []fault.Field) {
	name := in.KeyType
	switch {
	case len(in.Scopes) > 0:
		return b.typeWith(in.Scopes)
	case in.Scopes != nil:
		return "", []fault.Field{{Pointer: "/scopes", Code: "no_scopes", Detail: "The key has no scopes, so it " +
			"can't do anything. Give the row scopes or a key type."}}
	case name == "" && b.in.KeyType == "":
		return "", []fault.Field{{Pointer: "/key_type", Code: "key_type_required", Detail: "The row has neither " +
			"scopes nor a key type. Set a default key type with key_type (--key-type), or add a column with key " +
			"types."}}
	case name == "":
		name = b.in.KeyType
	}
	i := slices.IndexFunc(b.known.types, func(t models.KeyType) bool { return t.Name == name })
	if i < 0 {
		return "", []fault.Field{{Pointer: "/key_type", Code: "unknown_key_type",
			Detail: fmt.Sprintf("This project has no key type %q.", name)}}
	}
	return b.known.types[i].ID, nil
}

func (b *batchOf) typeWith(scopes []string) (id string, wrong []fault.Field) {
	if found, ok := withScopes(b.known.types, scopes); ok {
		return found.ID, nil
	}
	if wrong = CheckScopes("/scopes", scopes); len(wrong) > 0 {
		return "", wrong
	}
	if len(b.known.types) >= MaxTypes+2 { // and the built-in full and read-only
		return "", []fault.Field{{Pointer: "/scopes", Code: "too_many_key_types", Detail: fmt.Sprintf("No key type "+
			"has exactly these scopes, and a project can have at most %d custom key types. Use the scopes of an "+
			"existing key type.", MaxTypes)}}
	}
	made := newType(b.project.ID, b.known.types, scopes)
	b.known.types, b.invented = append(b.known.types, made), append(b.invented, made)
	return made.ID, nil
}

// ownerFault is the mistake in an owner.
var ownerFault = fault.Field{
	Pointer: "/owner",
	Code:    "invalid_owner",
	Detail:  "Enter the owner of the key, such as billing-service. " + OwnerRule,
}
