package contract

import "log/slog"

// The command line is a public client of the device authorization flow (RFC 8628), which is a form and not part of the
// JSON API. The id of the client isn't secret and proves nothing.
const (
	DeviceClient    = "postern-cli"
	DeviceGrantType = "urn:ietf:params:oauth:grant-type:device_code"
	DevicePath      = "/oauth/device_authorization"
	DeviceTokenPath = "/oauth/token"
)

// Device is a sign-in that waits for approval (RFC 8628, 3.2).
type Device struct {
	DeviceCode              Secret `json:"device_code"`
	UserCode                string `json:"user_code"` // such as BCDF-GHJK
	VerificationURI         string `json:"verification_uri"`
	VerificationURIComplete string `json:"verification_uri_complete"`
	ExpiresIn               int    `json:"expires_in"` // in seconds
	Interval                int    `json:"interval"`   // between polls, in seconds
}

// LogValue implements slog.LogValuer.
func (d Device) LogValue() slog.Value { return slog.StringValue(d.VerificationURI) }

// DeviceToken is the access token of an approved sign-in (RFC 6749, 5.1).
type DeviceToken struct {
	AccessToken Secret `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"` // in seconds
	Scope       string `json:"scope"`
}

// LogValue implements slog.LogValuer.
func (t DeviceToken) LogValue() slog.Value { return slog.StringValue(t.Scope) }
