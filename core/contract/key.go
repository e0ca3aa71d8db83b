package contract

import (
	"log/slog"
	"net/http"
	"time"
)

// KeyPath is the path parameter of an API key.
type KeyPath struct {
	Key string `path:"key" doc:"ID of the key"`
}

// Key is an API key, as the project that it was created in shows it.
type Key struct {
	KeyRecord
	Project         string     `json:"project" doc:"ID of the project that the key was created in"`
	Product         *string    `json:"product" doc:"Product whose projects the key is valid for; null if it is valid only for its own project"`
	EffectiveLimits Limits     `json:"effective_limits" doc:"Limits in the key's own project. An absent window is unlimited"`
	LimitsFrom      string     `json:"limits_from" enum:"key,key_type,project,none" doc:"Source of effective_limits"`
	ETag            string     `json:"etag" doc:"Send as If-Match to update the key"`
	LastUsedAt      *time.Time `json:"last_used_at" doc:"Last allowed call, accurate to the minute; null if there was none"`
}

// KeyRecord has the members of a key that exports include too.
type KeyRecord struct {
	ID           string     `json:"id"`
	Owner        string     `json:"owner"`
	KeyType      string     `json:"key_type"`
	Scopes       []string   `json:"scopes" doc:"Current scopes of the key type"`
	Tenant       string     `json:"tenant"`
	Environment  *string    `json:"environment" doc:"Environment that the key is valid for; null for all"`
	State        string     `json:"state" enum:"active,frozen,revoked,expired"`
	Limits       *Limits    `json:"limits" doc:"The key's own limits, as calls per window; null to use the key type's limits"`
	AllowedCIDRs []string   `json:"allowed_cidrs" doc:"Address ranges that the key can be used from. An empty list allows any address"`
	ExpiresAt    *time.Time `json:"expires_at"`
	GraceEndsAt  *time.Time `json:"grace_ends_at" doc:"When the previous secret expires; null if there is no valid previous secret"`
	KeyDetails
	KeyIdentity
}

// KeyDetails has the members of a key that don't affect calls. The database, exports and imports keep them unchanged.
type KeyDetails struct {
	Description string    `json:"description"`
	Prefix      string    `json:"prefix"`
	Last4       string    `json:"last4"`
	CreatedAt   time.Time `json:"created_at"`
}

// KeyIdentity has the members of a key that upstreams may receive. The database, exports, imports and gateways keep
// them unchanged.
type KeyIdentity struct {
	Metadata     Metadata  `json:"metadata" doc:"Your own data about the key, as a JSON object of at most 4 KB. {} if there is none"`
	Consumer     *Consumer `json:"consumer" gorm:"serializer:json" doc:"Identity of the owner on the gateway that the key was imported from. It is sent to the upstream instead of the owner's identity in Postern; null if there is none"`
	CredentialID *string   `json:"credential_id" doc:"ID of the key on the gateway that it was imported from, sent as X-Credential-Identifier; null if id is sent instead"`
}

// IsZero reports whether there is none.
func (k KeyIdentity) IsZero() bool {
	return k.Metadata == "" && k.Consumer == nil && k.CredentialID == nil
}

// Consumer is the identity of a key's owner at another gateway. If the ID or the username is empty, upstreams get
// Postern's value. If the custom ID is empty, they get none, as from the other gateway, because they may look the value
// up. If all members are empty, upstreams get Postern's own identity.
type Consumer struct {
	ID       string `json:"id,omitempty" doc:"Sent as X-Consumer-ID"`
	Username string `json:"username,omitempty" doc:"Sent as X-Consumer-Username"`
	CustomID string `json:"custom_id,omitempty" doc:"Sent as X-Consumer-Custom-ID. If empty, the header isn't sent"`
}

// Path returns its path parameter.
func (k Key) Path() KeyPath { return KeyPath{Key: k.ID} }

// Tag returns the key's ETag.
func (k Key) Tag() string { return k.ETag }

// Display has the parts of its secret that may be shown.
func (k Key) Display() string { return k.Prefix + "…" + k.Last4 }

// KeyWithSecret is a key whose secret is new.
type KeyWithSecret struct {
	Key
	Secret Secret `json:"key" doc:"Plaintext; returned only once"`
}

// LogValue implements slog.LogValuer.
func (k KeyWithSecret) LogValue() slog.Value { return slog.StringValue(k.ID) }

// States of keys. A key that isn't revoked counts as expired once its expiry has passed.
const (
	KeyActive  = "active"
	KeyFrozen  = "frozen"
	KeyRevoked = "revoked"
	KeyExpired = "expired"
)

// The sources of a key's limits.
const (
	LimitsOfKey     = "key"
	LimitsOfType    = "key_type"
	LimitsOfProject = "project" // the project's limits for each key
	LimitsOfNothing = "none"    // the project has no limits for each key
)

