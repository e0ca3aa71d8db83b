package keyfile

import (
	"encoding/json"
	"time"

	"postern/core/contract"
)

// Row is an API key of a file, ready to be written. Texts are as the file has them, without spaces at their ends; names
// of owners, key types, tenants, products and environments are not checked, and neither are limits and ranges.
type Row struct {
	Number int64 // of the row in the file; see Reader.Next
	Part   int   // 0, or the position of the key among the keys of the row if several columns have keys

	Owner        string
	SHA256       [32]byte // of the whole key
	ByValue      bool     // the file has the key's value; otherwise Weak is unknown
	Weak         bool     // the value can be guessed from its hash; see IsWeak
	Prefix       string   // visible beginning; "" for none
	Last4        string   // visible end, at most four characters; "" for none
	CredentialID string   // the key's id at the source; "" for none
	Name         string
	Description  string
	State        string          // contract.KeyActive, KeyFrozen or KeyRevoked. A key has expired if ExpiresAt says so
	KeyType      string          // "" if the file names none
	Scopes       []string        // nil if the file names none; a row never has scopes and a key type
	Tenant       string          // "" for the default
	Product      string          // "" for none
	Environment  string          // "" for all
	CreatedAt    time.Time       // zero if unknown
	ExpiresAt    time.Time       // zero for never
	Relative     bool            // the file has the time that is left, so ExpiresAt is another in each reading
	Metadata     json.RawMessage // a JSON object of at most MaxMetadata bytes; nil for none
	Limits       contract.Limits // nil for those of the key type
	AllowedCIDRs []string
	Consumer     Consumer
}

// Consumer is who the source's upstreams know the owner as.
type Consumer struct {
	ID, Username, CustomID string
}

// Refusal is why a row isn't taken. It has at most four characters of a key.
type Refusal struct {
	Row     int64
	Pointer string // to the column or member in the file, such as "/apiKey"; "" for the whole row
	Code    string // one of the Code constants
	Detail  string // a sentence with the fix
}

// The codes of refusals and of errors.
const (
	CodeMissing     = "missing"          // a field that is required
	CodeInvalid     = "invalid"          // a value that its field doesn't take
	CodeUnknown     = "unknown_column"   // a column or member that no field takes
	CodeRepeated    = "repeated"         // a column, member or AWS key that comes again
	CodeUnusable    = "unusable_key"     // a value that can't travel in a header, is masked or was damaged
	CodeHash        = "unusable_hash"    // a hash that the gateway can't look up
	CodeCredential  = "other_credential" // not an API key: a password, a JWT identity, an HMAC secret
	CodeLimit       = "limit"            // more than the reader takes of one thing
	CodeFormat      = "format"           // not CSV or JSON that can be read
	CodeNoKeys      = "no_keys"          // the file has no keys
	CodePlaceholder = "placeholder"      // a value that a template was meant to fill
	CodeWeak        = "weak_key"         // for callers that refuse weak keys
)

// Note is what rows lose, or what their owner should know. A Reader counts the rows of each.
type Note struct {
	Code   string
	Detail string
	First  int64 // number of the first such row
	Rows   int64

	last int64 // number of the row that was counted last
}

// Error is why a file can't be read, or not beyond a row. Rows that were returned before it stay good.
type Error struct {
	Row       int64 // 0 for the file
	Code      string
	Detail    string     // sentences with the fix
	Mapping   bool       // Options.Map is wrong, rather than the file
	Proposals []Proposal // for CodeUnknown: a mapping for each column that no field takes
	Columns   []Column   // of a CSV file whose first row could be read
}

// Error implements error.
func (e *Error) Error() string { return e.Detail }

// Proposal is a mapping that may be meant.
type Proposal struct {
	Column string
	Field  string // Ignored if no field is likely
}

// Column is a column of a CSV file, or a member of the first row of a JSON file.
type Column struct {
	Name  string
	Field string // that it is read into; "" for none, and the source's own name if only the source has such a field
}
