package login

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
)

// applyPKCE writes when the client has to send a code challenge (PKCE, RFC 7636), unless mode is nil. A client that
// becomes public always has to. contract.PKCEWhenSent is for clients with a secret, which also protects their codes:
// many of their libraries send no challenge by default.
func applyPKCE(row *models.AppClient, mode *string) []fault.Field {
	refused := func(code, detail string) []fault.Field {
		return []fault.Field{{Pointer: "/pkce", Code: code, Detail: detail}}
	}
	if row.SecretHash == nil {
		row.PKCE = contract.PKCERequired
	}
	if mode == nil {
		return nil
	}
	switch {
	case *mode != contract.PKCERequired && *mode != contract.PKCEWhenSent:
		return refused("unknown_pkce", "Use required or when_sent.")
	case *mode == contract.PKCEWhenSent && row.SecretHash == nil:
		return refused("needs_secret", "Only a confidential app client can leave out PKCE. Give it a client secret, "+
			"or use required.")
	}
	row.PKCE = *mode
	return nil
}

// requiresPKCE reports whether the client's codes have to be bound to a challenge.
func requiresPKCE(client models.AppClient) bool {
	return client.SecretHash == nil || client.PKCE != contract.PKCEWhenSent
}

// checkChallenge checks the PKCE parameters of a request (RFC 7636, 4.3). It returns the error code, "" for none. A
// challenge without a method would be plain, and is refused.
func (in AuthorizationRequest) checkChallenge(client models.AppClient) (code, text string) {
	if in.Challenge == "" && in.ChallengeMethod == "" && !requiresPKCE(client) {
		return "", ""
	}
	challenge, err := base64.RawURLEncoding.DecodeString(in.Challenge)
	if in.ChallengeMethod == "S256" && err == nil && len(challenge) == sha256.Size {
		return "", ""
	}
	text = "PKCE is required: send code_challenge with code_challenge_method S256"
	switch {
	case !requiresPKCE(client):
		text = "send code_challenge with code_challenge_method S256, or neither of them"
	case in.Challenge == "" && client.SecretHash != nil:
		text += fmt.Sprintf(". Switch it on in the application. If its library cannot send it, set PKCE to when_sent "+
			"in the settings of the app client in the dashboard, or with: postern app-clients update %s "+
			"--pkce when_sent", client.ID)
	}
	return "invalid_request", text
}

// fitsChallenge reports whether a verifier belongs to the challenge of a code. A code without a challenge fits no
// verifier: someone removed the challenge from the request (PKCE downgrade; RFC 9700, 2.1.1).
func fitsChallenge(client models.AppClient, challenge, verifier string) bool {
	if challenge == "" {
		return verifier == "" && !requiresPKCE(client)
	}
	return len(verifier) >= 43 && len(verifier) <= 128 && // RFC 7636, 4.1
		subtle.ConstantTimeCompare([]byte(challengeOf(verifier)), []byte(challenge)) == 1
}

// challengeOf returns the S256 challenge of a verifier (RFC 7636, 4.2).
func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
