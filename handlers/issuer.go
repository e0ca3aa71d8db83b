package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"postern/platform/fault"
	"postern/service/login"
)

// issuers is every route of them on one screen. What answers clients is here;
// what a person sees is in pages_login.go.
func (s *Server) issuers(r *gin.Engine) {
	r.GET("/oauth/:client/.well-known/openid-configuration", s.discovery)
	r.GET("/oauth/:client/jwks.json", s.jwks)
	r.POST("/oauth/:client/token", s.token)
	r.OPTIONS("/oauth/:client/token", s.preflight)
	r.POST("/oauth/:client/revoke", s.revokeGrant)
	r.OPTIONS("/oauth/:client/revoke", s.preflight)
	r.GET("/oauth/:client/userinfo", s.userInfo)
	r.POST("/oauth/:client/userinfo", s.userInfo)
	r.OPTIONS("/oauth/:client/userinfo", s.preflight)

	open := func(method, path string, page pageFunc) { r.Handle(method, path, s.page(page)) }
	open("GET", "/oauth/:client/authorize", s.authorize)
	open("POST", "/oauth/:client/authorize", s.authorize)
	open("GET", "/oauth/:client/login/:attempt", s.resumeLogin)
	open("GET", "/oauth/:client/login/:attempt/:provider", s.chooseProvider)
	open("GET", "/oauth/:client/callback/:provider", s.loginCallback)
	open("POST", "/oauth/:client/consent", s.consent)
	open("GET", "/oauth/:client/logout", s.logout)
	open("POST", "/oauth/:client/logout", s.logout)
	open("GET", "/oauth/:client/brand.css", s.brandStyle)
}

// fromAnywhere lists what other sites may post to: none of it looks at a cookie.
var fromAnywhere = []string{"POST /oauth/{client}/token", "POST /oauth/{client}/revoke", "POST /oauth/{client}/userinfo", "POST /oauth/{client}/logout",
	"POST /oauth/{client}/authorize"}

// keysFor is how long others may keep discovery documents and keys, in seconds.
const keysFor = "public, max-age=300"

func (s *Server) discovery(c *gin.Context) {
	found, err := s.Login.Discover(c.Request.Context(), c.Param("client"))
	s.public(c, found, err)
}

func (s *Server) jwks(c *gin.Context) {
	found, err := s.Login.JWKS(c.Request.Context(), c.Param("client"))
	s.public(c, found, err)
}

func (s *Server) public(c *gin.Context, found any, err error) {
	if err != nil {
		s.refuse(c, err)
		return
	}
	c.Header("Access-Control-Allow-Origin", "*")
	c.Header("Cache-Control", keysFor)
	writeJSON(c.Writer, http.StatusOK, found)
}

func writeJSON(w http.ResponseWriter, status int, found any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(found) // the caller is gone when this fails
}

type tokenAnswer struct {
	Access  string `json:"access_token"`
	Type    string `json:"token_type"`
	Expires int64  `json:"expires_in,omitempty"`
	Refresh string `json:"refresh_token,omitempty"`
	ID      string `json:"id_token"`
	Scope   string `json:"scope"`
}

func (s *Server) token(c *gin.Context) {
	var got login.Tokens
	err := s.askOfClient(c, func(client login.Credentials, form *once) (err error) {
		got, err = s.Login.Token(c.Request.Context(), login.TokenInput{
			Credentials:  client,
			GrantType:    form.get("grant_type"),
			Code:         form.get("code"),
			RedirectURI:  form.get("redirect_uri"),
			Verifier:     form.get("code_verifier"),
			RefreshToken: form.get("refresh_token"),
			Scope:        form.get("scope"),
		})
		return err
	})
	if err != nil {
		s.refuseClient(c, err)
		return
	}
	writeJSON(c.Writer, http.StatusOK, tokenAnswer{
		Access:  got.Access,
		Type:    "Bearer",
		Expires: got.Expires,
		Refresh: got.Refresh,
		ID:      got.ID,
		Scope:   got.Scope,
	})
}

