package bundle

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"postern/bundle/jsonfile"
	"postern/core/policy"
	"postern/core/snapshot"
)

// openAPI returns one document per version: the imported one, or a generated one where there is none.
// With only one version it is openapi.json.
func (b *Build) openAPI() []Part {
	var parts []Part
	for i := range b.Project.Versions {
		v := &b.Project.Versions[i]
		parts = append(parts, Part{
			Name: b.openAPIFile(v),
			Doc:  openAPIDoc,
			Write: func(_ context.Context, w io.Writer) error {
				if v.OpenAPI != nil {
					_, err := w.Write(v.OpenAPI)
					return err
				}
				return jsonfile.Write(w, b.openAPIFor(v))
			},
		})
	}
	return parts
}

// openAPIFile names the document after the version, or after its id if the version's
// name differs from another only in case or is not allowed as a file name.
func (b *Build) openAPIFile(v *snapshot.Version) string {
	if len(b.Project.Versions) == 1 {
		return "openapi.json"
	}
	name := "openapi/" + v.Name + ".json"
	alike := 0
	for _, other := range b.Project.Versions {
		if strings.EqualFold(other.Name, v.Name) {
			alike++
		}
	}
	if alike > 1 || checkName(name) != nil {
		return "openapi/" + v.ID + ".json"
	}
	return name
}

type object = map[string]any

func (b *Build) openAPIFor(v *snapshot.Version) object {
	title := b.Project.DisplayName
	if title == "" {
		title = b.Project.Name
	}
	servers := []object{}
	for _, e := range v.Environments {
		servers = append(servers, object{"url": b.AddressOf(v.Name, e.Name), "description": e.Name})
	}
	path := object{"parameters": []object{{
		"name": "path", "in": "path", "required": true, "schema": object{"type": "string"},
		"description": "Any path of the upstream; it may contain slashes.",
	}}}
	for _, method := range []string{"get", "put", "post", "delete", "options", "head", "patch"} {
		path[method] = operation(v, method)
	}
	doc := object{
		"openapi": "3.0.3",
		"info":    object{"title": title, "version": v.Name},
		"servers": servers,
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
	responses := object{"default": object{"description": "The answer of the upstream."}}
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

// readDocuments reads the documents that were imported.
func (v *verifier) readDocuments(p *snapshot.Project, config projectDoc) error {
	names := Build{Project: p}
	for i := range p.Versions {
		switch config.Versions[i].OpenAPI {
		case "":
			continue
		case openAPIImported:
		default:
			return problem(configFile, "/versions/%d/openapi is %q, not %s", i, config.Versions[i].OpenAPI, openAPIImported)
		}
		name := names.openAPIFile(&p.Versions[i])
		text, err := v.read(name)
		if err != nil {
			return err
		}
		if !json.Valid(text) {
			return problem(name, "is no JSON")
		}
		p.Versions[i].OpenAPI = text
	}
	return nil
}
