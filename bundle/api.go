package bundle

import "postern/core/snapshot"

// apiDoc is the member api of project-config.json, null for a project that declares
// neither audience nor scopes.
type apiDoc struct {
	Audience *string       `json:"audience"`
	Scopes   []apiScopeDoc `json:"scopes"`
}

type apiScopeDoc struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

func apiDocOf(api snapshot.API) *apiDoc {
	if api.Audience == "" && len(api.Scopes) == 0 {
		return nil
	}
	doc := &apiDoc{Audience: optional(api.Audience), Scopes: []apiScopeDoc{}}
	for _, scope := range api.Scopes {
		doc.Scopes = append(doc.Scopes, apiScopeDoc(scope))
	}
	return doc
}

// api returns the API that the document describes.
func (d *apiDoc) api() snapshot.API {
	if d == nil {
		return snapshot.API{}
	}
	out := snapshot.API{Audience: valueOf(d.Audience)}
	for _, scope := range d.Scopes {
		out.Scopes = append(out.Scopes, snapshot.APIScope(scope))
	}
	return out
}

// apiSubjectsOf lists the audience and the scopes of a project's API.
func apiSubjectsOf(project string, api snapshot.API) []Subject {
	var out []Subject
	if api.Audience != "" {
		out = append(out, Subject{
			Feature: snapshot.FeatureAPIScope,
			ID:      project + ":audience",
			Name:    api.Audience,
			Source:  At(configFile, "/api/audience"),
		})
	}
	for i, scope := range api.Scopes {
		out = append(out, Subject{
			Feature: snapshot.FeatureAPIScope,
			ID:      project + ":scope:" + scope.Name,
			Name:    scope.Name,
			Source:  At(configFile, "/api/scopes/%d", i),
		})
	}
	return out
}
