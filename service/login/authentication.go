package login

import (
	"strings"

	"github.com/go-jose/go-jose/v4/jwt"

	"postern/models"
)

// AuthenticationClaims are the provider's claims about the user's authentication, in ID tokens (OpenID Connect Core
// 1.0, 2), access tokens (RFC 9068, 2.2.1) and introspection (RFC 9470, 6.2). Claims that it did not state are left
// out.
type AuthenticationClaims struct {
	AuthTime *jwt.NumericDate `json:"auth_time,omitempty"`
	ACR      string           `json:"acr,omitempty"`
	AMR      []string         `json:"amr,omitempty"`
}

func authenticationOf(session models.LoginSession) AuthenticationClaims {
	out := AuthenticationClaims{ACR: session.ACR, AMR: strings.Fields(session.AMR)}
	if session.AuthTime != nil {
		out.AuthTime = jwt.NewNumericDate(*session.AuthTime)
	}
	return out
}
