package pages

import (
	"slices"

	"postern/core/snapshot"
	"postern/platform/fault"
	"postern/service/projects"
)

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

// introspectionLine is how the form shows it.
func introspectionLine(of *snapshot.Introspection) string {
	if of == nil {
		return ""
	}
	return of.Line()
}
