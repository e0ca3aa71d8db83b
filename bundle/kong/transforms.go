package kong

import (
	"fmt"

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
	Remove  *changeList `json:"remove,omitempty"`
	Rename  *changeList `json:"rename,omitempty"`
	Replace *changeList `json:"replace,omitempty"`
	Add     *changeList `json:"add,omitempty"`
	Append  *changeList `json:"append,omitempty"`
}

type changeList struct {
	Headers []string `json:"headers,omitempty"`
	Query   []string `json:"querystring,omitempty"` // of requests
	Body    []string `json:"body,omitempty"`        // of requests
	JSON    []string `json:"json,omitempty"`        // of responses
	Types   []string `json:"json_types,omitempty"`
}

func (l changeList) orNil() *changeList {
	if len(l.Headers)+len(l.Query)+len(l.Body)+len(l.JSON) == 0 {
		return nil
	}
	return &l
}

// pluginsOf returns Kong's own plugins of a service.
func pluginsOf(p *snapshot.Project, pl place) []pluginDoc {
	out := corsOf(p)
	t := &pl.version.Transforms
	headers := policy.RequestChanges(t, pl.environment.Headers)
	if !headers.None() || !t.Query.None() || !t.RequestBody.None() {
		out = append(out, pluginDoc{requestTransformer, requestChanges(&headers, &t.Query, &t.RequestBody)})
	}
	if headers = policy.ResponseChanges(t); !headers.None() || !t.ResponseBody.None() {
		out = append(out, pluginDoc{responseTransformer, responseChanges(&headers, &t.ResponseBody)})
	}
	return out
}

func requestChanges(headers, query, body *snapshot.Changes) transformerConfig {
	list := func(of func(*snapshot.Changes) []string) *changeList {
		return changeList{Headers: of(headers), Query: of(query), Body: of(body)}.orNil()
	}
	return transformerConfig{
		Remove:  list(func(c *snapshot.Changes) []string { return c.Remove }),
		Rename:  list(func(c *snapshot.Changes) []string { return c.Rename }),
		Replace: list(func(c *snapshot.Changes) []string { return c.Replace }),
		Add:     list(func(c *snapshot.Changes) []string { return c.Add }),
		Append:  list(func(c *snapshot.Changes) []string { return c.Append }),
	}
}

func responseChanges(headers *snapshot.Changes, body *snapshot.BodyChanges) transformerConfig {
	return transformerConfig{
		Remove:  changeList{Headers: headers.Remove, JSON: body.Remove}.orNil(),
		Rename:  changeList{Headers: headers.Rename, JSON: body.Rename}.orNil(),
		Replace: changeList{Headers: headers.Replace, JSON: body.Replace, Types: body.Types.Replace}.orNil(),
		Add:     changeList{Headers: headers.Add, JSON: body.Add, Types: body.Types.Add}.orNil(),
		Append:  changeList{Headers: headers.Append, JSON: body.Append, Types: body.Types.Append}.orNil(),
	}
}

// bodySettings returns what Kong needs to read the bodies that request-transformer changes, for its compose
// file. One that does not fit into the buffer would be replaced by what is added to it.
func bodySettings(p *snapshot.Project) string {
	for i := range p.Versions {
		if !p.Versions[i].Transforms.RequestBody.None() {
			return fmt.Sprintf("\n      # The plugin request-transformer changes bodies that fit into this buffer. "+
				"The plugin\n      # postern-auth refuses larger ones.\n"+
				"      KONG_NGINX_HTTP_CLIENT_BODY_BUFFER_SIZE: \"%dm\"", policy.MaxChangedBody>>20)
		}
	}
	return ""
}

// judgeTransform points at the plugin of the first service that has it.
func judgeTransform(p *snapshot.Project, s bundle.Subject) bundle.Verdict {
	v, name := bundle.Verdict{}, requestTransformer
	t := &s.Version.Transforms
	signed := len(p.CallSigningKeys) > 0 && !t.Query.None()
	switch {
	case s.Place == bundle.TransformResponse && t.ResponseBody.None():
		v.Reason, name = responseReason, responseTransformer
	case s.Place == bundle.TransformResponse:
		v.Reason, name = "response_bodies", responseTransformer
	case signed:
		v.Reason = "signed_query"
	case !t.RequestBody.None():
		v.Reason = "request_bodies"
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
			Reason: "request_bodies",
			Status: bundle.Approximate,
			How: "plugin request-transformer of each service; plugin postern-auth, `body_limit`, refuses larger " +
				"bodies",
			Note: "Headers and queries of requests are changed in the same way, and so are members of JSON objects " +
				"and forms, but Kong writes these anew: in another order, numbers with 14 digits, of members with " +
				"one name the last. At worst a longer number, such as a 64-bit id, reaches the upstream rounded. " +
				"Kong also takes NaN, 0x10 and the like for JSON, and replaces a malformed multipart form by what is " +
				"added to it; the hosted proxy leaves both alone. Some of this Kong answers 500.",
			Remedy: "Have callers send numbers of more than 14 digits as strings.",
		},
		{
			Reason: "response_bodies",
			Status: bundle.Approximate,
			How:    "plugin response-transformer of each service",
			Note: "Headers of responses are changed in the same way, and so are members of JSON objects, but Kong " +
				"writes these anew: in another order, numbers with 14 digits. At worst a longer number, such as a " +
				"64-bit id, reaches the caller rounded. A response whose JSON is neither an object nor an array is " +
				"broken off by Kong, and passed on by the hosted proxy; one of more than 4 MiB is changed by Kong, " +
				"and answered 502 response_too_large by the hosted proxy.",
			Remedy: "Have the upstream send numbers of more than 14 digits as strings.",
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
