package movein

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/policy"
)

// awsTarget is the target of an operation's calls.
type awsTarget struct {
	base     string // URL without the part of the path that comes from the call
	removed  string // beginning of the call's path that the target doesn't get, such as /api
	headers  string // that upstreams get, as encoded by headersKey
	insecure bool   // the certificate isn't verified
	literal  string // beginning of the paths of its version, if it has one of several versions
}

// The timeouts of integrations that have none. [AWS: quotas of REST and HTTP APIs]
const (
	restTimeout = 29_000
	httpTimeout = 30_000
)

// internet is the type of connections to public targets.
const internet = "INTERNET"

// readTarget sets the target of an operation, or says why it can't have one.
func (p *awsPlanner) readTarget(o *operation) {
	v := o.Integration
	skip := func(code string, details ...string) {
		o.skipped = true
		p.say(o.Entity, code, details...)
	}
	switch kind := strings.ToLower(v.Get("type").Text); {
	case !v.IsSet(), kind == "":
		skip("operation.no_integration")
		return
	case kind == "mock" && o.Method == "OPTIONS" && len(preflightHeaders(v)) > 0:
		o.isCORS = true
		return
	case kind == "mock":
		skip("operation.mock")
		return
	case kind != "http" && kind != "http_proxy":
		skip("operation.aws", strings.ToLower(kind))
		return
	case v.Get("connectionId").IsSet(), !strings.EqualFold(cmp.Or(v.Get("connectionType").Text, internet), internet):
		skip("operation.vpc_link")
		return
	case o.isDefault():
		skip("operation.default_route")
		return
	case kind == "http":
		p.say(o.Entity, "operation.custom")
	}
	for _, field := range o.UnfilledTarget {
		p.need(v.Get(strings.Split(field, ".")...))
	}
	method := strings.ToUpper(v.Get("httpMethod").Text)
	switch {
	case len(o.UnfilledTarget) > 0:
		skip("operation.placeholder")
		return
	case method != "" && method != o.Method && method != "ANY":
		skip("operation.method", method)
		return
	}
	o.timeout = restTimeout
	if o.api.IsHTTP {
		o.timeout = httpTimeout
	}
	o.timeout = clamp(v.Get("timeoutInMillis").Int(o.timeout), mostTimeout)
	o.target.insecure = v.Get("tlsConfig", "insecureSkipVerification").Bool(false)
	names, ok := p.readParameters(o)
	if !ok {
		skip("operation.parameters")
		return
	}
	uri := v.Get("uri").Text
	if !o.target.split(uri, o.path, names) || !isRulePath(o.path) {
		skip("operation.uri")
		return
	}
	if _, own, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(uri, "https://"), "http://"), "/"); own != "" &&
		strings.HasSuffix(own, "/") != strings.HasSuffix(o.Path, "/") {
		p.say(o.Entity, "operation.slash")
	}
	if o.api.IsHTTP && v.Get("responseParameters").IsSet() {
		p.say(o.Entity, "operation.responses")
	}
}

// readParameters reads what an integration sets from calls: names of its path parameters by those of its URI, and
// headers with values of their own. It returns false if the target would get another path.
func (p *awsPlanner) readParameters(o *operation) (names map[string]string, ok bool) {
	names = map[string]string{}
	var headers []Header
	for _, m := range o.Integration.Get("requestParameters").Members {
		value := m.Value.Text
		own, isOwn := strings.CutPrefix(m.Name, "integration.request.")
		place, name, _ := strings.Cut(own, ".")
		quotedText := len(value) >= 2 && value[0] == '\'' && value[len(value)-1] == '\''
		switch {
		case strings.HasSuffix(m.Name, ":path"): // of HTTP APIs
			return nil, false
		case isOwn && place == "path" && strings.HasPrefix(value, "method.request.path."):
			names[name] = strings.TrimPrefix(value, "method.request.path.")
		case isOwn && place == "path":
			return nil, false
		case isOwn && place == "header" && quotedText && len(m.Value.Placeholders) == 0 &&
			policy.CanSetForUpstream(name) && policy.IsUpstreamHeaderValue(value[1:len(value)-1]):
			name = http.CanonicalHeaderKey(name)
			headers = withHeader(headers, Header{Name: name, Value: value[1 : len(value)-1]})
		case isOwn && value == "method.request."+own: // as a proxy forwards it anyway
		default:
			p.say(o.Entity, "operation.mapping", m.Name)
		}
	}
	o.target.headers = headersKey(headers)
	return names, true
}

// headersKey encodes headers, so that targets can be compared.
func headersKey(headers []Header) string {
	var out strings.Builder
	for _, h := range headers {
		fmt.Fprintf(&out, "%s\x00%s\x00", h.Name, h.Value)
	}
	return out.String()
}

// headersOf returns the headers of a headersKey.
func headersOf(key string) (headers []Header) {
	texts := strings.Split(strings.TrimSuffix(key, "\x00"), "\x00")
	for i := 0; i+1 < len(texts); i += 2 {
		headers = append(headers, Header{Name: texts[i], Value: texts[i+1]})
	}
	return headers
}

// split sets base and removed, so that the URI is the base with the rest of the call's path. It returns false if there
// is no such base. names has the path parameters by the names in the URI.
func (t *awsTarget) split(uri string, path []string, names map[string]string) bool {
	scheme, rest, ok := strings.Cut(uri, "://")
	host, own, _ := strings.Cut(rest, "/")
	if !ok || scheme != "http" && scheme != "https" || host == "" || strings.ContainsAny(host, "{}@?#") ||
		strings.ContainsAny(own, "?#") {
		return false
	}
	segments := segmentsOf(own)
	same := 0
	for same < len(segments) && same < len(path) &&
		isSameSegment(segments[len(segments)-1-same], path[len(path)-1-same], names) {
		same++
	}
	removed, base := path[:len(path)-same], segments[:len(segments)-same]
	if slices.ContainsFunc(slices.Concat(removed, base), func(s string) bool {
		return strings.ContainsAny(s, "{}") || s == "" || s == "." || s == ".."
	}) {
		return false
	}
	t.base, t.removed = scheme+"://"+host+joined(base), joined(removed)
	u, err := url.Parse(t.base)
	return err == nil && u.Host != "" && isPrefix(t.removed)
}

func joined(segments []string) string {
	if len(segments) == 0 {
		return ""
	}
	return "/" + strings.Join(segments, "/")
}

// isSameSegment reports whether a segment of a URI is that of the call's path.
func isSameSegment(own, path string, names map[string]string) bool {
	if !isParameter(path) {
		return own == path
	}
	name := strings.TrimSuffix(strings.Trim(path, "{}"), "+")
	inner, ok := strings.CutPrefix(own, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !ok || !closed {
		return false
	}
	if mapped, known := names[inner]; known {
		return mapped == name
	}
	return inner == name
}

// environmentOf returns the environment of a family. It has one timeout, the longest of its operations.
func (p *awsPlanner) environmentOf(f *family, name string) contract.NewEnvironment {
	out := contract.NewEnvironment{Name: name, Target: f.target.base + f.target.literal}
	timeout := 0
	for _, o := range f.operations {
		timeout = max(timeout, o.timeout)
	}
	for _, o := range f.operations {
		if o.timeout < timeout {
			p.say(o.Entity, "operation.timeout")
		}
	}
	u := &out.Upstream
	u.Timeouts.ResponseMS, u.Timeouts.IdleMS = &timeout, new(timeout)
	u.Retries.Max = new(0)
	p.plan.egress(out.Target)
	return out
}
