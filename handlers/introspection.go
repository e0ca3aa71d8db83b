package handlers

import (
	"slices"

	"postern/core/snapshot"
	"postern/platform/fault"
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
	out := &projects.IntrospectionInput{Endpoint: b.Endpoint, Method: b.Method, ClientID: b.ClientID, Issuer: b.Issuer, Audience: b.Audience}
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
	return &opaqueOutput{Endpoint: of.Endpoint, Method: string(of.Method), ClientID: of.ClientID, HasSecret: of.HasSecret, Issuer: of.Issuer, Audience: of.Audience}
}

const endpointPointer = "/requests_auth/opaque/endpoint"

// introspection reads the line of the form; nil without the method that it is for.
// An empty secret stays what it is, as long as there is a client that it goes with: it
// is never shown, so that a form has none to send back.
func (f accessForm) introspection() (*projects.IntrospectionInput, error) {
	if !slices.Contains(f.methods, string(snapshot.Opaque)) {
		return nil, nil
	}
	line, err := snapshot.ParseIntrospection(f.endpoint)
	if err != nil {
		return nil, fault.InvalidField(endpointPointer, "invalid_introspection", "Write it on one line: %s.", err)
	}
	out := &projects.IntrospectionInput{Endpoint: line.Endpoint, Method: string(line.Method), ClientID: line.ClientID, Issuer: line.Issuer, Audience: line.Audience}
	if f.endpointSecret != "" || line.ClientID == "" {
		out.ClientSecret = &f.endpointSecret
	}
	return out, nil
}

// introspectionLine is how the form shows it.
func introspectionLine(of *snapshot.Introspection) string {
	if of == nil {
		return ""
	}
	return of.Line()
}
