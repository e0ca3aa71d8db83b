package kong

import (
	"postern/bundle"
	"postern/core/snapshot"
)

// corsConfig is the configuration of Kong's own cors plugin at a service. One for all services would
// add its header to calls that no route matches.
type corsConfig struct {
	Origins        []string `json:"origins"`
	Methods        []string `json:"methods"`
	Headers        []string `json:"headers,omitempty"`
	ExposedHeaders []string `json:"exposed_headers,omitempty"`
	Credentials    bool     `json:"credentials"`
	MaxAge         *int     `json:"max_age,omitempty"`
}

// corsOf returns the plugins of each service. There is none where no origin is allowed: the
// plugin takes an empty list for every origin.
func corsOf(p *snapshot.Project) []pluginDoc {
	if !allowsOrigins(p) {
		return nil
	}
	return []pluginDoc{{Name: "cors", Config: corsConfig{
		Origins:        p.CORS.Allowed(),
		Methods:        p.CORS.Methods,
		Headers:        p.CORS.AllowHeaders,
		ExposedHeaders: p.CORS.ExposedHeaders,
		Credentials:    p.CORS.Credentials,
		MaxAge:         p.CORS.MaxAge,
	}}}
}

func allowsOrigins(p *snapshot.Project) bool { return p.CORS != nil && len(p.CORS.Allowed()) > 0 }

func judgeCORS(p *snapshot.Project) bundle.Verdict {
	if !allowsOrigins(p) {
		return bundle.Verdict{Reason: "unused"}
	}
	v := bundle.Verdict{Target: bundle.At(gatewayFile, "/services/0/plugins/0/config")}
	switch {
	case p.CORS.AppOrigins:
		v.Reason = "app_origins"
	case len(p.CORS.Origins) > 1:
		v.Reason = "several"
	}
	return v
}

// emptyOrigin is what url.parse of LuaSocket leads to (kong/plugins/cors/handler.lua,
// normalize_origin).
const emptyOrigin = "Where the plugin compares several origins, at worst a call whose Origin is an empty line gets " +
	"no answer; browsers send none."

func corsFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "plugin",
			Status: bundle.Exact,
			How:    "plugin cors of each service",
			Note: "The same pages may call: preflights are answered before credentials are looked at, and refusals " +
				"carry the header too, so that a page can read them.",
		},
		{
			Reason: "several",
			Status: bundle.Approximate,
			How:    "plugin cors of each service",
			Note:   "The same pages may call, as with one origin. " + emptyOrigin,
		},
		{
			Reason: "app_origins",
			Status: bundle.Approximate,
			How:    "plugin cors of each service, with the origins that app clients have now",
			Note: "The same pages may call. The origins of redirect URIs stand in the list as they are now: at worst " +
				"the page of a redirect URI that is added later is refused by browsers. " + emptyOrigin,
			Remedy: "Add the origins of new pages to the plugin cors in gateway/gateway.yaml.",
		},
		{
			Reason: "unused",
			Status: bundle.Exact,
			How:    "upstreams answer for themselves",
			Note: "No app client has a redirect URI with an origin, so that upstreams answer for themselves, as " +
				"before.",
		},
	}
}
