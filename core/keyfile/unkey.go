package keyfile

import (
	"strings"

	"postern/core/contract"
)

// unkey reads keys of Unkey: rows of its table of keys, answers of its API, and files for keys.migrateKeys.
func unkey() *dialect {
	return &dialect{source: Unkey, finish: finishUnkey, fields: fieldsOf(map[string][]string{
		fieldCredential:  {"id", "keyid"},
		"_hash":          {"hash"},
		fieldKey:         {"plaintext", "key"},
		"_start":         {"start"},
		fieldName:        {"name"},
		"_external":      {"externalid", "external_id", "identity.externalid"},
		"_owner":         {"ownerid", "owner_id"},
		"_identity":      {"identity"},
		"_identityID":    {"identity_id", "identityid"},
		fieldMetadata:    {"meta"},
		fieldExpires:     {"expires"},
		fieldCreated:     {"created_at_m", "createdat", "created_at"},
		fieldRevoked:     {"deleted_at_m", "deletedat", "deleted_at"},
		fieldEnabled:     {"enabled"},
		"_credits":       {"credits", "remaining_requests"},
		"_refill":        {"refill", "refill_amount"},
		"_remaining":     {"remaining"},
		"_roles":         {"roles"},
		"_permissions":   {"permissions"},
		"_ratelimits":    {"ratelimits", "ratelimit"},
		"_environment":   {"environment"},
		"_migration":     {"pending_migration_id"},
		fieldOwner:       {fieldOwner},
		fieldDescription: {fieldDescription},
		Ignored: {
			"pk", "workspace_id", "workspaceid", "for_workspace_id", "key_auth_id", "keyauthid", "keyspace_id", "apiid",
			"updated_at_m", "updatedat", "last_used_at", "lastusedat", "last_refill_at", "refill_day", "prefix",
			"bytelength", "recoverable",
		},
	})}
}

func finishUnkey(d *draft, _ row) {
	identity := d.extra["_identity"].value
	first(&d.row.Owner, d.textOf("_external"), identity.member("externalId").text, d.textOf("_owner"),
		d.textOf("_identityID"), d.row.Name, d.row.CredentialID)
	d.row.Prefix = cut(d.textOf("_start"))
	if hash, ok := d.extra["_hash"]; ok {
		d.unkeyHash(hash)
	}
	for field, code := range map[string]string{
		"_credits": noteCredits, "_refill": noteCredits, "_remaining": noteCredits, "_roles": noteRoles,
		"_permissions": notePermissions, "_environment": noteEnvironment,
	} {
		if d.filled(field) {
			d.note(code)
		}
	}
	limits := d.extra["_ratelimits"].value.list
	if inner := identity.member("ratelimits").list; len(inner) > 0 {
		limits = append(limits[:len(limits):len(limits)], inner...)
	}
	for _, l := range limits {
		d.unkeyLimit(l)
	}
}

// unkeyHash takes the hash of a key. Unkey's own are base64. Hex ones were migrated from prefixed keys, of which only
// the last part was hashed.
func (d *draft) unkeyHash(c cell) {
	if s := c.value.text; len(s) == 64 && isHex(s) {
		d.refuse(c, CodeHash, "Unkey stores the SHA-256 of an entire key in base64. A hash in hex is from a migrated "+
			"key and covers only the last part of the key (long in prefix_short_long), so Postern can't match it. "+
			"If it covers the entire key, use --map hash=sha256.")
		return
	}
	d.note(noteMigrated)
	d.hashes = append(d.hashes, c)
}

// unkeyLimit takes a rate limit that every call counts for and that has one of our windows.
func (d *draft) unkeyLimit(v value) {
	windows := map[string]string{"1000": "second", "60000": "minute", "3600000": "hour", "86400000": "day"}
	window := windows[v.member("duration").text]
	if window == "" || v.member("autoApply").text != "true" || !d.limit(window, v.member("limit")) {
		d.note(noteRateLimits)
	}
}

// limit limits a window to the calls, unless it has a lower limit, and reports whether it could.
func (d *draft) limit(window string, calls value) bool {
	n, ok := whole(calls)
	if !ok || n < 1 {
		return false
	}
	if d.row.Limits == nil {
		d.row.Limits = contract.Limits{}
	}
	if now, limited := d.row.Limits[window]; !limited || n < now {
		d.row.Limits[window] = n
	}
	return true
}

// cut returns the visible beginning of a key as Unkey stores it: the prefix and four characters.
func cut(start string) string {
	start = start[:min(len(start), strings.LastIndexByte(start, '_')+1+4)]
	if len(start) > 24 || strings.ContainsFunc(start, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return start
}
