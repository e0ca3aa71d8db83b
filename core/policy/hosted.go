package policy

import "postern/core/snapshot"

// Authorization is what becomes of the caller's Authorization.
type Authorization uint8

// AsItCame is right for whatever is none of our tokens, too.
const (
	AsItCame      Authorization = iota
	TakenAway                   // the upstream gets none
	ProviderToken               // the upstream gets the provider's token that ours carries
)

// Issuers are those whose tokens a call may bring. A token of one of our own is judged
// as such, whatever a version names.
type Issuers struct {
	Named []snapshot.TokenIssuer
	Own   AppClients // nil for none
}

// AppClients finds an app client of ours by its issuer, nil for another's issuer.
type AppClients interface {
	Client(issuer string) *snapshot.AppClient
}

// Hosted is what a verified token says that an app client of ours issued; or, where
// Shown, what is known of the bearer of a provider's own token.
type Hosted struct {
	Shown    bool               // it is the provider's token, which has been asked about it
	Client   string             // cli_…; "": it is of another's issuer
	ID       string             // jti
	Provider string             // idp_…, which vouched for the subject
	Groups   []string           // of the subject, each fit for a list in a header
	Carries  snapshot.TokenType // which token of the provider's is sealed
	Sealed   string             // that token; "" for none
}

// place is where in a project the bearer of a token belongs, and what the upstream
// gets of it.
type place struct {
	tenantID      string
	authorization Authorization
}

func (r *Realm) placeOf(t *Token) (place, Denial) {
	if t.Client != "" {
		return r.hosted(t)
	}
	tenantID := r.TenantNamed(t.Tenant)
	if tenantID == "" {
		return place{}, TokenTenant
	}
	return place{tenantID: tenantID}, Denial{}
}

// hosted judges a token of ours by how things stand now. That it is signed says how
// they stood when it was: since then its client may be of no tenant that is served
// here, its user gone, and the provider that vouched for them taken away.
func (r *Realm) hosted(t *Token) (place, Denial) {
	client := r.clients[t.Issuer]
	if client == nil || !r.Serves(client.TenantID) {
		return place{}, TokenTenant
	}
	if deleted, barred := r.barred[t.Subject]; deleted {
		return place{}, InvalidToken
	} else if barred {
		return place{}, UserFrozen
	}
	at := place{tenantID: client.TenantID}
	var gets snapshot.TokenType // none of the values, without a provider
	for i := range client.Providers {
		if client.Providers[i].ID == t.Provider {
			gets = client.Providers[i].TokenUpstream
		}
	}
	switch gets {
	case snapshot.ServiceToken:
		if t.Shown {
			break // browsers get no such tokens any more
		}
		return at, Denial{}
	case snapshot.NoToken:
		at.authorization = TakenAway
		return at, Denial{}
	case snapshot.ProviderAccessToken, snapshot.ProviderIDToken:
		if t.Shown {
			return at, Denial{} // it is what came
		}
		if t.Sealed != "" && t.Carries == gets {
			at.authorization = ProviderToken
			return at, Denial{}
		}
	}
	return place{}, InvalidToken // who signs in anew gets a token that fits
}
