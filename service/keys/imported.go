package keys

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/platform/fault"
)

var (
	shownPrefix = regexp.MustCompile(`^[a-z][a-z0-9]{1,15}_[a-z][a-z0-9-]{0,39}_$`)
	shownEnd    = regexp.MustCompile(`^[0-9A-Za-z]{4}$`)

	// of a key of another form
	importedPrefix = regexp.MustCompile(`^[!-~]{0,32}$`)
	importedEnd    = regexp.MustCompile(`^[!-~]{0,4}$`)
)

// CheckImported checks a project's key that was read from a zip, and returns the fields that break the rules for new
// keys. It canonicalizes address ranges. The key may have expired, and its environment may no longer exist.
func CheckImported(k *snapshot.Key, of *snapshot.Project, now time.Time) []fault.Field {
	pointer := "/tenants/" + k.Tenant + "/keys/keys.jsonl/" + k.ID
	var wrong []fault.Field
	refuse := func(ok bool, member, code, detail string) {
		if !ok {
			wrong = append(wrong, fault.Field{Pointer: pointer + member, Code: code, Detail: detail})
		}
	}
	refuse(ValidOwner(k.Owner), "/owner", "invalid_owner", OwnerRule)
	wrong = append(wrong, checkDetails(pointer, k.KeyDetails)...)
	wrong = append(wrong, checkIdentity(pointer, k.KeyIdentity)...)
	refuse(k.Environment == "" || contract.IsName(k.Environment), "/environment", "invalid_name",
		"Use the name of an environment.")
	types := of.KeyTypes
	at := slices.IndexFunc(types, func(t snapshot.KeyType) bool { return t.Name == k.KeyType })
	refuse(at >= 0, "/key_type", "unknown_key_type", "The project has no such key type.")
	refuse(at < 0 || slices.Equal(types[at].Scopes, k.Scopes), "/scopes", "invalid_scopes",
		"Use the scopes of the key type.")
	switch k.State {
	case snapshot.KeyActive, snapshot.KeyFrozen, snapshot.KeyRevoked:
	default:
		refuse(false, "/state", "invalid_state", "Use active, frozen or revoked.")
	}
	ours := shownPrefix.MatchString(k.Prefix) && shownEnd.MatchString(k.Last4)
	imported := of.ImportedKeys && importedPrefix.MatchString(k.Prefix) && importedEnd.MatchString(k.Last4)
	refuse(ours || imported, "/prefix", "invalid_prefix",
		"Use the visible parts of the key as prefix and last4.")
	inTime := !k.GraceEndsAt.After(now.Add(MaxGrace)) && !k.ExpiresAt.After(now.AddDate(maxYears, 0, 0))
	refuse(inTime && (k.OldHash != nil) == !k.GraceEndsAt.IsZero(), "/grace_ends_at", "invalid_time",
		fmt.Sprintf("The grace period of an old secret must end within 30 days, and a key must expire within %d "+
			"years.", maxYears))
	if k.Limits != nil {
		wrong = append(wrong, CheckLimits(pointer+"/limits", k.Limits.Stated())...)
	}
	var rangesWrong []fault.Field
	k.AllowedIPs, rangesWrong = ReadRanges(pointer+"/allowed_cidrs", Texts(k.AllowedIPs), MaxRanges)
	return append(wrong, rangesWrong...)
}