// KeyList is a request for the keys of a project.
type KeyList struct {
	ProjectPath
	Page
	Owner       string `query:"owner" doc:"Only keys that belong to this owner"`
	State       string `query:"state" enum:"active,frozen,revoked,expired" doc:"Only keys in this state"`
	Tenant      string `query:"tenant" doc:"Only keys that belong to the tenant with this name"`
	KeyType     string `query:"key_type" doc:"Only keys of the key type with this name"`
	Environment string `query:"environment" doc:"Only keys that are limited to this environment. Use \"all\" for keys that are valid for all environments"`
	Text        string `query:"q" flag:"search" doc:"Text to find in the visible key (prefix…last4), description or metadata, ignoring case"`
	Sort        string `query:"sort" enum:"created,-created,owner,-owner,last_used,-last_used" doc:"Sort order. A leading - means descending. Defaults to -created"`
}

// NewKey is an API key to be created.
type NewKey struct {
	Owner        string     `json:"owner" doc:"Owner of the key, such as billing-service"`
	KeyType      string     `json:"key_type,omitempty" minLength:"1" doc:"Name of the key type. Defaults to full"`
	Tenant       string     `json:"tenant,omitempty" minLength:"1" doc:"Name of one of the project's tenants. Defaults to the project's own tenant"`
	Product      string     `json:"product,omitempty" minLength:"1" doc:"Name of the project's product. The key becomes valid for all projects in the product"`
	Environment  string     `json:"environment,omitempty" minLength:"1" doc:"Name of the environment that the key is limited to. Defaults to all environments"`
	Description  string     `json:"description,omitempty" doc:"Purpose of the key"`
	Metadata     Metadata   `json:"metadata,omitempty" doc:"Your own data about the key, as a JSON object of at most 4 KB"`
	ExpiresAt    *time.Time `json:"expires_at,omitempty" flag:"expires,time" doc:"When the key expires (RFC 3339). Defaults to the key type's lifetime"`
	Limits       Limits     `json:"limits,omitzero" doc:"Calls per window. Use {} for unlimited calls. Defaults to the key type's limits"`
	AllowedCIDRs []string   `json:"allowed_cidrs,omitempty" flag:",list" doc:"IP addresses and ranges that the key can be used from. Defaults to any address"`
}

// KeyCreation is a request for a new key.
type KeyCreation struct {
	ProjectPath
	Body NewKey
}

// In returns the request for the key in a project, named by name or id.
func (n NewKey) In(project string) KeyCreation {
	return KeyCreation{ProjectPath: ProjectPath{Project: project}, Body: n}
}

// KeyChange changes a key; nil leaves a member unchanged. A key's owner and what it is valid for are fixed: usage that
// was counted under its ID would be attributed to another owner.
type KeyChange struct {
	Description  *string             `json:"description,omitempty" doc:"Purpose of the key"`
	Metadata     *Metadata           `json:"metadata,omitempty" doc:"Your own data about the key, as a JSON object of at most 4 KB. Replaces the existing metadata. Use {} to remove it"`
	Limits       Optional[Limits]    `json:"limits,omitzero" flag:",,type" doc:"Calls per window. Replaces the existing limits. Use {} for unlimited calls, or null for the key type's limits"`
	AllowedCIDRs *[]string           `json:"allowed_cidrs,omitempty" flag:",list" doc:"IP addresses and ranges that the key can be used from. Replaces the existing list. An empty list allows any address" help:"IP addresses and ranges that the key can be used from. Replaces the existing list. Use \"\" to allow any address"`
	ExpiresAt    Optional[time.Time] `json:"expires_at,omitzero" flag:"expires,time,never" doc:"When the key expires (RFC 3339). Use null to remove the expiration date"`
}

// KeyUpdate is a request to change a key.
type KeyUpdate struct {
	KeyPath
	Condition
	Body KeyChange
}

// KeyRotation is a request for a new secret.
type KeyRotation struct {
	KeyPath
	Condition
	Body *Grace // nil: the default
}

// Grace is how long an old secret stays valid.
type Grace struct {
	GraceSeconds *int64 `json:"grace_seconds,omitempty" flag:"grace,duration" doc:"How long the old secret stays valid, in seconds, up to 30 days. A secret from an earlier rotation expires immediately. Defaults to 1 day"`
}

