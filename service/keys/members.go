package keys

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
)

// Limits on the input of callers.
const (
	maxOwner       = 128
	maxDescription = 500
	maxMetadata    = 4096
	maxYears       = 100 // of a key's life; RFC 3339 ends with the year 9999
)

// Mint creates the row and the plaintext of a new key from valid input.
func Mint(
	prefix string, parent models.Project, tenantID string, keyType models.KeyType, in contract.NewKey, now time.Time,
) (models.APIKey, string, error) {
	row := models.APIKey{
		ID: models.NewID("key"), TeamID: parent.TeamID, ProjectID: parent.ID, TenantID: tenantID,
		KeyTypeID: keyType.ID, Owner: in.Owner, Environment: in.Environment, State: string(snapshot.KeyActive),
		UpdatedAt:   now,
		KeyDetails:  contract.KeyDetails{Description: in.Description, CreatedAt: now},
		KeyIdentity: contract.KeyIdentity{Metadata: in.Metadata},
	}
	row.ExpiresAt = storable(in.ExpiresAt)
	if row.ExpiresAt == nil && keyType.ExpiresIn > 0 {
		until := now.Add(time.Duration(keyType.ExpiresIn) * time.Second)
		row.ExpiresAt = &until
	}
	plaintext, err := setSecret(&row, prefix)
	return row, plaintext, err
}

// apply changes the row and returns the errors of the fields that are invalid; with any
// of them, the row must not be saved.
func apply(in contract.KeyChange, row *models.APIKey, now time.Time) []fault.Field {
	wrong := checkExpiry(in.ExpiresAt.Value, now)
	if in.ExpiresAt.Sent {
		row.ExpiresAt = storable(in.ExpiresAt.Value)
	}
	if in.Description != nil {
		row.Description = *in.Description
	}
	if in.Metadata != nil {
		row.Metadata = *in.Metadata
	}
	wrong = append(append(wrong, checkDetails("", row.KeyDetails)...), checkIdentity("", row.KeyIdentity)...)
	if in.Limits.Sent {
		row.Limits = nil
		if in.Limits.Value != nil {
			limits := *in.Limits.Value
			row.Limits = &limits
			wrong = append(wrong, CheckLimits("/limits", limits)...)
		}
	}
	if in.AllowedCIDRs != nil {
		ranges, rangesWrong := ReadRanges("/allowed_cidrs", *in.AllowedCIDRs, MaxRanges)
		row.AllowedCIDRs = ranges
		wrong = append(wrong, rangesWrong...)
	}
	return wrong
}

func check(in contract.NewKey, now time.Time) []fault.Field {
	var wrong []fault.Field
	if !ValidOwner(in.Owner) {
		wrong = append(wrong, ownerFault)
	}
	details := contract.KeyDetails{Description: in.Description}
	wrong = append(wrong, checkIdentity("", contract.KeyIdentity{Metadata: in.Metadata})...)
	return append(append(wrong, checkDetails("", details)...), checkExpiry(in.ExpiresAt, now)...)
}

// checkDetails checks the texts about a key. at is the prefix of pointers to the members.
func checkDetails(at string, in contract.KeyDetails) (wrong []fault.Field) {
	if !isText(in.Description, maxDescription) {
		wrong = append(wrong, fault.Field{
			Pointer: at + "/description",
			Code:    "invalid_description",
			Detail:  fmt.Sprintf("Use at most %d printable characters.", maxDescription),
		})
	}
	return wrong
}

// checkIdentity checks what upstreams may be sent of a key. at is the prefix of pointers to the members.
func checkIdentity(at string, in contract.KeyIdentity) (wrong []fault.Field) {
	switch {
	case !in.Metadata.Valid() || !utf8.ValidString(string(in.Metadata)):
		wrong = append(wrong, fault.Field{
			Pointer: at + "/metadata", Code: "invalid_metadata", Detail: "Use a JSON object, such as {\"plan\": " +
				"\"gold\"}.",
		})
	case len(in.Metadata) > maxMetadata:
		wrong = append(wrong, fault.Field{
			Pointer: at + "/metadata", Code: "metadata_too_large",
			Detail: fmt.Sprintf("Use at most %s bytes of compact JSON. This value has %s.",
				humanize.Comma(maxMetadata), humanize.Comma(int64(len(in.Metadata)))),
		})
	}
	sent := func(pointer, value string) {
		if value != "" && !ValidOwner(value) {
			wrong = append(wrong, fault.Field{
				Pointer: at + pointer, Code: "invalid_header_value",
				Detail: fmt.Sprintf("Use at most %d printable ASCII characters. Don't begin or end with a space.",
					maxOwner),
			})
		}
	}
	if of := in.Consumer; of != nil {
		sent("/consumer/id", of.ID)
		sent("/consumer/username", of.Username)
		sent("/consumer/custom_id", of.CustomID)
	}
	if in.CredentialID != nil {
		sent("/credential_id", *in.CredentialID)
	}
	return wrong
}

// isText reports whether s has at most that many characters, all of which both databases can store.
func isText(s string, most int) bool {
	return utf8.RuneCountInString(s) <= most && utf8.ValidString(s) && !strings.ContainsRune(s, 0)
}

func checkExpiry(at *time.Time, now time.Time) []fault.Field {
	if at == nil || (at.After(now) && !at.After(now.AddDate(maxYears, 0, 0))) {
		return nil
	}
	return []fault.Field{{
		Pointer: "/expires_at",
		Code:    "invalid_expiry",
		Detail: fmt.Sprintf(
			"Use a time in the future, at most %d years from now.", maxYears,
		),
	}}
}

// OwnerRule says which owners are valid.
var OwnerRule = fmt.Sprintf("Use 1 to %d printable ASCII characters. Don't begin or end with a space.", maxOwner)

// ValidOwner reports whether s is safe as a header value, which both gateways and all upstreams read the same way.
func ValidOwner(s string) bool {
	if s == "" || len(s) > maxOwner || strings.TrimSpace(s) != s {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// storable returns the time as the database stores it.
func storable(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	until := at.UTC().Truncate(time.Microsecond)
	return &until
}
