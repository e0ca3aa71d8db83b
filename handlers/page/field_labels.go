package page

import (
	"strings"
)

// fieldLabels are the labels of form fields that differ from the field's name in words. A
// field that several pages have gets one that fits all of them.
var fieldLabels = map[string]string{
	"access_minutes":         "Token lifetime (minutes)",
	"algorithm":              "Token signature",
	"allowed_cidrs":          "Allowed addresses",
	"api_scopes":             "API scopes",
	"app_origins":            "Allow the origins of app clients",
	"backchannel_logout_uri": "Back-channel logout URL",
	"child":                  "Add a group",
	"claim_value":            "Value",
	"client_id":              "Client ID",
	"consumers":              "Include users and groups",
	"connect_ms":             "Connect (ms)",
	"response_ms":            "First byte (ms)",
	"idle_ms":                "Pause (ms)",
	"stream_idle_ms":         "Silent stream (ms)",
	"reuse_idle_ms":          "Idle connection (ms)",
	"balance":                "Spread calls",
	"balance_header":         "Header",
	"interval_ms":            "Interval (ms)",
	"timeout_ms":             "Timeout (ms)",
	"healthy":                "Successes",
	"unhealthy":              "Failures",
	"statuses":               "Statuses",
	"passive_failures":       "Failed calls",
	"failures":               "Failed calls",
	"window_ms":              "Window (ms)",
	"open_ms":                "Open (ms)",
	"max":                    "Retries",
	"on":                     "Also retry after",
	"http":                   "HTTP version",
	"pem":                    "Certificate authorities",
	"system":                 "Also trust the system's authorities",
	"server_name":            "Server name",
	"host_header":            "Host header",
	"headers":                "Headers that pages can set",
	"client_token":           "Which token does your application hold?",
	"origins":                "Origins",
	"credentials":            "Cookies",
	"expires_in":             "Default lifetime in days",
	"default":                "Routes without a rule",
	"email":                  "Email",
	"expires_at":             "Expires",
	"expires_on":             "Expires",
	"exposed_headers":        "Headers that pages can read",
	"grace_seconds":          "Grace period",
	"grant_types":            "How it gets tokens",
	"group":                  "Add to a group",
	"groups":                 "Add to groups",
	"host":                   "Host name",
	"path_prefix":            "Path prefix",
	"strip_prefix":           "Remove the prefix",
	"in_product":             "Product",
	"introspection":          "Endpoint",
	"introspection_audience": "Required audience",
	"introspection_client":   "Client ID at the endpoint",
	"introspection_issuer":   "Required issuer",
	"introspection_method":   "Client authentication",

	"introspection_secret_token": "Token",

	"invite_only":       "By invitation only",
	"issuer_audience":   "Audience",
	"issuer_jwks_url":   "JWKS URL",
	"issuer_tenant":     "Tenant of the callers",
	"ip_allow":          "Allowed",
	"ip_deny":           "Denied",
	"key":               "Keys to change",
	"key_type":          "Type",
	"keyless":           "Calls without an API key",
	"keys":              "API keys",
	"limit_calls":       "At most",
	"limit_of":          "for",
	"limit_window":      "calls per",
	"limits_of":         "Limits",
	"logo_url":          "Logo",
	"logout_uris":       "Post-logout redirect URIs",
	"match":             "Comparison",
	"max_age":           "Cache preflights",
	"methods":           "Allowed methods",
	"mode":              "Who can call",
	"new_product":       "Or a new product",
	"old_password":      "Current password",
	"openapi_document":  "OpenAPI document",
	"openapi_url":       "URL of the OpenAPI document",
	"password":          "New password",
	"pkce":              "PKCE",
	"publication":       "Publish openapi.json",
	"q":                 "Search",
	"read_write_scopes": "Key scopes",
	"recipient":         "Encrypt to",
	"redirect_uris":     "Redirect URIs",
	"refresh_days":      "Stay signed in (days)",
	"require_keys":      "Require API keys",
	"revoke_tokens":     "Also revoke my access tokens",
	"rules_mode":        "Mode",
	"secret_token":      "Token",
	"secret_value":      "Value",
	"sign_in_domains":   "Sign-in email domains",
	"target":            "Target URL",
	"upstream_token":    "Which token does the upstream get?",
	"transforms":        "Transforms",
	"typed_name":        "Project name",
	"url":               "URL",
	"user":              "Owner",
	"user_code":         "Code",
	"validation":        "Request validation",
	"value":             "Address or domain",
}

// FieldLabel returns the label of a form field for use outside its page. Unknown fields
// get their name in words, such as Display name for display_name.
func FieldLabel(name string) string {
	if label, ok := fieldLabels[name]; ok {
		return label
	}
	if window, ok := strings.CutPrefix(name, "limits_"); ok {
		return "Calls per " + window
	}
	words := strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(words[:min(1, len(words))]) + words[min(1, len(words)):]
}
