package kong

import (
	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
)

// pluginDoc is one of Kong's own plugins at a service.
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
	Headers []string `json:"headers"`
}

// pluginsOf returns Kong's own plugins of a service.
func pluginsOf(p *snapshot.Project, pl place) []pluginDoc {
	out := corsOf(p)
	add := func(name string, changes snapshot.HeaderChanges) {
		if !changes.None() {
			out = append(out, pluginDoc{name, transformerOf(changes)})
		}
	}
	add(requestTransformer, policy.ChangesBeside(pl.version.Transforms.Request, pl.environment.Headers))
	add(responseTransformer, pl.version.Transforms.Response)
	return out
}

func transformerOf(changes snapshot.HeaderChanges) transformerConfig {
	headers := func(list []string) *headerList {
		if len(list) == 0 {
			return nil
		}
		return &headerList{list}
	}
	return transformerConfig{
		Remove:  headers(changes.Remove),
		Rename:  headers(changes.Rename),
		Replace: headers(changes.Replace),
		Add:     headers(changes.Add),
		Append:  headers(changes.Append),
	}
}

// judgeTransform points at the plugin of the first service that has it.
func judgeTransform(p *snapshot.Project, s bundle.Subject) bundle.Verdict {
	v, name := bundle.Verdict{}, requestTransformer
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
			Note:   "The headers of requests are changed in the same way before they reach the upstream.",
		},
		{
			Reason: responseReason,
			Status: bundle.Exact,
			How:    "plugin response-transformer of each service",
			Note:   "The headers of responses are changed in the same way, also of those that refuse a call.",
		},
	}
}
