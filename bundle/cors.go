package bundle

import "postern/core/snapshot"

// corsDoc is the member cors of project-config.json and of its tenants. A project that leaves CORS
// to its upstreams has none, nor has a tenant that leaves it to its projects.
type corsDoc struct {
	Origins        []string `json:"origins"`
	AppOrigins     bool     `json:"app_origins"`
	FromApps       []string `json:"from_app_clients"`
	Methods        []string `json:"methods"`
	Headers        []string `json:"headers"`
	ExposedHeaders []string `json:"exposed_headers"`
	Credentials    bool     `json:"credentials"`
	MaxAge         *int     `json:"max_age"`
}

func corsDocOf(c *snapshot.CORS) *corsDoc {
	if c == nil {
		return nil
	}
	return &corsDoc{
		Origins:        list(c.Origins),
		AppOrigins:     c.AppOrigins,
		FromApps:       list(c.FromApps),
		Methods:        list(c.Methods),
		Headers:        list(c.AllowHeaders),
		ExposedHeaders: list(c.ExposedHeaders),
		Credentials:    c.Credentials,
		MaxAge:         c.MaxAge,
	}
}

// cors returns the CORS that the document describes.
func (d *corsDoc) cors() *snapshot.CORS {
	if d == nil {
		return nil
	}
	return &snapshot.CORS{
		Origins:        d.Origins,
		AppOrigins:     d.AppOrigins,
		FromApps:       d.FromApps,
		Methods:        d.Methods,
		AllowHeaders:   d.Headers,
		ExposedHeaders: d.ExposedHeaders,
		Credentials:    d.Credentials,
		MaxAge:         d.MaxAge,
	}
}

// corsSubjects lists the CORS of a project, if it has one.
func corsSubjects(p *snapshot.Project) []Subject {
	if p.CORS == nil {
		return nil
	}
	return []Subject{{Feature: snapshot.FeatureCORS, ID: p.ID, Name: p.Name, Source: At(configFile, "/cors")}}
}
