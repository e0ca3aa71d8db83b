package kong

import (
	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
)

// pluginDoc is one of Kong's own plugins at a service or a route.
type pluginDoc struct {
	Name   string `json:"name"`
	Config any    `json:"config"`
}

const (
	requestTransformer  = "request-transformer"
	responseTransformer = "response-transformer"
)

// transformerConfig is the configuration of either transformer. Values are literal: Kong runs with
// untrusted_lua off, and those that it would take for templates are refused when they are saved.
type transformerConfig struct {
	Remove  *headerList `json:"remove,omitempty"`
	Rename  *headerList `json:"rename,omitempty"`
	Replace *headerList `json:"replace,omitempty"`
	Add     *headerList `json:"add,omitempty"`
	Append  *headerList `json:"append,omitempty"`
}

type headerList struct {
	Headers []string `json:"headers,omitempty"`
	Query   []string `json:"querystring,omitempty"` // of requests
}

// pluginsOf returns Kong's own plugins of a service.
func pluginsOf(p *snapshot.Project, pl place) []pluginDoc {
	out := corsOf(p)
	add := func(name string, headers, query snapshot.Changes) {
		if !headers.None() || !query.None() {
			out = append(out, pluginDoc{name, transformerOf(headers, query)})
		}
	}
	transforms := &pl.version.Transforms
	add(requestTransformer, policy.ChangesBeside(transforms.Request, pl.environment.Headers), transforms.Query)
	add(responseTransformer, transforms.Response, snapshot.Changes{})
	return out
}

func transformerOf(headers, query snapshot.Changes) transformerConfig {
	both := func(headers, query []string) *headerList {
		if len(headers)+len(query) == 0 {
			return nil
		}
		return &headerList{headers, query}
	}
	return transformerConfig{
		Remove:  both(headers.Remove, query.Remove),
		Rename:  both(headers.Rename, query.Rename),
		Replace: both(headers.Replace, query.Replace),
		Add:     both(headers.Add, query.Add),
		Append:  both(headers.Append, query.Append),
	}
}

// judgeTransform points at the plugin of the first service that has it.
func judgeTransform(p *snapshot.Project, s bundle.Subject) bundle.Verdict {
	v, name := bundle.Verdict{}, requestTransformer
	if !s.Version.Transforms.Query.None() && len(p.CallSigningKeys) > 0 {
		v.Reason = "signed_query"
	}
	if s.Place == bundle.TransformResponse {
		v.Reason, name = responseReason, responseTransformer
	}
	for i, pl := range places(p) {
		if pl.version.ID != s.Version.ID {
			continue
		}
		for n, plugin := range pluginsOf(p, pl) {
			if plugin.Name == name {
				v.Target = bundle.At(gatewayFile, "/services/%d/plugins/%d/config", i, n)
				return v
			}
		}
	}
	return v
}

const responseReason = "response_plugin"

func transformFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "request_plugin",
			Status: bundle.Exact,
			How:    "plugin request-transformer of each service",
			Note:   "Headers and queries of requests are changed in the same way before they reach the upstream.",
		},
		{
			Reason: "signed_query",
			Status: bundle.Lossy,
			How:    "plugin request-transformer of each service, behind the signature",
			Note: "Headers and queries of requests are changed in the same way, but Kong signs a call before: the " +
				"signature is for the query that the caller sent, and upstreams that verify it refuse the call.",
			Remedy: "Have upstreams verify signatures without @query, or remove the changes to the query.",
		},
		{
			Reason: responseReason,
			Status: bundle.Exact,
			How:    "plugin response-transformer of each service",
			Note:   "The headers of responses are changed in the same way, also of those that refuse a call.",
		},
	}
}
