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

// changesDoc is the configuration of either transformer, and of our plugin. Values are literal: Kong runs with
// untrusted_lua off, and Postern doesn't accept values that its transformers would interpret as templates.
type changesDoc[L any] struct {
	Remove  L `json:"remove,omitempty"`
	Rename  L `json:"rename,omitempty"`
	Replace L `json:"replace,omitempty"`
	Add     L `json:"add,omitempty"`
	Append  L `json:"append,omitempty"`
}

// changeList has the entries of an operation of a transformer.
type changeList struct {
	Body  []string `json:"body,omitempty"` // of requests
	JSON  []string `json:"json,omitempty"` // of responses
	Types []string `json:"json_types,omitempty"`
}

func (l changeList) orNil() *changeList {
	if len(l.Body)+len(l.JSON) == 0 {
		return nil
	}
	return &l
}

// transformsDoc has an environment's changes to headers and queries, which our plugin makes.
type transformsDoc struct {
	Request  *changesDoc[[]string] `json:"request,omitempty"`
	Query    *changesDoc[[]string] `json:"query,omitempty"`
	Response *changesDoc[[]string] `json:"response,omitempty"`
}

func transformsOf(pl place) transformsDoc {
	list := func(c snapshot.Changes) *changesDoc[[]string] {
		if c.None() {
			return nil
		}
		return &changesDoc[[]string]{c.Remove, c.Rename, c.Replace, c.Add, c.Append}
	}
	t := &pl.version.Transforms
	return transformsDoc{
		Request:  list(policy.RequestChanges(t, pl.environment.Headers)),
		Query:    list(t.Query),
		Response: list(policy.ResponseChanges(t)),
	}
}

// transforms writes the changes of headers and queries by environment.
func (c *configWriter) transforms() {
	byEnvironment := map[string]transformsDoc{}
	for _, pl := range layoutOf(c.b).places {
		if doc := transformsOf(pl); doc != (transformsDoc{}) {
			byEnvironment[pl.environment.ID] = doc
		}
	}
	if len(byEnvironment) > 0 {
		c.out.Raw(",\n      \"transforms\": ")
		c.out.Value(byEnvironment)
	}
}

// pluginsOf returns Kong's own plugins of a service.
func pluginsOf(p *snapshot.Project, pl place) []pluginDoc {
	out := corsOf(p)
	t := &pl.version.Transforms
	if !t.RequestBody.None() {
		out = append(out, pluginDoc{requestTransformer, requestChanges(&t.RequestBody)})
	}
	if !t.ResponseBody.None() {
		out = append(out, pluginDoc{responseTransformer, responseChanges(&t.ResponseBody)})
	}
	return out
}

func requestChanges(c *snapshot.Changes) changesDoc[*changeList] {
	list := func(entries []string) *changeList { return changeList{Body: entries}.orNil() }
	return changesDoc[*changeList]{list(c.Remove), list(c.Rename), list(c.Replace), list(c.Add), list(c.Append)}
}

func responseChanges(c *snapshot.BodyChanges) changesDoc[*changeList] {
	list := func(entries, types []string) *changeList { return changeList{JSON: entries, Types: types}.orNil() }
	return changesDoc[*changeList]{
		list(c.Remove, nil), list(c.Rename, nil), list(c.Replace, c.Types.Replace), list(c.Add, c.Types.Add),
		list(c.Append, c.Types.Append),
	}
}

// bodySettings returns the settings that Kong needs in its compose file to read the bodies that request-transformer
// changes. If a body doesn't fit into the buffer, the plugin replaces it with the members that it should only add.
func bodySettings(p *snapshot.Project) string {
	for i := range p.Versions {
		if !p.Versions[i].Transforms.RequestBody.None() {
			return fmt.Sprintf("\n      # The request-transformer plugin changes bodies that fit into this buffer. "+
				"The\n      # postern-auth plugin refuses larger ones.\n"+
				"      KONG_NGINX_HTTP_CLIENT_BODY_BUFFER_SIZE: \"%dm\"", policy.MaxChangedBody>>20)
		}
	}
	return ""
}

