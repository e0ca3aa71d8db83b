package contract

import "log/slog"

// Introspection is the endpoint that checks a version's opaque tokens (RFC 7662).
type Introspection struct {
	Endpoint string              `json:"endpoint,omitempty" doc:"Introspection endpoint (RFC 7662): https, or http on loopback" example:"https://accounts.example.com/introspect"`
	Method   IntrospectionMethod `json:"method,omitempty" minLength:"1" doc:"client_secret_basic (or its synonym POST) or client_secret_post. Defaults to client_secret_basic"`
	ClientID string              `json:"client_id,omitempty" doc:"Client ID that the endpoint assigned"`
	Issuer   string              `json:"iss,omitempty" minLength:"1" doc:"Required iss in the response. Defaults to any"`
	Audience string              `json:"aud,omitempty" minLength:"1" doc:"Required aud in the response. Defaults to any"`
}

// IntrospectionMethod says how the client authenticates at the endpoint.
type IntrospectionMethod string

// The methods, by their names in RFC 7591, 2.
const (
	SecretBasic IntrospectionMethod = "client_secret_basic" // HTTP Basic
	SecretPost  IntrospectionMethod = "client_secret_post"  // in the form
)

// Line returns the form that people type: the endpoint, and after it the other parts, such as client=ID. No part may
// contain a blank.
func (i Introspection) Line() string {
	line := i.Endpoint
	parts := []struct{ name, value string }{
		{"client", i.ClientID},
		{"iss", i.Issuer},
		{"aud", i.Audience},
	}
	for _, part := range parts {
		if part.value != "" {
			line += " " + part.name + "=" + part.value
		}
	}
	if i.Method == SecretPost {
		line += " method=" + string(i.Method)
	}
	return line
}

// NewIntrospection is an Introspection to be set, with its client secret.
type NewIntrospection struct {
	Introspection
	ClientSecret *Secret `json:"client_secret,omitempty" doc:"Write-only. Leave out to keep the secret for the same endpoint and client_id. Send an empty string to remove it"`
}

// LogValue implements slog.LogValuer.
func (i NewIntrospection) LogValue() slog.Value { return slog.StringValue(i.Endpoint) }

// SavedIntrospection is the current Introspection, without the client secret.
type SavedIntrospection struct {
	Introspection
	HasSecret bool `json:"has_secret"`
}
