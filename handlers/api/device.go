package api

import (
	"cmp"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/tokens"
)

// The command line is a public client of the device flow (RFC 8628): its id is not secret
// and proves nothing.
const (
	deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code"
	cliClientID     = "postern-cli"
)

type deviceOutput struct {
	DeviceCode              string `json:"device_code"`
	UserCode                string `json:"user_code"`
	VerificationURI         string `json:"verification_uri"`
	VerificationURIComplete string `json:"verification_uri_complete"`
	ExpiresIn               int    `json:"expires_in"` // seconds
	Interval                int    `json:"interval"`   // seconds
}

// authorizeDevice begins the flow (RFC 8628, 3.1). The parameter machine is an extension:
// the name of the machine that will hold the token.
func (h *Handler) authorizeDevice(c *gin.Context) {
	form, err := oauthForm(c.Request, "client_id")
	if err != nil {
		h.Web.RefuseOAuth(c, err)
		return
	}
	asked, err := h.Tokens.Ask(c.Request.Context(), tokens.Ask{
		Machine:    cmp.Or(form.Get("machine"), "a device"),
		Scopes:     strings.Fields(form.Get("scope")),
		RemoteAddr: c.Request.RemoteAddr,
	})
	if err != nil {
		h.Web.RefuseOAuth(c, err)
		return
	}
	page := h.Web.Config.PublicURL + web.DevicePath
	c.JSON(http.StatusOK, deviceOutput{
		DeviceCode:              asked.DeviceCode,
		UserCode:                asked.UserCode,
		VerificationURI:         page,
		VerificationURIComplete: page + "?" + url.Values{"user_code": {asked.UserCode}}.Encode(),
		ExpiresIn:               int(asked.Lifetime.Seconds()),
		Interval:                int(asked.PollEvery.Seconds()),
	})
}

type grantedOutput struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"` // seconds
	Scope       string `json:"scope"`
}

// exchangeDevice returns the token once the request is approved (RFC 8628, 3.4).
func (h *Handler) exchangeDevice(c *gin.Context) {
	form, err := oauthForm(c.Request, "grant_type", "client_id")
	if err == nil && form.Get("grant_type") != deviceGrantType {
		err = fault.New(fault.Malformed, "unsupported_grant_type", "The only grant type is %s.", deviceGrantType)
	}
	if err == nil && form.Get("device_code") == "" {
		err = fault.New(fault.Malformed, "invalid_request", "The parameter device_code is missing.")
	}
	if err != nil {
		h.Web.RefuseOAuth(c, err)
		return
	}
	from := access.Principal{RemoteAddr: c.Request.RemoteAddr, RequestID: web.RequestID(c.Request.Context())}
	var minted contract.TokenWithSecret
	err = h.Web.Throttle.Attempt(cliClientID, c.Request.RemoteAddr, func() (err error) {
		minted, err = h.Tokens.Exchange(c.Request.Context(), form.Get("device_code"), from)
		return err
	})
	if err != nil {
		h.Web.RefuseOAuth(c, err)
		return
	}
	c.JSON(http.StatusOK, grantedOutput{
		AccessToken: minted.Secret.Reveal(),
		TokenType:   "Bearer",
		ExpiresIn:   int(minted.ExpiresAt.Sub(minted.CreatedAt).Seconds()),
		Scope:       strings.Join(minted.Scopes, " "),
	})
}

// oauthForm returns the parameters in the body. It refuses repeated parameters (RFC 6749,
// 3.2) and ignores the query, which must not hold codes.
func oauthForm(r *http.Request, required ...string) (url.Values, error) {
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media != "application/x-www-form-urlencoded" {
		return nil, fault.New(
			fault.Malformed, "invalid_request", "Send the parameters as application/x-www-form-urlencoded.",
		)
	}
	if err := r.ParseForm(); err != nil {
		return nil, fault.New(fault.Malformed, "invalid_request", "The parameters could not be read.").Because(err)
	}
	for name, values := range r.PostForm {
		if len(values) > 1 {
			return nil, fault.New(fault.Malformed, "invalid_request", "A parameter is repeated.")
		}
		if !web.ValidText(name) || !web.ValidText(values...) {
			return nil, fault.New(fault.Malformed, "invalid_request",
				"The parameters contain NUL or bytes that are not UTF-8.")
		}
	}
	for _, name := range required {
		if r.PostForm.Get(name) == "" {
			return nil, fault.New(fault.Malformed, "invalid_request", "The parameter %s is missing.", name)
		}
	}
	if r.PostForm.Get("client_id") != cliClientID {
		return nil, fault.New(fault.Unauthenticated, "invalid_client", "Unknown client.")
	}
	return r.PostForm, nil
}
