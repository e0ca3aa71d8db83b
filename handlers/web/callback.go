package web

import (
	"net/http"
	"net/url"

	"postern/platform/fault"
)

// CallbackRoutes are the addresses to which identity providers send browsers back: of hosted login and of the
// dashboard's own sign-in. Providers on other sites may post to them.
var CallbackRoutes = []string{
	"POST /oauth/{client}/callback/{provider}",
	"POST /signin/{provider}/callback",
}

// callbackParams are the parameters of a provider's answer that callbacks read. Others stay out of the address, for
// example an ID token.
var callbackParams = []string{"state", "code", "iss", "error"}

const (
	maxCallback     = 8000     // bytes of the address that CallbackByPost returns: servers and proxies accept 8 KB
	maxCallbackForm = 64 << 10 // bytes of a form that a provider posts: a code and perhaps an ID token
)

// CallbackByPost returns where to redirect an answer that a provider sent by POST (OAuth 2.0 Form Post Response Mode):
// the same address, with the answer in its query. Browsers do not send cookies that are SameSite=Lax with a POST from
// another site, but with the GET that follows. The handler of the POST may change nothing, because any site can send
// such a form. TooLarge too_large.
func CallbackByPost(r *http.Request) (string, error) {
	query := url.Values{}
	for _, name := range callbackParams {
		if values := r.PostForm[name]; len(values) > 0 {
			query[name] = values // the callback refuses a repeated one
		}
	}
	u := url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: query.Encode()}
	to := u.String()
	if len(to) > maxCallback {
		return "", fault.New(fault.TooLarge, "too_large", "The provider's response is larger than 8,000 bytes.")
	}
	return to, nil
}

var callbacks = func() *http.ServeMux {
	mux := http.NewServeMux()
	for _, route := range CallbackRoutes {
		mux.Handle(route, http.NotFoundHandler())
	}
	return mux
}()

// isCallback reports whether a request is of CallbackRoutes.
func isCallback(r *http.Request) bool {
	_, route := callbacks.Handler(r)
	return route != ""
}
