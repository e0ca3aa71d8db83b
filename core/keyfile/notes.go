package keyfile

import (
	"maps"
	"slices"
)

// The codes of notes.
const (
	noteEarlier     = "earlier_time"
	noteUTC         = "utc"
	noteCredits     = "credits"
	noteRoles       = "roles"
	notePermissions = "permissions"
	noteRateLimits  = "rate_limits"
	noteEnvironment = "environment"
	noteMigrated    = "check_hashes"
	noteTags        = "tags"
	noteTTLWritten  = "ttl_left"
	noteTTLEarlier  = "ttl_end"
	noteGroups      = "groups"
	noteCredentials = "other_credentials"
	noteConsumer    = "consumer_later"
	noteUsagePlans  = "usage_plans"
	noteThrottle    = "throttle"
	noteWeek        = "week_quota"
	noteOffset      = "quota_offset"
	noteNoPlan      = "no_usage_plan"
	noteStages      = "stages"
	noteAccess      = "access_rights"
	notePolicies    = "policies"
	noteSession     = "session"
	noteHashes      = "hashes"
)

var noteTexts = map[string]string{
	noteEarlier: "Some times are ambiguous, such as 03/04/2027. The earlier time was used.",
	noteUTC:     "Some times have no time zone. They were interpreted as UTC.",
	noteCredits: "Credits and their refill aren't imported. Use limits per day or month instead.",
	noteRoles: "Roles aren't imported. Choose a key type for the keys, or map a column that contains scopes with " +
		"--map COLUMN=scopes.",
	notePermissions: "Permissions aren't imported. A permission named * doesn't become the scope *. Choose a key " +
		"type for the keys, or use the permissions as scopes with --map permissions=scopes.",
	noteRateLimits: "Rate limits with windows other than a second, a minute, an hour or a day, and rate limits that " +
		"callers choose by name, aren't imported. Set limits on the key or its type.",
	noteEnvironment: "Unkey's environment is a label, and isn't imported. Keep it with " +
		"--map environment=metadata.environment.",
	noteMigrated: "Keys that were migrated to Unkey may have hashes of only part of the key, which never match. " +
		"Test a key with postern keys check.",
	noteTags:       "Tags aren't imported. Keep them with --map tags=metadata.tags.",
	noteTTLWritten: "The remaining lifetime of keys was counted from the time when the file was written.",
	noteTTLEarlier: "A ttl can mean a key's remaining seconds or its expiration time. It was interpreted as the " +
		"expiration " +
		"time, which is earlier, so these keys have expired. If it means the remaining seconds, import the response " +
		"from /key-auths in Kong's Admin API.",
	noteGroups: "ACL groups of consumers aren't imported. Add the owners to groups.",
	noteCredentials: "Consumers have other credentials, such as basic-auth or JWT secrets, or members that keys " +
		"don't have. Only their keys are imported.",
	noteConsumer: "Some keys appear before their consumers in the file, so the consumers' IDs are used as owners. " +
		"Put the list of consumers first.",
	noteUsagePlans: "The limits of AWS keys are in usage plans, which the file doesn't contain. Add the output of " +
		"get-usage-plans and get-usage-plan-keys, or set limits on the key type.",
	noteThrottle: "AWS throttles with a token bucket. The rate was imported as calls per second, or per minute if " +
		"the rate is below 1. The burst wasn't imported.",
	noteWeek:   "A weekly quota was imported as a daily limit of one-seventh of the quota.",
	noteOffset: "The offset of a quota isn't imported. Windows begin at the start of the day or month (UTC).",
	noteNoPlan: "Some keys aren't in a usage plan. AWS refuses calls with these keys, so they are imported frozen.",
	noteStages: "AWS keys are limited to stages. In Postern, they are valid for all environments. Limit a key to one " +
		"environment with --map COLUMN=environment.",
	noteAccess: "Tyk's access rights aren't imported. The keys are valid for the entire project, within the scopes " +
		"of their key type.",
	notePolicies: "Tyk's policies aren't imported. Set limits and scopes on the key type.",
	noteSession:  "Members of Tyk's sessions, such as tags, monitors or post-expiry actions, aren't imported.",
	noteHashes:   "The file contains hashes, so weak keys can't be detected. Test a key with postern keys check.",
}

// note counts a row that loses something.
func (r *Reader) note(code string, row int64) {
	n := r.notes[code]
	if n == nil {
		n = &Note{Code: code, Detail: noteTexts[code], First: row}
		r.notes[code] = n
	}
	if n.Rows == 0 || n.last != row {
		n.Rows, n.last = n.Rows+1, row
	}
}

// Notes returns the losses of the rows read so far, in the order of their codes.
func (r *Reader) Notes() []Note {
	var list []Note
	for _, code := range slices.Sorted(maps.Keys(r.notes)) {
		list = append(list, *r.notes[code])
	}
	return list
}
