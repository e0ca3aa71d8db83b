package contract

import "net/http"

// KeyTypePath are the path parameters of a key type.
type KeyTypePath struct {
	ProjectPath
	KeyType string `path:"key_type" doc:"Name or ID of the key type"`
}

// KeyType is a named set of scopes, with defaults for its keys.
type KeyType struct {
	KeyTypeRecord
	ETag string `json:"etag" audit:"-" doc:"Send as If-Match to update the key type"`

	Warnings []Warning `json:"warnings,omitempty" audit:"-" doc:"Rules that refuse keys of this type. Only in responses to changes"`
}

// KeyTypeRecord has the members of a key type that exports include too.
type KeyTypeRecord struct {
	ID        string   `json:"id"`
	Name      string   `json:"name" audit:"-"`
	Scopes    []string `json:"scopes"`
	ExpiresIn int64    `json:"expires_in,omitempty" doc:"Default lifetime for keys of this type, in seconds. Absent if unlimited"`
	Limits    Limits   `json:"limits" doc:"Limits for keys that don't have their own"`
	BuiltIn   bool     `json:"built_in"`
}

// Tag returns the key type's ETag.
func (t KeyType) Tag() string { return t.ETag }

// NewKeyType is a key type to be created.
type NewKeyType struct {
	Name      string   `json:"name" slug:"true"`
	Scopes    []string `json:"scopes" flag:",list" doc:"Scopes for keys of this type, such as read or orders:*. Use * for all scopes"`
	ExpiresIn int64    `json:"expires_in,omitempty" flag:"expires,duration" doc:"Default lifetime for keys of this type, in seconds"`
	Limits    Limits   `json:"limits,omitzero" doc:"Limits for keys that don't have their own"`
}

// KeyTypeCreation is a request for a new key type.
type KeyTypeCreation struct {
	ProjectPath
	Body NewKeyType
}

// KeyTypeChange changes a key type, for all its keys at once; nil leaves a member unchanged.
type KeyTypeChange struct {
	Scopes    *[]string        `json:"scopes,omitempty" flag:",list" doc:"Scopes for keys of this type. Replaces the existing list"`
	ExpiresIn Optional[int64]  `json:"expires_in,omitzero" flag:"expires,duration,never" doc:"Lifetime of new keys, in seconds. Use null for an unlimited lifetime"`
	Limits    Optional[Limits] `json:"limits,omitzero" flag:",,none" doc:"Limits for keys that don't have their own. Replaces the existing limits. Use null for no limits"`
}

// KeyTypeUpdate is a request to change a key type.
type KeyTypeUpdate struct {
	KeyTypePath
	Condition
	Body KeyTypeChange
}

// KeyTypeDeletion is a request to delete a key type.
type KeyTypeDeletion struct {
	KeyTypePath
	Condition
}

const (
	keyTypes = project + "/key-types"
	keyType  = keyTypes + "/{key_type}"
)

// The operations on key types.
var (
	ListKeyTypes = &Op[ProjectPath, List[KeyType]]{Operation{
		ID: "list-key-types", Method: http.MethodGet, Path: keyTypes, Summary: "List a project's key types",
		Command: "key-types list PROJECT", Permission: ReadProjects,
		Doc: "Lists the built-in types (full and read-only) and the project's own types, oldest first.",
	}}
	CreateKeyType = &Op[KeyTypeCreation, KeyType]{Operation{
		ID: "create-key-type", Method: http.MethodPost, Path: keyTypes, Status: http.StatusCreated,
		Summary: "Create a key type", Command: "key-types create PROJECT NAME", Permission: UpdateProjects,
		Example: "key-types create shop partner --scopes read,orders:* --expires 90d --limits minute=100",
		Doc:     "A key type defines the scopes, limits and lifetime of its keys.",
	}}
	GetKeyType = &Op[KeyTypePath, KeyType]{Operation{
		ID: "get-key-type", Method: http.MethodGet, Path: keyType, Summary: "Get a key type",
		Command: "key-types show PROJECT KEY_TYPE", Permission: ReadProjects,
		Doc: "Returns the scopes, limits and lifetime for keys of this type.",
	}}
	UpdateKeyType = &Op[KeyTypeUpdate, KeyType]{Operation{
		ID: "update-key-type", Method: http.MethodPatch, Path: keyType, Permission: UpdateProjects,
		Summary: "Update a key type and all of its keys", Command: "key-types update PROJECT KEY_TYPE",
		Example: "key-types update shop partner --scopes read,orders:* --expires never --limits minute=100,day=5000",
		Doc: "Changes only the fields you send. New scopes and limits also apply to existing keys. A new lifetime " +
			"applies only to new keys.",
	}}
	DeleteKeyType = &Op[KeyTypeDeletion, None]{Operation{
		ID: "delete-key-type", Method: http.MethodDelete, Deletes: "key type",
		Path: keyType, Status: http.StatusNoContent,
		Summary: "Delete a key type that has no keys", Command: "key-types delete PROJECT KEY_TYPE",
		Permission: UpdateProjects,
		Doc:        "You can't delete a key type that has keys, including revoked ones.",
	}}
)

var keyTypeOperations = []Described{ListKeyTypes, CreateKeyType, GetKeyType, UpdateKeyType, DeleteKeyType}