// revokeGrant answers with nothing, also where there was nothing to revoke (RFC 7009,
// 2.2).
func (s *Server) revokeGrant(c *gin.Context) {
	err := s.askOfClient(c, func(client login.Credentials, form *once) error {
		return s.Login.Revoke(c.Request.Context(), client, form.get("token"))
	})
	if err != nil {
		s.refuseClient(c, err)
		return
	}
	c.Status(http.StatusOK)
}

// askOfClient reads a form and who sends it, and counts what is refused.
func (s *Server) askOfClient(c *gin.Context, ask func(login.Credentials, *once) error) error {
	s.allowOrigin(c)
	if err := parseForm(c); err != nil {
		return fault.New(fault.Malformed, "invalid_request", "the body could not be read").Because(err)
	}
	form := readOnce(c.Request.PostForm)
	client := login.Credentials{
		ClientID:    c.Param("client"),
		NamedClient: form.get("client_id"),
		Secret:      form.get("client_secret"),
		Repeated:    form.repeated,
	}
	if name, secret, ok := basicAuth(c.Request); ok {
		client.Repeated = client.Repeated || client.Secret != "" || (client.NamedClient != "" && client.NamedClient != name)
		client.NamedClient, client.Secret = name, secret
	}
	return s.oauthTries.try(client.ClientID, c.Request.RemoteAddr, func() error { return ask(client, form) })
}

// basicAuth reads a client's credentials, each of which is encoded as in a form
// (RFC 6749, 2.3.1).
func basicAuth(r *http.Request) (name, secret string, ok bool) {
	name, secret, ok = r.BasicAuth()
	if !ok {
		return "", "", false
	}
	name, nameErr := url.QueryUnescape(name)
	secret, secretErr := url.QueryUnescape(secret)
	return name, secret, nameErr == nil && secretErr == nil
}

// refuseClient is refuseOAuth with the challenge that RFC 6749, 5.2 wants for a
// client that is not who it says.
func (s *Server) refuseClient(c *gin.Context, err error) {
	if err != nil && fault.KindOf(err) == fault.Unauthenticated {
		c.Header("WWW-Authenticate", `Basic realm="postern"`)
	}
	s.refuseOAuth(c, err)
}

type userInfoAnswer struct {
	Subject string `json:"sub"`
	login.UserClaims
}

func (s *Server) userInfo(c *gin.Context) {
	s.allowOrigin(c)
	scheme, token, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		c.Header("WWW-Authenticate", "Bearer")
		c.Status(http.StatusUnauthorized)
		return
	}
	subject, claims, err := s.Login.UserInfo(c.Request.Context(), c.Param("client"), token)
	if fault.KindOf(err) == fault.Unauthenticated && err != nil {
		c.Header("WWW-Authenticate", `Bearer error="invalid_token"`) // RFC 6750, 3.1
		c.Status(http.StatusUnauthorized)
		return
	}
	if err != nil {
		s.refuse(c, err)
		return
	}
	writeJSON(c.Writer, http.StatusOK, userInfoAnswer{subject, claims})
}

// allowOrigin lets a client's own pages read the answer: those at the origin of one
// of its redirect URIs.
func (s *Server) allowOrigin(c *gin.Context) {
	origin := c.GetHeader("Origin")
	if origin == "" {
		return
	}
	c.Header("Vary", "Origin")
	if s.Login.IsOriginOf(c.Request.Context(), c.Param("client"), origin) {
		c.Header("Access-Control-Allow-Origin", origin)
	}
}

func (s *Server) preflight(c *gin.Context) {
	s.allowOrigin(c)
	c.Header("Access-Control-Allow-Methods", "GET, POST")
	c.Header("Access-Control-Allow-Headers", "Authorization, Content-Type")
	c.Status(http.StatusNoContent)
}
