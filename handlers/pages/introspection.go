package pages

import (
	"slices"

	"postern/core/snapshot"
	"postern/platform/fault"
	"postern/service/projects"
)

const endpointPointer = "/requests_auth/opaque/endpoint"

// introspection parses the form's line. It returns nil if the method is not chosen. An
// empty secret keeps the stored one as long as there is a client that it belongs to: the
// page never shows the secret, so the form cannot send it back.
func (f accessForm) introspection() (*projects.IntrospectionInput, error) {
	if !slices.Contains(f.methods, string(snapshot.Opaque)) {
		return nil, nil
	}
	line, err := snapshot.ParseIntrospection(f.endpoint)
	if err != nil {
		return nil, fault.InvalidField(endpointPointer, "invalid_introspection", "Write it on one line: %s.", err)
	}
	out := &projects.IntrospectionInput{
		Endpoint: line.Endpoint,
		Method:   string(line.Method),
		ClientID: line.ClientID,
		Issuer:   line.Issuer,
		Audience: line.Audience,
	}
	if f.endpointSecret != "" || line.ClientID == "" {
		out.ClientSecret = &f.endpointSecret
	}
	return out, nil
}

// introspectionLine formats the endpoint as the form shows it.
func introspectionLine(of *snapshot.Introspection) string {
	if of == nil {
		return ""
	}
	return of.Line()
}
