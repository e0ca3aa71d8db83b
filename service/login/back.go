package login

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/go-jose/go-jose/v4/json"

	"postern/models"
	"postern/service/login/providers"
)

const formPost = providers.FormPost

// Back is an authorization response on its way to the client: a redirect to URL, or a page that posts Form to it. The
// zero Back means none.
type Back struct {
	URL  string
	Form url.Values // nil for a redirect
}

// backTo returns an authorization response for the client of an attempt, as its request asked for. iss prevents mix-up
// attacks (RFC 9207).
func (s *Service) backTo(attempt models.LoginAttempt, answer url.Values) Back {
	if attempt.State != "" {
		answer.Set("state", attempt.State)
	}
	answer.Set("iss", s.Issuer(attempt.ClientID))
	if attempt.ResponseMode == formPost {
		return Back{URL: attempt.RedirectURI, Form: answer}
	}
	u, err := url.Parse(attempt.RedirectURI)
	if err != nil { // it was checked when it was registered
		return Back{URL: attempt.RedirectURI}
	}
	// The registered query is not encoded again: it stays unchanged, byte by byte.
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += answer.Encode()
	return Back{URL: u.String()}
}

// mode returns the response mode to store with the attempt. Only a website can take a form.
func (in AuthorizationRequest) mode() string {
	if in.ResponseMode == formPost && isWeb(in.RedirectURI) {
		return formPost
	}
	return ""
}

func isWeb(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http")
}

// checkMode checks response_mode.
func (in AuthorizationRequest) checkMode() (code, text string) {
	switch {
	case in.ResponseMode == formPost && in.mode() == "":
		return "invalid_request", "response_mode=form_post requires a redirect URI with https or http"
	case in.ResponseMode != "" && in.ResponseMode != "query" && in.ResponseMode != formPost:
		return "invalid_request", "response_mode must be query or form_post"
	}
	return "", ""
}

// maxRequestObject bounds a request object that is looked into, in bytes.
const maxRequestObject = 8 << 10

// readRefusal takes state and response_mode out of a request object (Core, 6.1) if the request itself lacks them. The
// object is refused, and its signature not verified: like parameters, they say how its sender wants to hear of that.
func (in *AuthorizationRequest) readRefusal() {
	_, rest, _ := strings.Cut(in.Request, ".")
	payload, _, _ := strings.Cut(rest, ".")
	text, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil || len(in.Request) > maxRequestObject {
		return
	}
	var object struct {
		State string `json:"state"`
		Mode  string `json:"response_mode"`
	}
	if json.Unmarshal(text, &object) != nil || len(object.State) > maxState {
		return
	}
	in.State, in.ResponseMode = cmp.Or(in.State, object.State), cmp.Or(in.ResponseMode, object.Mode)
}
