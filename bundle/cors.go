package bundle

import "postern/core/snapshot"

// corsSubjects lists the CORS of a project, if it has one.
func corsSubjects(p *snapshot.Project) []Subject {
	if p.CORS == nil {
		return nil
	}
	return []Subject{{Feature: snapshot.FeatureCORS, ID: p.ID, Name: p.Name, Source: At(configFile, "/cors")}}
}
