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
// plugin takes an empty list for every origin. It cannot tell tenants apart: their settings and the
// project's stand in it together.
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

// oddOrigins is what url.parse of LuaSocket leads to (kong/plugins/cors/handler.lua,
// normalize_origin).
const oddOrigins = "Where the plugin compares several origins, it reads the Origin of a call as a URL: at worst a " +
	"call whose Origin is an empty line gets no answer, and one whose Origin has a slash, a path or user " +
	"information is answered as the origin without these. Browsers send none of these."

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
			Note:   "The same pages may call, as with one origin. " + oddOrigins,
		},
		{
			Reason: "app_origins",
			Status: bundle.Approximate,
			How:    "plugin cors of each service, with the origins that app clients have now",
			Note: "The same pages may call. The origins of redirect URIs stand in the list as they are now: at worst " +
				"the page of a redirect URI that is added later is refused by browsers. " + oddOrigins,
			Remedy: "Add the origins of new pages to the plugin cors in gateway/gateway.yaml.",
		},
		{
			Reason: "tenants",
			Status: bundle.Approximate,
			How:    "plugin cors of each service, with the settings of tenants too",
			Note: "The plugin answers every page by the settings of the project and its tenants together, with the " +
				"origins that app clients have now. At worst a page that only a tenant allows reads responses to the " +
				"callers of another, with cookies if any of them allows these; it still needs their credentials.",
			Remedy: "Serve a tenant whose pages must be kept apart by a project of its own, and export that.",
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

func tenantCORSFates() []bundle.Fate {
	const together = "plugin cors of each service, together with the project's settings and those of other tenants"
	return []bundle.Fate{
		{
			Reason: "union",
			Status: bundle.Approximate,
			How:    together,
			Note: "The pages that the tenant allows may call. The plugin does not know the caller's tenant: at worst " +
				"a page that only the project or another tenant allows reads responses to this tenant's callers, " +
				"with cookies if any of them allows these; it still needs their credentials. The origins of redirect " +
				"URIs stand in the list as they are now. " + oddOrigins,
			Remedy: "Remove origins from the plugin cors in gateway/gateway.yaml that none of your tenants needs.",
		},
		{
			Reason: "any_origin",
			Status: bundle.Approximate,
			How:    together,
			Note: "The project or one of its tenants allows every origin, and the plugin does not know the caller's " +
				"tenant: at worst any page reads responses to this tenant's callers, if it has their credentials, " +
				"and no page can send cookies.",
			Remedy: "Name origins in place of * in the plugin cors in gateway/gateway.yaml.",
		},
		{
			Reason: "unused",
			Status: bundle.Exact,
			How:    "the project's settings",
			Note: "No app client of the tenant has a redirect URI with an origin, so that the project's settings " +
				"apply.",
		},
		{
			Reason: "detached",
			Status: bundle.Exact,
			How:    "not in the gateway",
			Note:   "The project does not serve the tenant, whose calls are answered 403.",
		},
	}
}
