package projects

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/platform/fault"
	"postern/service/accounts"
	"postern/service/keys"
)

var (
	versionPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)
	scopePattern   = keys.ScopePattern
	groupPattern   = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)
)

// ValidName reports whether s is a valid name of a project or an environment.
func ValidName(s string) bool { return contract.IsName(s) }

func validVersion(s string) bool { return versionPattern.MatchString(s) }

func nameFault(pointer string) fault.Field {
	return fault.Field{
		Pointer: pointer,
		Code:    "invalid_name",
		Detail:  "Use 2 to 40 lowercase letters, digits or hyphens. Start with a letter and don't end with a hyphen.",
	}
}

const maxDisplayName = 80

func checkDisplayName(s string) []fault.Field {
	if utf8.RuneCountInString(s) <= maxDisplayName && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, accounts.Unprintable) {
		return nil
	}
	return []fault.Field{{
		Pointer: "/display_name",
		Code:    "invalid_display_name",
		Detail:  fmt.Sprintf("Use at most %d characters on one line.", maxDisplayName),
	}}
}

// authContext is what the check of a version's requests_auth depends on.
type authContext struct {
	tenants   []string // names of the tenants that the project serves
	login     bool     // one of them has an app client, whose tokens are accepted
	publicURL string   // of the control plane
	webPorts  bool     // the project is unclaimed: its issuers must be on ports 80 and 443
}

// normalizeAuth fills in the defaults of requests_auth and checks it. prefix is its JSON
// Pointer in the body.
func normalizeAuth(
	in contract.RequestsAuth, prefix string, at authContext,
) (contract.RequestsAuth, []fault.Field) {
	in = withDefaults(in, at.login)
	var wrong []fault.Field
	authenticate := in.Mode == snapshot.Authenticate
	if !authenticate && in.Mode != snapshot.Passthrough {
		wrong = append(wrong, fault.Field{
			Pointer: prefix + "/mode",
			Code:    "invalid_mode",
			Detail:  "Use passthrough or authenticate.",
		})
	}
	if authenticate && len(in.Methods) == 0 {
		wrong = append(wrong, fault.Field{
			Pointer: prefix + "/methods",
			Code:    "required",
			Detail:  "The authenticate mode requires at least one method: api_key, jwt or opaque.",
		})
	}
	wrong = append(wrong, checkMethods(in.Methods, prefix)...)
	wrong = append(wrong, checkKeyless(in, prefix)...)
	wrong = append(wrong, checkKeyPlaces(&in, prefix)...)
	if in.Allows(snapshot.JWT) && len(in.Issuers()) == 0 && !at.login {
		wrong = append(wrong, fault.Field{
			Pointer: prefix + pairsPointer,
			Code:    "required",
			Detail: "The jwt method requires a token issuer. Add at least one iss and aud pair, or set up a login " +
				"for a tenant of the project.",
		})
	}
	if in.Allows(snapshot.Opaque) && in.Opaque == nil {
		wrong = append(wrong, fault.Field{
			Pointer: prefix + "/opaque",
			Code:    "required",
			Detail:  "The opaque method requires an introspection endpoint: {\"endpoint\": …}.",
		})
	}
	return in, append(wrong, checkIssuers(in.Issuers(), prefix+pairsPointer, at)...)
}

// withDefaults fills in empty fields. login adds the method jwt to the default methods.
func withDefaults(in contract.RequestsAuth, login bool) contract.RequestsAuth {
	if len(in.Issuers()) == 0 {
		in.JWT = nil
	}
	in.Mode = cmp.Or(in.Mode, snapshot.Passthrough)
	in.Keyless = cmp.Or(in.Keyless, snapshot.Reject)
	if in.Methods != nil {
		return in
	}
	in.Methods = []string{}
	if in.Mode == snapshot.Authenticate {
		in.Methods = append(in.Methods, snapshot.APIKey)
		if login {
			in.Methods = append(in.Methods, snapshot.JWT)
		}
	}
	return in
}

func checkMethods(methods []string, prefix string) (wrong []fault.Field) {
	for i, method := range methods {
		pointer := fmt.Sprintf("%s/methods/%d", prefix, i)
		switch method {
		case snapshot.APIKey, snapshot.JWT, snapshot.Opaque:
			if slices.Contains(methods[:i], method) {
				wrong = append(wrong, fault.Field{
					Pointer: pointer,
					Code:    "duplicate",
					Detail:  "This method is listed twice. Remove one.",
				})
			}
		default:
			wrong = append(wrong, fault.Field{
				Pointer: pointer,
				Code:    "invalid_method",
				Detail:  "Use api_key, jwt or opaque.",
			})
		}
	}
	return wrong
}

func checkKeyless(in contract.RequestsAuth, prefix string) []fault.Field {
	detail := "Use reject or owner_fallback."
	switch in.Keyless {
	case snapshot.Reject:
		return nil
	case snapshot.OwnerFallback:
		if in.Allows(snapshot.APIKey) {
			return nil
		}
		detail = "owner_fallback requires the api_key method. Without it, calls have no owner."
	}
	return []fault.Field{{Pointer: prefix + "/keyless", Code: "invalid_keyless", Detail: detail}}
}

const pairsPointer = "/jwt/allowed_pairs"

// needsJWT refuses issuers without the method jwt, which would have no effect.
func needsJWT(in contract.RequestsAuth, prefix string) []fault.Field {
	if in.Allows(snapshot.JWT) {
		return nil
	}
	return []fault.Field{{
		Pointer: prefix + pairsPointer,
		Code:    "method_missing",
		Detail:  "Add jwt to the methods. Without it, tokens aren't checked.",
	}}
}

var notNameChars = regexp.MustCompile(`[^a-z0-9]+`)

// nameFromHost derives a project name: api.example.com gives api-example-com.
func nameFromHost(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		host = "api-" + host
	}
	name := strings.Trim(notNameChars.ReplaceAllString(strings.ToLower(host), "-"), "-")
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		name = "api-" + name
	}
	name = strings.TrimRight(fmt.Sprintf("%.*s", 40, name), "-")
	if !ValidName(name) {
		return "my-api"
	}
	return name
}

// pointerToken escapes a member name for a JSON Pointer (RFC 6901, 3).
func pointerToken(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
}
