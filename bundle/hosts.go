package bundle

import "postern/core/snapshot"

// domainSubjects lists the custom domains of environments.
func (b *Build) domainSubjects() []Subject {
	var out []Subject
	for i := range b.Project.Versions {
		v := &b.Project.Versions[i]
		for j := range v.Environments {
			e := &v.Environments[j]
			for n := range e.Domains {
				d := &e.Domains[n]
				out = append(out, Subject{
					Feature:     snapshot.FeatureCustomDomains,
					ID:          d.Key(),
					Name:        d.Key(),
					Source:      At(configFile, "/versions/%d/environments/%d/domains/%d", i, j, n),
					Version:     v,
					Environment: e,
					Domain:      d,
				})
			}
		}
	}
	return out
}
