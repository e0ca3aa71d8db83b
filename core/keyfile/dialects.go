package keyfile

import (
	"maps"
	"slices"
	"strings"
)

// dialect is how a source names and writes what our rows have.
type dialect struct {
	source Source
	fields map[string]string     // by names of columns in lower case; its own fields begin with "_"
	finish func(d *draft, e row) // sets what the columns alone don't
}

// row is what a dialect knows of a row besides its columns.
type row struct {
	value     value  // of JSON
	container string // as of element
}

// native returns the dialect of our own rows.
func native() *dialect {
	return &dialect{source: Native, finish: func(*draft, row) {}}
}

// recognize returns the dialect of a file by names of its columns in lower case, and by the member of JSON that has its
// rows.
func recognize(names map[string]bool, container string, mapping map[string]string) *dialect {
	all := func(wanted ...string) bool {
		return !slices.ContainsFunc(wanted, func(n string) bool { return !names[n] })
	}
	any := func(wanted ...string) bool {
		return slices.ContainsFunc(wanted, func(n string) bool { return names[n] })
	}
	owned := names[fieldOwner] || slices.Contains(slices.Collect(maps.Values(mapping)), fieldOwner)
	switch {
	case any("access_rights", "quota_renewal_rate", "basic_auth_data", "session", "hmac_enabled") ||
		all("key", "value.org_id") || all("key_hash", "org_id"):
		return tyk()
	case any("key_auth_id", "pending_migration_id", "keyspace_id") || all("keyid", "start"):
		return unkey()
	case container == "consumers" || container == "keyauth_credentials" || any("keyauth_credentials", "cache_key"):
		return kong()
	case owned || any("key_type", "scopes", "tenant", "product", "allowed_cidrs", "limits", "credential_id", "sha256",
		"expires_at"):
		return native()
	case names["hash"] && any("meta", "externalid", "start", "ratelimits", "credits", "ownerid", "identity_id",
		"enabled", "roles", "permissions", "expires", "refill", "remaining"):
		return unkey()
	case all("key", "consumer_id") || all("key", "consumer.id") || all("key", "consumer") ||
		container == "data" && any("username", "custom_id"):
		return kong()
	case all("name", "key") && onlyAWS(names) || any("usageplanids", "stagekeys", "apistages") ||
		any("throttle.ratelimit", "throttle.burstlimit", "quota.limit") ||
		all("id", "value", "enabled") || all("id", "type", "value"):
		return aws()
	}
	return native()
}

// onlyAWS reports whether a CSV file has no columns but those that AWS imports.
func onlyAWS(names map[string]bool) bool {
	for name := range names {
		if !slices.Contains([]string{"name", "key", "description", "enabled", "usageplanids"}, name) {
			return false
		}
	}
	return true
}

// trap is a system whose hashes never match, which its columns tell.
type trap struct {
	columns []string
	detail  string
	mapped  bool // a mapping of its hash doesn't help
}

var traps = []trap{
	{[]string{"tokenable_type"}, sanctum, true},
	{[]string{"tokenable_id"}, sanctum, true},
	{[]string{"abilities", "token"}, sanctum, true},
	{[]string{"token_digest"}, keyed, true},
	{[]string{"token_encrypted"}, keyed, true},
	{[]string{"key_hmac"}, keyed, true},
	{[]string{"token_hmac"}, keyed, true},
	{[]string{"hmac"}, keyed, true},
	{[]string{"digest", "token_key"}, "These are tokens of django-rest-knox, which stores SHA-512. " + renew, false},
	{[]string{"hashed_key", "prefix", "revoked"}, "These are keys of djangorestframework-api-key, which stores " +
		"SHA-512, or PBKDF2 in older rows. " + renew, false},
}

const (
	sanctum = "These are tokens of Laravel Sanctum, which stores the SHA-256 of the part after id|, not of the whole " +
		"token that callers send. " + renew
	keyed = "These are digests that GitLab and other systems compute with a server-side secret, so Postern can't " +
		"match them. " + renew
)

// trapped returns what is wrong with the hashes of a file with these columns; "" for nothing.
func trapped(names map[string]bool, mapping map[string]string) string {
	for _, t := range traps {
		hit := !slices.ContainsFunc(t.columns, func(c string) bool { return !names[c] })
		helped := !t.mapped && slices.ContainsFunc(t.columns, func(c string) bool { return mapping[c] != "" })
		if hit && !helped && !valued(names, mapping) {
			return t.detail
		}
	}
	return ""
}

// valued reports whether a file has the values of its keys too.
func valued(names map[string]bool, mapping map[string]string) bool {
	for column, field := range mapping {
		hashed := strings.Contains(column, "digest") || strings.Contains(column, "hash") || column == "token"
		if field == fieldKey && names[column] && !hashed {
			return true
		}
	}
	return names[fieldKey]
}

// namesOf returns the names of an object's members in lower case, with those of the objects in them.
func namesOf(v value) map[string]bool {
	names := map[string]bool{}
	for _, m := range v.members {
		lower := strings.ToLower(m.name)
		names[lower] = true
		for _, inner := range m.value.members {
			names[lower+"."+strings.ToLower(inner.name)] = true
		}
	}
	return names
}

// fieldsOf returns the columns of a dialect: names of each field, in lower case.
func fieldsOf(named map[string][]string) map[string]string {
	fields := map[string]string{}
	for field, names := range named {
		for _, name := range names {
			fields[name] = field
		}
	}
	return fields
}

// first sets an empty text to the first text that isn't empty.
func first(target *string, others ...string) {
	for _, s := range others {
		if *target == "" {
			*target = strings.TrimSpace(s)
		}
	}
}

// textOf returns the text of a cell of a dialect's field.
func (d *draft) textOf(field string) string { return d.extra[field].value.text }

// filled reports whether a cell of a dialect's field has something.
func (d *draft) filled(field string) bool {
	v := d.extra[field].value
	return v.text != "" && v.text != "0" && v.text != "false" || len(v.list) > 0 || len(v.members) > 0
}