// KeyImport is a request to import keys from a file, which is its body.
type KeyImport struct {
	ProjectPath
	DryRun    bool     `query:"dry_run" doc:"Change nothing and return what the import would do" help:"Change nothing and print what the import would do"`
	AllowWeak bool     `query:"allow_weak" doc:"Import keys that are shorter than 16 characters or have fewer than 8 different characters. Anyone who has the hash of such a key can guess the key"`
	Update    bool     `query:"update" doc:"Update existing keys whose attributes differ. By default, rows with such keys are refused"`
	KeyType   string   `query:"key_type" doc:"Key type for rows that have neither a key type nor scopes. By default, these rows are refused"`
	Map       []string `query:"map,explode" doc:"Map a column or member to a field with a different name, as column=field. Use - as the field to leave a column out"`
}

// KeyImportCounts has the numbers of rows in a file of keys, by result.
type KeyImportCounts struct {
	Created   int64 `json:"created"`
	Updated   int64 `json:"updated" doc:"Existing keys whose attributes changed. 0 without update"`
	Unchanged int64 `json:"unchanged" doc:"Existing keys whose attributes are the same"`
	Refused   int64 `json:"refused"`
}

// KeyImportError is a reason why a row wasn't imported. A row can have several.
type KeyImportError struct {
	Row     int64  `json:"row" doc:"Row number. In a CSV file, row 1 is the header. In other formats, row 1 is the first key"`
	Pointer string `json:"pointer" doc:"Column or member, such as /owner. Empty for the whole row"`
	Code    string `json:"code"`
	Detail  string `json:"detail" doc:"Description of the problem and how to fix it"`
}

// KeyRowsError is an error that occurs in one or more rows of a file. Row is the first of them.
type KeyRowsError struct {
	KeyImportError
	Rows int64
}

// ErrorsOfRows merges equal errors of several rows, and returns them in the order of their first rows.
func (k KeysImported) ErrorsOfRows() (out []KeyRowsError) {
	places := map[KeyImportError]int{}
	for _, one := range k.Errors {
		same := one
		same.Row = 0
		at, known := places[same]
		if !known {
			at = len(out)
			places[same] = at
			out = append(out, KeyRowsError{KeyImportError: one})
		}
		out[at].Rows++
	}
	return out
}

// Unlisted returns how many refused rows have no listed error.
func (k KeysImported) Unlisted() int64 {
	rows := map[int64]bool{}
	for _, one := range k.Errors {
		rows[one.Row] = true
	}
	return k.Refused - int64(len(rows))
}

// KeyImportNote says what several rows lose in the import, or what their owner should know.
type KeyImportNote struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
	Row    int64  `json:"row" doc:"First affected row"`
	Rows   int64  `json:"rows" doc:"Number of rows"`
}

// KeysImported is the result of an import of keys or, in a dry run, the result it would have.
type KeysImported struct {
	KeyImportCounts
	Errors []KeyImportError `json:"errors" doc:"The first 1,000 errors"`
	Notes  []KeyImportNote  `json:"notes" doc:"Data in this request's rows that isn't imported"`
	Source string           `json:"source" enum:"postern,unkey,kong,aws,tyk" doc:"System whose columns were recognized; postern if none was"`
	SHA256 string           `json:"sha256" doc:"SHA-256 of the file, in hexadecimal"`
}

// The results of rows.
const (
	KeyRowCreated   = "created"
	KeyRowUpdated   = "updated"
	KeyRowUnchanged = "unchanged"
	KeyRowRefused   = "refused"
	KeyRowEarlier   = "earlier" // an earlier attempt with the same Idempotency-Key imported the row
)

// KeyImportRow is the result of a row, a line of an answer in application/x-ndjson.
type KeyImportRow struct {
	Row    int64            `json:"row"`
	Result string           `json:"result" enum:"created,updated,unchanged,refused,earlier"`
	Key    string           `json:"key,omitempty" doc:"ID of the key. Absent for refused rows and in a dry run"`
	Errors []KeyImportError `json:"errors,omitempty"`
}

// KeyCheck asks whether a key belongs to a project.
type KeyCheck struct {
	ProjectPath
	Body KeyValue
}

// LogValue implements slog.LogValuer.
func (c KeyCheck) LogValue() slog.Value { return slog.StringValue(c.Project) }

// KeyValue is the plaintext of a key.
type KeyValue struct {
	Key Secret `json:"key" minLength:"1" flag:"-" doc:"Plaintext of the key. It isn't stored"`
}

// LogValue implements slog.LogValuer.
func (KeyValue) LogValue() slog.Value { return slog.StringValue("***") }

// KeyMatch is the answer to a KeyCheck.
type KeyMatch struct {
	Match *string `json:"match" doc:"ID of the key; null if no key in the project has this plaintext"`
}

const (
	keys = project + "/keys"
	key  = "/api/v1/keys/{key}"
)

