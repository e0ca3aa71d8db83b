package policy

import (
	"net/netip"
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
	WrongTenant         = Denial{403, "wrong_tenant", "This API key belongs to a tenant that is not served here."}
	IPDenied            = Denial{403, "ip_denied", "Calls from this address are not allowed."}
	RateLimited         = Denial{429, "rate_limited", "Too many calls; try again after the time in Retry-After."}
	QuotaExceeded       = Denial{429, "quota_exceeded", "The quota of calls is used up; try again after the time in Retry-After."}
	LimitsUnavailable   = Denial{503, "limits_unavailable", "Calls cannot be counted at the moment."}
	ProjectFrozen       = Denial{403, "project_frozen", "This proxy was taken down by those who run the gateway."}
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
		BadRequest, CredentialsRequired, InvalidKey, KeyFrozen, WrongTenant, IPDenied, ProjectFrozen, ClaimRequired, NoRoute, MethodNotAllowed,
		ExpiredProxy, BodyTooLarge, RateLimited, QuotaExceeded, UpstreamUnreachable, LimitsUnavailable, UpstreamTimeout, LoopDetected,
	}
}

// Body is the JSON body of the answer. Codes and messages are plain ASCII
// without quotes or backslashes, so that nothing needs escaping.
func (d Denial) Body() []byte {
	return []byte(`{"message":"` + d.Message + `","code":"` + d.Code + `"}`)
}

// Call is what is known of a call when its access is decided.
type Call struct {
	Access      *snapshot.Access
	Realm       *Realm
	Environment string        // name of the environment called
	KeyLines    int           // number of X-API-Key lines the caller sent
	Key         *snapshot.Key // looked up by the only line; nil when that is malformed or unknown; Decide fits it to the project
	OldSecret   bool          // Key was found by the secret before its last rotation
	RemoteIP    netip.Addr    // the caller's; the zero value is in no range
	Now         time.Time
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
func Decide(c *Call) Decision {
	d := authenticate(c)
	if d.Allow && !admits(&c.Access.IP, c.RemoteIP) {
		return deny(IPDenied)
	}
	return d
}

func authenticate(c *Call) Decision {
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
	case c.Access.Keyless == snapshot.OwnerFallback && c.Realm.FallbackOwner != "":
		return Decision{Allow: true, StripKey: true, Identity: Identity{
			ConsumerID: ConsumerID(c.Realm.ID, c.Realm.FallbackOwner),
			Owner:      c.Realm.FallbackOwner,
		}}
	case c.Access.Mode == snapshot.Passthrough:
		return Decision{Allow: true, StripKey: true}
	}
	return deny(CredentialsRequired)
}

// decideKey judges a presented key. What is wrong with a key that is not a
// caller's own gets one answer, so that a guesser learns nothing.
func decideKey(c *Call) Decision {
	k := c.Key
	if c.KeyLines > 1 || k == nil {
		return deny(InvalidKey)
	}
	switch {
	case !c.Realm.Here(k),
		c.OldSecret && !k.GraceEndsAt.After(c.Now),
		k.State != snapshot.KeyActive && k.State != snapshot.KeyFrozen,
		!k.ExpiresAt.IsZero() && !k.ExpiresAt.After(c.Now),
		k.Environment != "" && k.Environment != c.Environment:
		return deny(InvalidKey)
	case k.State == snapshot.KeyFrozen:
		return deny(KeyFrozen)
	case !c.Realm.Serves(k.TenantID):
		return deny(WrongTenant)
	case len(k.AllowedIPs) > 0 && !Contains(k.AllowedIPs, c.RemoteIP):
		return deny(IPDenied)
	}
	return Decision{Allow: true, StripKey: true, Identity: Identity{
		ConsumerID:   ConsumerID(c.Realm.ID, k.Owner),
		Owner:        k.Owner,
		CredentialID: k.ID,
		Scopes:       k.Scopes,
		TenantID:     k.TenantID,
	}}
}

func deny(d Denial) Decision { return Decision{Denial: d, StripKey: true} }
