package kong

import (
	"postern/bundle"
	"postern/core/snapshot"
)

// corsConfig is the configuration of Kong's cors plugin.
type corsConfig struct {
	Origins        []string `json:"origins"`
	Methods        []string `json:"methods"`
	Headers        []string `json:"headers,omitempty"`
	ExposedHeaders []string `json:"exposed_headers,omitempty"`
	Credentials    bool     `json:"credentials"`
	MaxAge         *int     `json:"max_age,omitempty"`
}

// cors writes Kong's own cors plugin, for all routes. It is left out where no origin is
// allowed: the plugin takes an empty list for every origin.
func (c *configWriter) cors() {
	p := c.b.Project
	if !allowsOrigins(p) {
		return
	}
	c.out.Raw(", {\n    \"name\": \"cors\",\n    \"instance_name\": \"cors\",\n    \"config\": ")
	c.out.Value(corsConfig{
		Origins:        p.CORS.Allowed(),
		Methods:        p.CORS.Methods,
		Headers:        p.CORS.AllowHeaders,
		ExposedHeaders: p.CORS.ExposedHeaders,
		Credentials:    p.CORS.Credentials,
		MaxAge:         p.CORS.MaxAge,
	})
	c.out.Raw("\n  }")
}

func allowsOrigins(p *snapshot.Project) bool { return p.CORS != nil && len(p.CORS.Allowed()) > 0 }

func judgeCORS(p *snapshot.Project) bundle.Verdict {
	v := bundle.Verdict{Target: bundle.At(gatewayFile, "/plugins/1/config")}
	switch {
	case !allowsOrigins(p):
		return bundle.Verdict{Reason: "unused"}
	case p.CORS.AppOrigins:
		v.Reason = "app_origins"
	}
	return v
}

func corsFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "plugin",
			Status: bundle.Exact,
			How:    "plugin cors",
			Note: "The same pages may call: preflights are answered before credentials are looked at, and refusals " +
				"carry the header too, so that a page can read them.",
		},
		{
			Reason: "app_origins",
			Status: bundle.Approximate,
			How:    "plugin cors, with the origins that app clients have now",
			Note: "The same pages may call. The origins of redirect URIs stand in the list as they are now: at worst the " +
				"page of a redirect URI that is added later is refused by browsers.",
			Remedy: "Add the origins of new pages to the plugin cors in gateway/gateway.yaml.",
		},
		{
			Reason: "unused",
			Status: bundle.Exact,
			How:    "upstreams answer for themselves",
			Note:   "No app client has a redirect URI with an origin, so that upstreams answer for themselves, as before.",
		},
	}
}
