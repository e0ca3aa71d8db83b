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
	nonceMAC = 16 // bytes of the MAC in a nonce
	maxNonce = 128
)

// FormNonce is the nonce of a form that this session may post to path. state is random,
// or the ETag of the only state in which the form may change an object, so that two
// tabs cannot both rotate one secret. A MAC with the session's secret keeps nonces of
// other sessions, other forms and invented ones out, and nothing has to be stored.
func FormNonce(session, path, state string) string {
	mac := hmac.New(sha256.New, []byte(session))
	_, _ = io.WriteString(mac, "postern form 1\x00"+path+"\x00"+state) // never fails
	return base64.RawURLEncoding.EncodeToString(append(mac.Sum(nil)[:nonceMAC], state...))
}

// NonceState returns the state in a nonce, whatever session and form it was made for.
func NonceState(nonce string) string {
	decoded, err := base64.RawURLEncoding.DecodeString(nonce)
	if err != nil || len(nonce) > maxNonce || len(decoded) < nonceMAC {
		return ""
	}
	return string(decoded[nonceMAC:])
}

// nonces makes the nonces of the forms on a page for the session of r.
func (s *Site) nonces(r *http.Request) ui.NonceFunc {
	session := s.Sessions().Read(r)
	return func(action, state string) string {
		if u, err := url.Parse(action); err == nil {
			action = u.Path
		}
		return FormNonce(session, action, state)
	}
}
