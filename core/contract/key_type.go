package contract

import "net/http"

// KeyTypePath are the path parameters of a key type.
type KeyTypePath struct {
	ProjectPath
	KeyType string `path:"key_type" doc:"Name or id"`
}

// KeyType is a named set of scopes, with defaults for its keys.
type KeyType struct {
	ID        string   `json:"id"`
	Name      string   `json:"name" audit:"-"`
	Scopes    []string `json:"scopes"`
	ExpiresIn int64    `json:"expires_in,omitempty" doc:"Default lifetime of a key of this type, in seconds; absent: unlimited"`
	Limits    Limits   `json:"limits" doc:"Limits of keys that don't set their own"`
	BuiltIn   bool     `json:"built_in"`
	ETag      string   `json:"etag" audit:"-" doc:"Send as If-Match to update the key type"`

	Warnings []Warning `json:"warnings,omitempty" audit:"-" doc:"In responses to changes: which rules refuse keys of the type"`
}

// Tag returns the key type's ETag.
func (t KeyType) Tag() string { return t.ETag }

// NewKeyType is a key type to be created.
type NewKeyType struct {
	Name      string   `json:"name"`
	Scopes    []string `json:"scopes" flag:",list" doc:"What keys of the type may do, such as read or orders:*; * for all"`
	ExpiresIn int64    `json:"expires_in,omitempty" flag:",duration" doc:"Default lifetime of a key of this type, in seconds"`
	Limits    Limits   `json:"limits,omitzero" doc:"Limits of keys that don't set their own"`
}

// KeyTypeCreation is a request for a new key type.
type KeyTypeCreation struct {
	ProjectPath
	Body NewKeyType
}

// KeyTypeChange changes a key type, for all its keys at once; nil leaves a member as it is.
type KeyTypeChange struct {
	Scopes    *[]string        `json:"scopes,omitempty" flag:",list" doc:"What keys of the type may do, all of them at once"`
	ExpiresIn Optional[int64]  `json:"expires_in,omitzero" flag:",duration,never" doc:"Lifetime of new keys, in seconds; null: unlimited"`
	Limits    Optional[Limits] `json:"limits,omitzero" flag:",,none" doc:"Limits of keys that don't set their own, in place of the earlier ones; null: no limits"`
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
	ListKeyTypes = Op[ProjectPath, List[KeyType]]{Operation{
		ID: "list-key-types", Method: http.MethodGet, Path: keyTypes, Summary: "List a project's key types",
		Command: "key-types list PROJECT", Permission: ReadProjects,
		Doc: "Lists the built-in types full and read-only, and those of the project, oldest first.",
	}}
	CreateKeyType = Op[KeyTypeCreation, KeyType]{Operation{
		ID: "create-key-type", Method: http.MethodPost, Path: keyTypes, Status: http.StatusCreated,
		Summary: "Create a key type", Command: "key-types create PROJECT NAME", Permission: UpdateProjects,
		Example: "key-types create shop partner --scopes read,orders:* --expires-in 90d --limits minute=100",
		Doc:     "A key type gives its keys scopes, limits and a lifetime.",
	}}
	GetKeyType = Op[KeyTypePath, KeyType]{Operation{
		ID: "get-key-type", Method: http.MethodGet, Path: keyType, Summary: "Get a key type",
		Command: "key-types show PROJECT KEY_TYPE", Permission: ReadProjects,
		Doc: "Has the scopes, limits and lifetime that keys of this type get.",
	}}
	UpdateKeyType = Op[KeyTypeUpdate, KeyType]{Operation{
		ID: "update-key-type", Method: http.MethodPatch, Path: keyType, Permission: UpdateProjects,
		Summary: "Update a key type, for all its keys at once", Command: "key-types update PROJECT KEY_TYPE",
		Example: "key-types update shop partner --scopes read,orders:* --expires-in never --limits minute=100,day=5000",
		Doc: "Changes only what you send. Scopes and limits change for existing keys too, the lifetime only for " +
			"new ones.",
	}}
	DeleteKeyType = Op[KeyTypeDeletion, None]{Operation{
		ID: "delete-key-type", Method: http.MethodDelete, Path: keyType, Status: http.StatusNoContent,
		Summary: "Delete a key type without keys", Command: "key-types delete PROJECT KEY_TYPE",
		Permission: UpdateProjects,
		Doc:        "A type that keys have can't be deleted.",
	}}
)

var keyTypeOperations = []Described{ListKeyTypes, CreateKeyType, GetKeyType, UpdateKeyType, DeleteKeyType}