// judgeTransform points at our plugin's changes of the first environment that has some, or at the plugin of its
// service that changes bodies.
func judgeTransform(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	t, v := &s.Version.Transforms, bundle.Verdict{}
	direction, bodies := "request", ""
	if s.Place == bundle.TransformResponse {
		v.Reason, direction = responseReason, "response"
	}
	switch {
	case s.Place == bundle.TransformResponse && !t.ResponseBody.None():
		v.Reason, bodies = "response_bodies", responseTransformer
	case s.Place != bundle.TransformResponse && !t.RequestBody.None():
		v.Reason, bodies = "request_bodies", requestTransformer
	case s.Place != bundle.TransformResponse && t.Request.None() && t.ResponseBody.None():
		direction = "query"
	}
	for _, pl := range layoutOf(b).byVersion[s.Version] {
		if bodies == "" {
			v.Target = bundle.At(gatewayFile, "/plugins/0/config/transforms/%s/%s", pl.environment.ID, direction)
			return v
		}
		for n, plugin := range pluginsOf(b.Project, pl) {
			if plugin.Name == bodies {
				v.Target = bundle.At(gatewayFile, "/services/%d/plugins/%d/config", pl.index, n)
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
			Title:  "Request transforms",
			Status: bundle.Exact,
			How:    "the `postern-auth` plugin, `transforms`",
			Note:   "Request headers and query strings are changed the same way before they reach the upstream.",
		},
		{
			Reason: "request_bodies",
			Title:  "Request body transforms",
			Status: bundle.Approximate,
			How: "the `request-transformer` plugin of each service; `body_limit` of the `postern-auth` plugin " +
				"refuses larger bodies",
			Note: "Request headers and query strings are changed the same way. So are JSON object members and " +
				"form fields, " +
				"but Kong rewrites the entire body: members are in a different order, numbers have at most 14 " +
				"digits, and if several members have the same name, only the last one is kept. At worst, a longer " +
				"number, such as a 64-bit ID, reaches the upstream rounded and in scientific notation: " +
				"9007199254740993 " +
				"becomes 9.007199254741e+15. Kong also accepts NaN, 0x10 and similar values as JSON, and replaces a " +
				"malformed multipart form with one that contains only the added members; the hosted gateway leaves " +
				"both unchanged. Kong returns 500 for some of these requests. If a request has two Accept-Encoding, " +
				"Content-Type, Range, Referer or User-Agent headers, the upstream gets the second one twice, even if " +
				"the request has no body. An empty User-Agent header also reaches the upstream.",
			Remedy: "Have callers send numbers with more than 14 digits as strings.",
		},
		{
			Reason: "response_bodies",
			Title:  "Response body transforms",
			Status: bundle.Approximate,
			How: "the `response-transformer` plugin of each service; the `postern-auth` plugin, `transforms`, for " +
				"headers",
			Note: "Response headers are changed the same way. So are members of JSON objects, but Kong rewrites the " +
				"entire body: members are in a different order, and numbers have at most 14 digits. At worst, a " +
				"longer number, such as a 64-bit ID, reaches the caller rounded and in scientific notation: " +
				"9007199254740993 becomes 9.007199254741e+15. Kong also accepts NaN, 0x10 and raw tabs as JSON, " +
				"which the hosted gateway leaves unchanged. Kong cuts off a response whose JSON is neither an object " +
				"nor an array; the hosted gateway passes it on. Kong also changes responses larger than 4 MiB; the " +
				"hosted gateway returns 502 response_too_large instead.",
			Remedy: "Have the upstream send numbers with more than 14 digits as strings.",
		},
		{
			Reason: responseReason,
			Title:  "Response transforms",
			Status: bundle.Exact,
			How:    "the `postern-auth` plugin, `transforms`",
			Note:   "Response headers are changed the same way, including in refusals.",
		},
	}
}