// The operations on API keys. A key isn't deleted but revoked: its usage and its audit entries name it.
var (
	ListKeys = &Op[KeyList, List[Key]]{Operation{
		ID: "list-keys", Method: http.MethodGet, Path: keys, Summary: "List the API keys of a project",
		Command: "keys list PROJECT", Example: "keys list shop --owner billing-service --state active",
		Permission: ReadKeys,
		Doc: "Lists the keys created in the project, along with its product's keys, newest first. Secrets are " +
			"never included.",
	}}
	CreateKey = &Op[KeyCreation, KeyWithSecret]{Operation{
		ID: "create-key", Method: http.MethodPost, Path: keys, Status: http.StatusCreated, Permission: CreateKeys,
		Summary: "Create an API key", Command: "keys create PROJECT",
		Example: "keys create shop --owner acme --tenant acme --expires 90d --limits minute=100,day=5000 " +
			"--allowed-cidrs 203.0.113.0/24",
		Doc: "The response includes the key, which is shown only once because Postern stores only a hash. The key " +
			"works on every gateway within a second.",
	}}
	GetKey = &Op[KeyPath, Key]{Operation{
		ID: "get-key", Method: http.MethodGet, Path: key, Summary: "Get an API key", Command: "keys show KEY",
		Permission: ReadKeys,
		Doc:        "Returns everything about the key except its secret.",
	}}
	UpdateKey = &Op[KeyUpdate, Key]{Operation{
		ID: "update-key", Method: http.MethodPatch, Path: key, Summary: "Update an API key", Permission: ChangeKeys,
		Command: "keys update KEY", Example: "keys update key_01 --limits minute=200,day=10000 --expires never",
		Doc: "Changes only the fields you send. The change takes effect on every gateway within a second.",
	}}
	RotateKey = &Op[KeyRotation, KeyWithSecret]{Operation{
		ID: "rotate-key", Method: http.MethodPost, Path: key + "/rotate", Summary: "Rotate an API key's secret",
		Command: "keys rotate KEY",
		Example: "keys rotate key_01 --grace 7d", Permission: ChangeKeys,
		Doc: "The key gets a new secret and keeps its ID, owner and limits. The old secret works until the grace " +
			"period ends. The response includes the new secret, which is shown only once.",
	}}
	FreezeKey = &Op[KeyPath, Key]{Operation{
		ID: "freeze-key", Method: http.MethodPost, Path: key + "/freeze", Summary: "Freeze an API key",
		Command: "keys freeze KEY", Permission: ChangeKeys,
		Doc: "Calls with a frozen key get 403 key_frozen. You can unfreeze the key later.",
	}}
	UnfreezeKey = &Op[KeyPath, Key]{Operation{
		ID: "unfreeze-key", Method: http.MethodPost, Path: key + "/unfreeze", Summary: "Unfreeze an API key",
		Command: "keys unfreeze KEY", Permission: ChangeKeys,
		Doc: "Calls with the key are accepted again within a second.",
	}}
	RevokeKey = &Op[KeyPath, Key]{Operation{
		ID: "revoke-key", Method: http.MethodPost, Path: key + "/revoke", Summary: "Permanently revoke an API key",
		Command: "keys revoke KEY", Permission: ChangeKeys,
		Doc: "Calls with the key get 401 within a second. You can't undo this.",
	}}
)

// The operations on keys from other systems.
var (
	ImportKeys = &Op[KeyImport, KeysImported]{Operation{
		ID: "import-keys", Method: http.MethodPost, Path: keys + "/import", Body: "application/x-ndjson",
		Summary: "Import API keys from a file", Command: "keys import PROJECT", Permission: CreateKeys,
		Example: "keys import shop keys.csv --dry-run --map apiKey=key",
		Doc: "The request body is a file of up to 1,000,000 keys as NDJSON, a JSON array or CSV. The keys keep " +
			"working unchanged. Files from Unkey, Kong, AWS and Tyk are recognized by their columns. Keys are hashed " +
			"as they arrive and aren't stored. A refused row doesn't affect other rows. A repeated request with the " +
			"same Idempotency-Key continues where the earlier one stopped and returns the totals of both. With " +
			"Accept: application/x-ndjson, the response has one line for each row.",
	}}
	CheckKey = &Op[KeyCheck, KeyMatch]{Operation{
		ID: "check-key", Method: http.MethodPost, Path: keys + "/check", Summary: "Check whether a key exists",
		Command: "keys check PROJECT", Example: "keys check shop", Permission: ChangeKeys,
		Doc: "Compares a caller's key with the project's keys, including those whose hashes you imported. " +
			"You can check up to 10 keys per minute. The key isn't written to the audit log.",
	}}
)

var keyOperations = []Described{
	ImportKeys, CheckKey, ListKeys, CreateKey, GetKey, UpdateKey, RotateKey, FreezeKey, UnfreezeKey, RevokeKey,
}
