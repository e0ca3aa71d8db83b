package api

import (
	"postern/core/snapshot"
	"postern/platform/secrets"
	"postern/service/projects"
)

// opaqueBody is requests_auth.opaque as it is sent.
type opaqueBody struct {
	Endpoint     string  `json:"endpoint,omitempty" doc:"Where tokens are introspected (RFC 7662): an https address, or http on this machine" example:"https://accounts.example.com/introspect"`
	Method       string  `json:"method,omitempty" doc:"How the endpoint is told who asks: client_secret_basic (default, for which POST may stand) or client_secret_post"`
	ClientID     string  `json:"client_id,omitempty" doc:"Whom the endpoint knows as the one who asks"`
	ClientSecret *string `json:"client_secret,omitempty" doc:"Write-only. Absent it stays what it is, as long as endpoint and client_id do; empty takes it away"`
	Issuer       string  `json:"iss,omitempty" doc:"Answers have to name this issuer; whichever when absent"`
	Audience     string  `json:"aud,omitempty" doc:"Has to be among the audiences that answers name; whichever when absent"`
}

// opaqueOutput is what is shown of it.
type opaqueOutput struct {
	Endpoint  string `json:"endpoint"`
	Method    string `json:"method" doc:"client_secret_basic or client_secret_post"`
	ClientID  string `json:"client_id,omitempty"`
	HasSecret bool   `json:"has_secret"`
	Issuer    string `json:"iss,omitempty"`
	Audience  string `json:"aud,omitempty"`
}

func (b *opaqueBody) rule() *projects.IntrospectionInput {
	if b == nil {
		return nil
	}
	out := &projects.IntrospectionInput{
		Endpoint: b.Endpoint,
		Method:   b.Method,
		ClientID: b.ClientID,
		Issuer:   b.Issuer,
		Audience: b.Audience,
	}
	if b.ClientSecret != nil {
		secret := secrets.Secret(*b.ClientSecret)
		out.ClientSecret = &secret
	}
	return out
}

func showOpaque(of *snapshot.Introspection) *opaqueOutput {
	if of == nil {
		return nil
	}
	return &opaqueOutput{
		Endpoint:  of.Endpoint,
		Method:    string(of.Method),
		ClientID:  of.ClientID,
		HasSecret: of.HasSecret,
		Issuer:    of.Issuer,
		Audience:  of.Audience,
	}
}
