package kong

import (
	"postern/bundle"
	"postern/core/snapshot"
)

// corsConfig is the configuration of Kong's own cors plugin of a service. A single one for all services would add its
// header to calls that no route matches.
type corsConfig struct {
	Origins        []string `json:"origins"`
	Methods        []string `json:"methods"`
	Headers        []string `json:"headers,omitempty"`
	ExposedHeaders []string `json:"exposed_headers,omitempty"`
	Credentials    bool     `json:"credentials"`
	MaxAge         *int     `json:"max_age,omitempty"`
}

// corsOf returns the plugins of each service. It returns none if no origin is allowed, because an empty list would
// allow every origin. The plugin doesn't know the caller's tenant, so it has the settings of the project and its
// tenants together.
func corsOf(p *snapshot.Project) []pluginDoc {
	all := p.CORSUnion()
	if all == nil {
		return nil
	}
	return []pluginDoc{{Name: "cors", Config: corsConfig{
		Origins:        all.Allowed(),
		Methods:        all.Methods,
		Headers:        all.Headers,
		ExposedHeaders: all.ExposedHeaders,
		Credentials:    all.Credentials,
		MaxAge:         all.MaxAge,
	}}}
}

const corsTarget = "/services/0/plugins/0/config"

func judgeCORS(p *snapshot.Project) bundle.Verdict {
	if len(p.CORS.Allowed()) == 0 {
		return bundle.Verdict{Reason: "unused"}
	}
	v := bundle.Verdict{Target: bundle.At(gatewayFile, corsTarget)}
	switch {
	case p.HasCORSOverrides():
		v.Reason = "tenants"
	case p.CORS.AppOrigins:
		v.Reason = "app_origins"
	case len(p.CORS.Origins) > 1:
		v.Reason = "several"
	}
	return v
}

func judgeTenantCORS(p *snapshot.Project, t *snapshot.Tenant) bundle.Verdict {
	switch {
	case t.Detached:
		return bundle.Verdict{Reason: "detached"}
	case !t.CORSOverride():
		return bundle.Verdict{Reason: "unused"}
	}
	v := bundle.Verdict{Target: bundle.At(gatewayFile, corsTarget), Reason: "union"}
	if p.CORSUnion().AllowsAny() {
		v.Reason = "any_origin"
	}
	return v
}

// oddOrigins is the effect of LuaSocket's url.parse (kong/plugins/cors/handler.lua, normalize_origin).
const oddOrigins = "If Kong has several origins to compare, it parses a call's Origin header as a URL. At " +
	"worst, a call with an empty Origin gets no response, and an Origin with a slash, a path or user information is " +
	"treated as the origin without them. Browsers don't send any of these."

func corsFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "plugin",
			Status: bundle.Exact,
			How:    "the `cors` plugin of each service",
			Note: "The same pages can call the API. The gateway answers preflights before it checks credentials. " +
				"Refusals also have CORS headers, so that pages can read them.",
		},
		{
			Reason: "several",
			Status: bundle.Approximate,
			How:    "the `cors` plugin of each service",
			Note:   "The same pages can call the API. " + oddOrigins,
		},
		{
			Reason: "app_origins",
			Status: bundle.Approximate,
			How:    "the `cors` plugin of each service, with the current app client origins",
			Note: "The same pages can call the API. Redirect URI origins are copied at the time of the export. At " +
				"worst, browsers block calls from a page whose redirect URI is added later. " + oddOrigins,
			Remedy: "Add origins for new pages to the `cors` plugin in gateway/gateway.yaml.",
		},
		{
			Reason: "tenants",
			Status: bundle.Approximate,
			How:    "the `cors` plugin of each service, including the settings of tenants",
			Note: "Kong combines the project's settings, its tenants' settings and the current app client " +
				"origins. At worst, a page that only one tenant allows can read responses to another tenant's " +
				"callers, and can send cookies if any of the combined settings allow cookies. The page still needs " +
				"those callers' credentials.",
			Remedy: "If a tenant's pages must be kept separate, serve the tenant from its own project and export " +
				"that project.",
		},
		{
			Reason: "unused",
			Status: bundle.Exact,
			How:    "upstreams handle CORS themselves",
			Note:   "No app client has a redirect URI with an origin, so upstreams still handle CORS themselves.",
		},
	}
}

func tenantCORSFates() []bundle.Fate {
	const together = "the `cors` plugin of each service, combined with the settings of the project and other tenants"
	return []bundle.Fate{
		{
			Reason: "union",
			Status: bundle.Approximate,
			How:    together,
			Note: "The pages that the tenant allows can call the API. Kong doesn't know the caller's tenant. " +
				"At worst, a page that only the project or another tenant allows can read responses to this tenant's " +
				"callers, and can send cookies if any of the combined settings allow cookies. The page still needs " +
				"the callers' credentials. Redirect URI origins are copied at the time of the export. " + oddOrigins,
			Remedy: "In the `cors` plugin in gateway/gateway.yaml, remove the origins that none of your tenants need.",
		},
		{
			Reason: "any_origin",
			Status: bundle.Approximate,
			How:    together,
			Note: "The project or one of its tenants allows every origin, and Kong doesn't know the caller's " +
				"tenant. At worst, any page that has credentials from this tenant's callers can read responses to " +
				"those callers, and no page can send cookies.",
			Remedy: "In the `cors` plugin in gateway/gateway.yaml, replace * with a list of origins.",
		},
		{
			Reason: "unused",
			Status: bundle.Exact,
			How:    "the project's settings",
			Note:   "No app client in the tenant has a redirect URI with an origin, so the project's settings apply.",
		},
		{
			Reason: "detached",
			Status: bundle.Exact,
			How:    "not in the gateway",
			Note:   "The project doesn't serve the tenant, so calls with the tenant's credentials get 403.",
		},
	}
}
