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

// authorizeDevice begins the flow (RFC 8628, 3.1). The parameter machine is an extension:
// the name of the machine that will hold the token.
func (h *Handler) authorizeDevice(c *gin.Context) {
	form, err := oauthForm(c.Request, "client_id")
	if err != nil {
		h.Web.RefuseOAuth(c, err)
		return
	}
	asked, err := h.Tokens.RequestDevice(c.Request.Context(), tokens.DeviceRequest{
		Machine:    cmp.Or(form.Get("machine"), "a device"),
		Scopes:     strings.Fields(form.Get("scope")),
		RemoteAddr: c.Request.RemoteAddr,
	})
	if err != nil {
		h.Web.RefuseOAuth(c, err)
		return
	}
	page := h.Web.Config.PublicURL + web.DevicePath
	asked.VerificationURI = page
	asked.VerificationURIComplete = page + "?" + url.Values{"user_code": {asked.UserCode}}.Encode()
	c.JSON(http.StatusOK, asked)
}

// exchangeDevice returns the token once the request is approved (RFC 8628, 3.4).
func (h *Handler) exchangeDevice(c *gin.Context) {
	form, err := oauthForm(c.Request, "grant_type", "client_id")
	if err == nil && form.Get("grant_type") != contract.DeviceGrantType {
		err = fault.New(
			fault.Malformed,
			"unsupported_grant_type",
			"grant_type must be %s.",
			contract.DeviceGrantType,
		)
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
	err = h.Web.Throttle.Attempt(contract.DeviceClient, c.Request.RemoteAddr, func() (err error) {
		minted, err = h.Tokens.Exchange(c.Request.Context(), form.Get("device_code"), from)
		return err
	})
	if err != nil {
		h.Web.RefuseOAuth(c, err)
		return
	}
	c.JSON(http.StatusOK, contract.DeviceToken{
		AccessToken: minted.Secret,
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
		return nil, fault.New(fault.Malformed, "invalid_request", "The parameters can't be read. Percent-encode "+
			"their values.").Because(err)
	}
	for name, values := range r.PostForm {
		if len(values) > 1 {
			return nil, fault.New(fault.Malformed, "invalid_request", "A parameter is repeated. Send each parameter "+
				"only once.")
		}
		if !web.ValidText(name) || !web.ValidText(values...) {
			return nil, fault.New(fault.Malformed, "invalid_request",
				"The parameters contain NUL characters or invalid UTF-8.")
		}
	}
	for _, name := range required {
		if r.PostForm.Get(name) == "" {
			return nil, fault.New(fault.Malformed, "invalid_request", "The parameter %s is missing.", name)
		}
	}
	if r.PostForm.Get("client_id") != contract.DeviceClient {
		return nil, fault.New(fault.Unauthenticated, "invalid_client", "Unknown client_id. Use %s.",
			contract.DeviceClient)
	}
	return r.PostForm, nil
}
