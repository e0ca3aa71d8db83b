package publish

import (
	"strconv"
	"strings"

	"postern/core/policy"
	"postern/core/snapshot"
)

// object is a JSON object.
type object = map[string]any

// Generated returns a document for a version without one. It has any path, the servers given, and what the access
// policy asks of callers.
func Generated(p *snapshot.Project, v *snapshot.Version, servers ...Server) map[string]any {
	title := p.DisplayName
	if title == "" {
		title = p.Name
	}
	path := object{"parameters": []object{{
		"name": "path", "in": "path", "required": true, "schema": object{"type": "string"},
		"description": "Any path on the upstream. It can contain slashes.",
	}}}
	for _, method := range []string{"get", "put", "post", "delete", "options", "head", "patch"} {
		path[method] = operation(v, method)
	}
	doc := object{
		"openapi": "3.0.3",
		"info":    object{"title": title, "version": v.Name},
		"servers": append([]Server{}, servers...),
		"paths":   object{"/{path}": path},
	}
	schemes := object{}
	if v.Access.Allows(snapshot.APIKey) {
		for i, scheme := range keySchemes(v.Access.APIKey) {
			schemes[keySchemeName(i)] = scheme
		}
	}
	if v.Access.Allows(snapshot.JWT) {
		schemes["jwt"] = object{"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
	}
	if v.Access.Allows(snapshot.Opaque) {
		schemes["opaque"] = object{"type": "http", "scheme": "bearer"}
	}
	if len(schemes) > 0 {
		doc["components"] = object{"securitySchemes": schemes}
	}
	return doc
}

// keySchemes are the security schemes of the places of keys (OpenAPI 3.0.3, Security Scheme Object).
func keySchemes(a snapshot.APIKeyAuth) (out []object) {
	for _, place := range a.Places() {
		switch {
		case place.IsScheme() && strings.EqualFold(place.Header, "Authorization"):
			out = append(out, object{"type": "http", "scheme": strings.ToLower(place.Prefix)})
		case place.Prefix != "":
			out = append(out, object{
				"type": "apiKey", "in": "header", "name": place.Header,
				"description": "The value is " + place.WithPrefix("KEY") + ".",
			})
		case place.Header != "":
			out = append(out, object{"type": "apiKey", "in": "header", "name": place.Header})
		case place.Query != "":
			out = append(out, object{"type": "apiKey", "in": "query", "name": place.Query})
		case place.Cookie != "":
			out = append(out, object{"type": "apiKey", "in": "cookie", "name": place.Cookie})
		default:
			out = append(out, object{
				"type": "apiKey", "in": "header", "name": snapshot.WebSocketProtocolHeader,
				"description": "For WebSockets: offer the protocols " + snapshot.GatewayProtocol + " and " +
					snapshot.KeyProtocol + "KEY, with KEY in base64url without padding.",
			})
		}
	}
	return out
}

// keySchemeName returns the name of the scheme of a place, which is counted from 0.
func keySchemeName(i int) string {
	if i == 0 {
		return "api_key"
	}
	return "api_key_" + strconv.Itoa(i+1)
}

func operation(v *snapshot.Version, method string) object {
	responses := object{"default": object{"description": "The upstream's response."}}
	op := object{"operationId": method + "_any", "responses": responses}
	var security []object
	refused, forbidden := policy.TokenRequired.Message, policy.TokenTenant.Message
	if v.Access.Allows(snapshot.JWT) {
		security = append(security, object{"jwt": []string{}})
	}
	if v.Access.Allows(snapshot.Opaque) {
		security = append(security, object{"opaque": []string{}})
	}
	if v.Access.Allows(snapshot.APIKey) {
		var keys []object
		for i := range v.Access.APIKey.Places() {
			keys = append(keys, object{keySchemeName(i): []string{}})
		}
		security = append(keys, security...)
		required := policy.CompileKeyPlaces(v.Access.APIKey).Name(policy.CredentialsRequired)
		refused, forbidden = required.Message+" "+policy.InvalidKey.Message, policy.KeyFrozen.Message
	}
	if len(security) == 0 {
		return op
	}
	if v.Access.Mode == snapshot.Passthrough || v.Access.Keyless == snapshot.OwnerFallback {
		security = append(security, object{}) // the key is optional
	}
	op["security"] = security
	responses["401"] = object{"description": refused}
	responses["403"] = object{"description": forbidden}
	return op
}
