package oidc

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/login"
)

// publicCache lets clients cache discovery documents and keys for five minutes.
const publicCache = "public, max-age=300"

func (h *Handler) discovery(c *gin.Context) {
	found, err := h.Login.Discover(c.Request.Context(), c.Param("client"))
	h.public(c, found, err)
}

func (h *Handler) jwks(c *gin.Context) {
	found, err := h.Login.JWKS(c.Request.Context(), c.Param("client"))
	h.public(c, found, err)
}

func (h *Handler) public(c *gin.Context, found any, err error) {
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	c.Header("Access-Control-Allow-Origin", "*")
	c.Header("Cache-Control", publicCache)
	writeJSON(c.Writer, found)
}

func writeJSON(w http.ResponseWriter, found any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_ = json.NewEncoder(w).Encode(found) // an error means that the caller is gone
}

type tokenAnswer struct {
	Access  string `json:"access_token"`
	Type    string `json:"token_type"`
	Expires int64  `json:"expires_in,omitempty"`
	Refresh string `json:"refresh_token,omitempty"`
	ID      string `json:"id_token,omitempty"`
	Scope   string `json:"scope"`
}

func (h *Handler) token(c *gin.Context) {
	var got login.Tokens
	err := h.withClient(c, func(client login.Credentials, form *web.OAuthParams) (err error) {
		got, err = h.Login.Token(c.Request.Context(), login.TokenInput{
			Credentials:  client,
			GrantType:    form.Get("grant_type"),
			Code:         form.Get("code"),
			RedirectURI:  form.Get("redirect_uri"),
			Verifier:     form.Get("code_verifier"),
			RefreshToken: form.Get("refresh_token"),
			Scope:        form.Get("scope"),
			Resources:    form.Resources(),
		})
		return err
	})
	if err != nil {
		h.refuseClient(c, err)
		return
	}
	writeJSON(c.Writer, tokenAnswer{
		Access:  got.Access,
		Type:    "Bearer",
		Expires: got.Expires,
		Refresh: got.Refresh,
		ID:      got.ID,
		Scope:   got.Scope,
	})
}

// revokeGrant revokes a token. It answers 200 for an invalid token too (RFC 7009, 2.2).
func (h *Handler) revokeGrant(c *gin.Context) {
	err := h.withClient(c, func(client login.Credentials, form *web.OAuthParams) error {
		return h.Login.Revoke(c.Request.Context(), client, form.Get("token"))
	})
	if err != nil {
		h.refuseClient(c, err)
		return
	}
	c.Status(http.StatusOK)
}

// withClient reads the form and the client's credentials and calls handle with them. It
// counts refusals against the throttle.
func (h *Handler) withClient(c *gin.Context, handle func(login.Credentials, *web.OAuthParams) error) error {
	h.allowOrigin(c)
	if err := web.ParseForm(c); err != nil {
		return fault.New(fault.Malformed, "invalid_request", "the request body couldn't be read").Because(err)
	}
	form := web.ParseOAuthParams(c.Request.PostForm)
	client := login.Credentials{
		ClientID:    c.Param("client"),
		NamedClient: form.Get("client_id"),
		Secret:      form.Get("client_secret"),
		Repeated:    form.Repeated,
	}
	if name, secret, ok := basicAuth(c.Request); ok {
		client.Repeated = client.Repeated || client.Secret != "" ||
			(client.NamedClient != "" && client.NamedClient != name)
		client.NamedClient, client.Secret = name, secret
	}
	return h.Web.Throttle.Attempt(client.ClientID, c.Request.RemoteAddr, func() error { return handle(client, form) })
}

// basicAuth returns the client's credentials, which are form-encoded within Basic (RFC
// 6749, 2.3.1).
func basicAuth(r *http.Request) (name, secret string, ok bool) {
	name, secret, ok = r.BasicAuth()
	if !ok {
		return "", "", false
	}
	name, nameErr := url.QueryUnescape(name)
	secret, secretErr := url.QueryUnescape(secret)
	return name, secret, nameErr == nil && secretErr == nil
}

// refuseClient is RefuseOAuth with the challenge for a client that fails to authenticate
// (RFC 6749, 5.2).
func (h *Handler) refuseClient(c *gin.Context, err error) {
	if err != nil && fault.KindOf(err) == fault.Unauthenticated {
		c.Header("WWW-Authenticate", `Basic realm="postern"`)
	}
	h.Web.RefuseOAuth(c, err)
}

type userInfoAnswer struct {
	Subject string `json:"sub"`
	login.UserClaims
}

func (h *Handler) userInfo(c *gin.Context) {
	h.allowOrigin(c)
	scheme, token, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		c.Header("WWW-Authenticate", "Bearer")
		c.Status(http.StatusUnauthorized)
		return
	}
	subject, claims, err := h.Login.UserInfo(c.Request.Context(), c.Param("client"), token)
	if fault.KindOf(err) == fault.Unauthenticated && err != nil {
		c.Header("WWW-Authenticate", `Bearer error="invalid_token"`) // RFC 6750, 3.1
		c.Status(http.StatusUnauthorized)
		return
	}
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	writeJSON(c.Writer, userInfoAnswer{subject, claims})
}

// allowOrigin lets scripts at the origin of one of the client's redirect URIs read the
// answer (CORS).
func (h *Handler) allowOrigin(c *gin.Context) {
	origin := c.GetHeader("Origin")
	if origin == "" {
		return
	}
	c.Header("Vary", "Origin")
	if h.Login.IsOriginOf(c.Request.Context(), c.Param("client"), origin) {
		c.Header("Access-Control-Allow-Origin", origin)
	}
}

func (h *Handler) preflight(c *gin.Context) {
	h.allowOrigin(c)
	c.Header("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
	c.Header("Access-Control-Allow-Headers", "Authorization, Content-Type")
	c.Status(http.StatusNoContent)
}
