package publish

import (
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
		"description": "Any path of the upstream. It can contain slashes.",
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
		schemes["api_key"] = object{"type": "apiKey", "in": "header", "name": "X-API-Key"}
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
		security = append([]object{{"api_key": []string{}}}, security...)
		refused, forbidden = policy.CredentialsRequired.Message+" "+policy.InvalidKey.Message, policy.KeyFrozen.Message
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
