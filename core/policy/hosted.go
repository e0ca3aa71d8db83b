package policy

import "postern/core/snapshot"

// Authorization says which Authorization header the upstream gets with an allowed call.
type Authorization uint8

// KeepAuthorization also applies to all tokens that we didn't issue.
const (
	KeepAuthorization    Authorization = iota // the caller's, unchanged
	DropAuthorization                         // none
	ReplaceAuthorization                      // the provider's token that is sealed in ours
)

// Issuers are the issuers whose tokens a version accepts. A token of one of our app clients is always checked as such,
// even if the version names its issuer too.
type Issuers struct {
	Named []snapshot.TokenIssuer
	Own   AppClients // nil: none

	Audience string // of the project's API; an app client's token may name it instead of the client; "": none
}

// AppClients finds app clients by the issuer of their tokens.
type AppClients interface {
	// Client returns the app client with that issuer, nil if there is none.
	Client(issuer string) *snapshot.AppClient
}

// Hosted has the claims of a token that one of our app clients issued. If Introspected is set, it has the provider's
// claims about its own token instead.
type Hosted struct {
	Introspected bool               // it is the provider's own token, which the provider checked
	Client       string             // cli_…; "": issued by none of our app clients
	ID           string             // jti
	Session      string             // sid; "" for a provider's token
	GroupsAt     int64              // when Groups were read, in seconds since 1970; 0: not known
	Provider     string             // idp_… that the user signed in with
	Groups       []string           // of the user, each fit for a comma-separated header; rules use the Realm's instead
	Truncated    bool               // Groups are only some of the user's
	Carries      snapshot.TokenType // which of the provider's tokens Sealed is
	Sealed       string             // the provider's token, encrypted; "": none
}

// isMachine reports whether an app client got the token for itself: its subject is the app
// client (RFC 9068, 2.2), and not one of its users.
func (t *Token) isMachine() bool { return t.Client != "" && t.Subject == t.Client && !t.Introspected }

// placement is the tenant of a token's user, and what the upstream gets of the token.
type placement struct {
	tenantID      string
	authorization Authorization
}

func (r *Realm) place(t *Token) (placement, Denial) {
	if t.Client != "" {
		return r.placeHosted(t)
	}
	tenantID := r.TenantNamed(t.Tenant)
	if tenantID == "" {
		return placement{}, TokenTenant
	}
	return placement{tenantID: tenantID}, Denial{}
}

// placeHosted checks one of our tokens against the current state of the project. The signature only proves the state
// when the token was issued: since then the app client's tenant may have been detached, the user frozen or deleted,
// their session ended, and the provider removed.
func (r *Realm) placeHosted(t *Token) (placement, Denial) {
	client := r.clients[t.Issuer]
	if client == nil || !r.Serves(client.TenantID) {
		return placement{}, TokenTenant
	}
	if client.Frozen {
		return placement{}, ClientFrozen
	}
	if t.isMachine() {
		if !client.Machine {
			return placement{}, InvalidToken // it may not call for itself any more
		}
		return placement{tenantID: client.TenantID}, Denial{}
	}
	if deleted, barred := r.barred[t.Subject]; deleted {
		return placement{}, InvalidToken
	} else if barred {
		return placement{}, UserFrozen
	}
	if t.Session != "" && r.ended[t.Session] {
		return placement{}, InvalidToken
	}
	if at := r.left[t.Subject]; at != 0 && t.GroupsAt != 0 && t.GroupsAt <= at {
		return placement{}, InvalidToken // it names a group that the user has left; refreshing gets another
	}
	at := placement{tenantID: client.TenantID}
	var upstream snapshot.TokenType // "" if the provider is gone
	for i := range client.Providers {
		if client.Providers[i].ID == t.Provider {
			upstream = client.Providers[i].UpstreamToken
		}
	}
	switch upstream {
	case snapshot.ServiceToken:
		if t.Introspected {
			break // the provider is now configured to give browsers our tokens only
		}
		return at, Denial{}
	case snapshot.NoToken:
		at.authorization = DropAuthorization
		return at, Denial{}
	case snapshot.ProviderAccessToken, snapshot.ProviderIDToken:
		if t.Introspected {
			return at, Denial{} // the caller's token is the provider's already
		}
		if t.Sealed != "" && t.Carries == upstream {
			at.authorization = ReplaceAuthorization
			return at, Denial{}
		}
	}
	return placement{}, InvalidToken // signing in again yields a token that fits
}
