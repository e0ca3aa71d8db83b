package policy

import (
	"time"

	"postern/snapshot"
)

// Denial is an answer that the gateway gives instead of the upstream.
type Denial struct {
	Status  int    // HTTP status code
	Code    string // stable, snake_case
	Message string // one sentence for the caller
}

// The answers of the gateway. Exported gateways use the same bytes for every
// one that their plugin gives.
var (
	NoRoute             = Denial{404, "no_route", "No project, version and environment answer at this address."}
	CredentialsRequired = Denial{401, "credentials_required", "Send an API key in the X-API-Key header."}
	InvalidKey          = Denial{401, "invalid_key", "This API key is not valid here."}
	KeyFrozen           = Denial{403, "key_frozen", "This API key is frozen."}
	ExpiredProxy        = Denial{410, "expired_proxy", "This proxy was never claimed and has expired."}
	ClaimRequired       = Denial{403, "claim_required", "Nobody has claimed this proxy yet. Until somebody does it carries no WebSockets, no targets on ports other than 80 and 443, and no large answers."}
	UpstreamUnreachable = Denial{502, "upstream_unreachable", "The upstream could not be reached."}
	UpstreamTimeout     = Denial{504, "upstream_timeout", "The upstream did not answer in time."}
	LoopDetected        = Denial{508, "loop_detected", "This request has already passed through this gateway too often."}
	BadRequest          = Denial{400, "bad_request", "The request target is not valid."}
	MethodNotAllowed    = Denial{405, "method_not_allowed", "This method is not forwarded."}
	BodyTooLarge        = Denial{413, "body_too_large", "The request body is too large."}
)

// Denials is the complete table, ordered by status.
func Denials() []Denial {
	return []Denial{
		BadRequest, CredentialsRequired, InvalidKey, KeyFrozen, ClaimRequired, NoRoute, MethodNotAllowed,
		ExpiredProxy, BodyTooLarge, UpstreamUnreachable, UpstreamTimeout, LoopDetected,
	}
}

// Body is the JSON body of the answer. Codes and messages are plain ASCII
// without quotes or backslashes, so that nothing needs escaping.
func (d Denial) Body() []byte {
	return []byte(`{"message":"` + d.Message + `","code":"` + d.Code + `"}`)
}

// Call is what is known of a call when its access is decided.
type Call struct {
	Access        snapshot.Access
	ProjectID     string
	FallbackOwner string        // of the project
	Environment   string        // name of the environment called
	KeyLines      int           // number of X-API-Key lines the caller sent
	Key           *snapshot.Key // looked up by the only line; nil when that is malformed or unknown
	OldSecret     bool          // Key was found by the secret before its last rotation
	Now           time.Time
}

// Identity is whom a call is made for. The zero value is nobody.
type Identity struct {
	ConsumerID   string // X-Consumer-ID
	Owner        string // X-Consumer-Username and X-Consumer-Custom-ID
	CredentialID string // X-Credential-Identifier; "" without a key
	Scopes       []string
	TenantID     string // X-Tenant-ID; "" without a key
}

// Decision is the outcome for one call.
type Decision struct {
	Allow    bool
	Identity Identity // when allowed
	Denial   Denial   // when not
	StripKey bool     // X-API-Key is ours: it must not reach the upstream
}

// Decide applies a version's access policy to one call. It fails closed: a mode
// it does not know, or one that asks for credentials without naming a method,
// lets nobody through.
func Decide(c Call) Decision {
	if !c.Access.Allows(snapshot.APIKey) {
		if c.Access.Mode == snapshot.Passthrough {
			return Decision{Allow: true}
		}
		return deny(CredentialsRequired)
	}
	if c.KeyLines > 0 {
		return decideKey(c)
	}
	switch {
	case c.Access.Keyless == snapshot.OwnerFallback && c.FallbackOwner != "":
		return Decision{Allow: true, StripKey: true, Identity: Identity{
			ConsumerID: ConsumerID(c.ProjectID, c.FallbackOwner),
			Owner:      c.FallbackOwner,
		}}
	case c.Access.Mode == snapshot.Passthrough:
		return Decision{Allow: true, StripKey: true}
	}
	return deny(CredentialsRequired)
}

// decideKey judges a presented key. Everything but a frozen key gets the same
// answer, so that a guesser learns nothing about a key that is not his.
func decideKey(c Call) Decision {
	k := c.Key
	if c.KeyLines > 1 || k == nil || k.ProjectID != c.ProjectID {
		return deny(InvalidKey)
	}
	if c.OldSecret && !k.GraceEndsAt.After(c.Now) {
		return deny(InvalidKey)
	}
	if k.State != snapshot.KeyActive && k.State != snapshot.KeyFrozen {
		return deny(InvalidKey)
	}
	if !k.ExpiresAt.IsZero() && !k.ExpiresAt.After(c.Now) {
		return deny(InvalidKey)
	}
	if k.Environment != "" && k.Environment != c.Environment {
		return deny(InvalidKey)
	}
	if k.State == snapshot.KeyFrozen {
		return deny(KeyFrozen)
	}
	return Decision{Allow: true, StripKey: true, Identity: Identity{
		ConsumerID:   ConsumerID(c.ProjectID, k.Owner),
		Owner:        k.Owner,
		CredentialID: k.ID,
		Scopes:       k.Scopes,
		TenantID:     k.TenantID,
	}}
}

func deny(d Denial) Decision { return Decision{Denial: d, StripKey: true} }
