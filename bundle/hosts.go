package bundle

import "postern/core/snapshot"

// hostSubjects lists the custom domains of environments.
func (b *Build) hostSubjects() []Subject {
	var out []Subject
	for i := range b.Project.Versions {
		v := &b.Project.Versions[i]
		for j := range v.Environments {
			e := &v.Environments[j]
			for n, host := range e.Hosts {
				out = append(out, Subject{
					Feature:     snapshot.FeatureCustomDomains,
					ID:          host,
					Name:        host,
					Source:      At(configFile, "/versions/%d/environments/%d/hosts/%d", i, j, n),
					Version:     v,
					Environment: e,
					Host:        host,
				})
			}
		}
	}
	return out
}
