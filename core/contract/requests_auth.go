package contract

import (
	"log/slog"
	"slices"
)

// The values of RequestsAuth.Mode.
const (
	Passthrough  = "passthrough"  // calls need no credential
	Authenticate = "authenticate" // calls need a credential of an allowed method
)

// The values of RequestsAuth.Methods: how a caller authenticates.
const (
	MethodAPIKey = "api_key"
	MethodJWT    = "jwt"
	MethodOpaque = "opaque"
)

// The values of RequestsAuth.Keyless: what happens to a call without an API key.
const (
	KeylessReject        = "reject"
	KeylessOwnerFallback = "owner_fallback" // forwarded as a call of the project's fallback owner
)

// RequestsAuth says which calls to a version are served. Rows, snapshots and exports contain it unchanged.
type RequestsAuth struct {
	Mode    string              `json:"mode" doc:"passthrough forwards calls with or without a credential; authenticate requires a credential"`
	Methods []string            `json:"methods" doc:"Accepted credentials: api_key, jwt, opaque"`
	Keyless string              `json:"keyless" doc:"How calls without a key are handled: reject refuses them; owner_fallback assigns them to the fallback owner"`
	APIKey  APIKeyAuth          `json:"api_key,omitzero" doc:"How callers send keys, and whether the upstream gets the keys' metadata. Absent if keys are sent in the X-API-Key header and metadata isn't sent"`
	JWT     *JWT                `json:"jwt,omitempty"`
	Opaque  *SavedIntrospection `json:"opaque,omitempty" doc:"Introspection endpoint for the opaque method, without its secret"`
}

// Allows reports whether calls may authenticate by a method. If none is allowed, credentials are ignored and forwarded
// unchanged.
func (a RequestsAuth) Allows(method string) bool { return slices.Contains(a.Methods, method) }

// TakesTokens reports whether a method reads the Authorization header.
func (a RequestsAuth) TakesTokens() bool { return a.Allows(MethodJWT) || a.Allows(MethodOpaque) }

// SendsMetadata reports whether the upstream gets the metadata of keys.
func (a RequestsAuth) SendsMetadata() bool {
	return a.APIKey.SendMetadata != nil && *a.APIKey.SendMetadata && a.Allows(MethodAPIKey)
}

// Issuers returns the issuers that the method jwt accepts, in the order given.
func (a RequestsAuth) Issuers() []TokenIssuer {
	if a.JWT == nil {
		return nil
	}
	return a.JWT.AllowedPairs
}

// Introspection returns the endpoint of the method opaque; the zero value without one.
func (a RequestsAuth) Introspection() SavedIntrospection {
	if a.Opaque == nil {
		return SavedIntrospection{}
	}
	return *a.Opaque
}

// RequestsAuthChange changes which calls to a version are served; nil leaves a member unchanged.
type RequestsAuthChange struct {
	Mode    *string           `json:"mode,omitempty" minLength:"1" doc:"passthrough forwards calls with or without a credential; authenticate requires a credential"`
	Methods *[]string         `json:"methods,omitempty" flag:",list" doc:"Accepted credentials: api_key, jwt, opaque"`
	Keyless *string           `json:"keyless,omitempty" minLength:"1" doc:"How calls without a key are handled: reject refuses them; owner_fallback assigns them to the fallback owner"`
	APIKey  APIKeyAuth        `json:"api_key,omitzero" flag:",each"`
	JWT     *JWT              `json:"jwt,omitempty" flag:"-" doc:"Replaces the token issuers"`
	Opaque  *NewIntrospection `json:"opaque,omitempty" flag:"-" doc:"Replaces the introspection endpoint"`
}

// LogValue implements slog.LogValuer.
func (RequestsAuthChange) LogValue() slog.Value { return slog.StringValue("change requests_auth") }

// Over returns what the change makes of a value. A replaced endpoint loses its secret.
func (c RequestsAuthChange) Over(a RequestsAuth) RequestsAuth {
	replace(&a.Mode, c.Mode)
	replace(&a.Methods, c.Methods)
	replace(&a.Keyless, c.Keyless)
	a.APIKey = c.APIKey.over(a.APIKey)
	if c.JWT != nil {
		a.JWT = c.JWT
	}
	if c.Opaque != nil {
		a.Opaque = &SavedIntrospection{Introspection: c.Opaque.Introspection}
	}
	return a
}

func replace[T any](value, by *T) {
	if by != nil {
		*value = *by
	}
}

// NewRequestsAuth says which calls to a new project are served.
type NewRequestsAuth struct {
	Mode     string            `json:"mode,omitempty" minLength:"1" doc:"passthrough forwards calls with or without a credential; authenticate requires a credential. Defaults to authenticate if login is set, and to passthrough if it isn't"`
	Methods  []string          `json:"methods,omitempty" doc:"Accepted credentials: api_key, jwt, opaque. Defaults to api_key, or to api_key and jwt with login. If you set login and leave out requests_auth, the only method is jwt"`
	Keyless  string            `json:"keyless,omitempty" minLength:"1" doc:"How calls without a key are handled: reject refuses them; owner_fallback assigns them to the fallback owner. Defaults to reject"`
	KeyTypes []NewKeyType      `json:"key_types,omitempty" doc:"Key types in addition to the built-in full and read-only"`
	APIKey   APIKeyAuth        `json:"api_key,omitzero" doc:"How callers send keys, and whether the upstream gets the keys' metadata. Defaults to the X-API-Key header, without metadata"`
	JWT      *JWT              `json:"jwt,omitempty"`
	Opaque   *NewIntrospection `json:"opaque,omitempty" doc:"Introspection endpoint for the opaque method"`
}

// IsSet reports whether it has any member.
func (n NewRequestsAuth) IsSet() bool {
	return n.Mode != "" || n.Methods != nil || n.Keyless != "" || len(n.KeyTypes) > 0 || len(n.Value().Issuers()) > 0 ||
		n.Opaque != nil || n.APIKey.In != nil || n.APIKey.SendMetadata != nil
}

// Value returns it without the key types and secrets. Missing members are empty; Methods is nil then.
func (n NewRequestsAuth) Value() RequestsAuth {
	a := RequestsAuth{Mode: n.Mode, Methods: n.Methods, Keyless: n.Keyless, APIKey: n.APIKey, JWT: n.JWT}
	return RequestsAuthChange{Opaque: n.Opaque}.Over(a)
}
