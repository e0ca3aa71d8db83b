package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"

	"postern/views/ui"
)

const (
	nonceMAC = 16  // bytes of the MAC in a nonce
	maxNonce = 128 // characters
)

// FormNonce returns the nonce of a form that the session may post to path, once. state
// is random; or it is the ETag of the only state in which the form may change an object,
// so that two tabs cannot both rotate one secret. The nonce is a MAC with the session's
// secret, followed by state: it is valid for this session and path only, and needs no
// storage.
func FormNonce(session, path, state string) string {
	mac := hmac.New(sha256.New, []byte(session))
	_, _ = io.WriteString(mac, "postern form 1\x00"+path+"\x00"+state) // never fails
	return base64.RawURLEncoding.EncodeToString(append(mac.Sum(nil)[:nonceMAC], state...))
}

// NonceState returns the state in a nonce without verifying it, or "" if it contains no state.
func NonceState(nonce string) string {
	decoded, err := base64.RawURLEncoding.DecodeString(nonce)
	if err != nil || len(nonce) > maxNonce || len(decoded) < nonceMAC {
		return ""
	}
	return string(decoded[nonceMAC:])
}

// nonces returns the function that creates the nonces of a page's forms for the session
// of r.
func (s *Site) nonces(r *http.Request) ui.NonceFunc {
	session := s.Sessions().Read(r)
	return func(action, state string) string {
		if u, err := url.Parse(action); err == nil {
			action = u.Path
		}
		return FormNonce(session, action, state)
	}
}
