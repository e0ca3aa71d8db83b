package api

import (
	"postern/core/snapshot"
	"postern/platform/secrets"
	"postern/service/projects"
)

// opaqueBody is requests_auth.opaque in requests.
type opaqueBody struct {
	Endpoint     string  `json:"endpoint,omitempty" doc:"Introspection endpoint (RFC 7662): https, or http on loopback" example:"https://accounts.example.com/introspect"`
	Method       string  `json:"method,omitempty" minLength:"1" doc:"client_secret_basic (default; POST is a synonym) or client_secret_post"`
	ClientID     string  `json:"client_id,omitempty" doc:"Client ID at the endpoint"`
	ClientSecret *string `json:"client_secret,omitempty" doc:"Write-only. Default: unchanged if endpoint and client_id are; empty removes it"`
	Issuer       string  `json:"iss,omitempty" minLength:"1" doc:"Required iss of the response; default: any"`
	Audience     string  `json:"aud,omitempty" minLength:"1" doc:"Required aud of the response; default: any"`
}

// opaqueOutput is requests_auth.opaque in answers, without the secret.
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
		secret := secrets.Given(*b.ClientSecret)
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
