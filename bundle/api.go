package bundle

import "postern/core/snapshot"

// apiDocOf is the member api of project-config.json: null for a project that declares neither audience nor scopes.
func apiDocOf(api snapshot.API) *snapshot.API {
	if api.Audience == "" && len(api.Scopes) == 0 {
		return nil
	}
	return &api
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
