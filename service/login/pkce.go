package login

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"

	"postern/core/contract"
	"postern/models"
)

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
		text = "send code_challenge with code_challenge_method S256, or send neither"
	case in.Challenge == "" && client.SecretHash != nil:
		text += fmt.Sprintf(". Turn on PKCE in the application. If its library doesn't support PKCE, set PKCE to "+
			"when_sent in the dashboard, or run: postern app-clients update %s --pkce when_sent", client.ID)
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
