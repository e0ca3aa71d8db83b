//go:build conformance

package conformance

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/sample"
	"postern/testkit/scripted"
)

// transformShapes are transforms of each operation alone, and of all in their order.
func transformShapes() map[string]snapshot.Transforms {
	both := func(c snapshot.Changes) snapshot.Transforms {
		return snapshot.Transforms{Request: c, Response: c}
	}
	return map[string]snapshot.Transforms{
		"remove":  both(snapshot.Changes{Remove: []string{"X-Known", "x-twice", "X-Absent"}}),
		"rename":  both(snapshot.Changes{Rename: []string{"X-Known:X-New", "X-Twice:X-Known", "X-Absent:X-Other"}}),
		"replace": both(snapshot.Changes{Replace: []string{"X-Known:r", "x-twice:it's: \"r\"", "X-Absent:r"}}),
		"add":     both(snapshot.Changes{Add: []string{"X-Known:a", "X-Absent:a:b", "x-lower:a ${HOME} %20"}}),
		"append":  both(snapshot.Changes{Append: []string{"X-Known:1", "X-Twice:2", "X-Absent:3", "X-Absent:4"}}),
		"all": both(snapshot.Changes{
			Remove:  []string{"X-Other"},
			Rename:  []string{"X-Known:X-Other", "X-Twice:X-New"},
			Replace: []string{"X-Other:replaced", "X-New:replaced", "X-Twice:replaced"},
			Add:     []string{"X-Known:added", "X-New:added", "X-Other:added", "X-Twice:added"},
			Append:  []string{"X-Known:appended", "X-Other:appended", "X-Last:1"},
		}),
		"query": {
			Query: snapshot.Changes{
				Remove:  []string{"gone", "X"},
				Rename:  []string{"old:new", "a/b:c&d", "absent:kept"},
				Replace: []string{"known:it's: \"r\" & more", "absent:r", "new:replaced"},
				Add:     []string{"known:a", "added:a b+c%20~!*()", "z:1"},
				Append:  []string{"known:last", "flag:1", "more:1", "more:2"},
			},
		},
		"query untouched": {Query: snapshot.Changes{Remove: []string{"nothing"}}},
		"standard headers": {
			Request: snapshot.Changes{
				Remove:  []string{"Cookie", "Accept-Encoding", "Referer"},
				Replace: []string{"User-Agent:gateway"},
				Add:     []string{"Accept:application/json"},
				Append:  []string{"Cache-Control:no-cache"},
			},
			Response: snapshot.Changes{
				Remove:  []string{"Set-Cookie", "ETag", "Last-Modified"},
				Replace: []string{"Cache-Control:no-store", "Location:https://elsewhere.example/"},
				Add:     []string{"X-Frame-Options:DENY", "Strict-Transport-Security:max-age=31536000"},
			},
		},
	}
}

func transformCases(k string) []Case {
	known := []string{
		"X-Known: 1", "X-Twice: a", "x-twice: b", "X-Other: before", "Cookie: a=b; c=d", "Referer: https://r.example",
	}
	with := func(more ...string) []string { return append(slices.Clone(known), more...) }
	out := []Case{
		get("nothing to change", prod+"/x", k),
		get("all headers", prod+"/x", with(k)...),
		get("spelled otherwise", prod+"/x", k, "x-KNOWN: 1", "X-TWICE: 1"),
		get("an empty value", prod+"/x", k, "X-Known:", "X-Twice:"),
		get("an underscore", prod+"/x", k, "X_Known: 1", "x_twice: 2"),
		get("a query", prod+"/x?X-Known=1&a=b", with(k)...),
		get("standard headers", prod+"/x", k, "User-Agent: mine", "Accept: text/plain", "Cache-Control: max-age=0",
			"Accept-Encoding: gzip"),
		get("refused", prod+"/x", known...),
		get("a wrong key", prod+"/x", with("X-API-Key: none")...),
		get("a hidden dot segment", prod+"/x%252f..%252fy", with(k)...),
		one("HEAD", "HEAD", projectHost, prod+"/x", with(k)...),
		withBody("POST", "POST", projectHost, prod+"/x", "hello",
			with(k, "Content-Length: 5", "Content-Type: text/plain")...),
		one("DELETE", "DELETE", projectHost, prod+"/x", with(k)...),
		one("by the name of the host", "GET", bareHost, "/shop"+prod+"/x", with(k)...),
		websocket("websocket", prod+"/ws", with(k)...),
	}
	for n, query := range []string{
		"", "?", "??", "?&", "?=", "?=a", "?a", "?a=", "?a=1&a=2", "?b=1&a=2&b=3", "?gone=1&x=1&X=2",
		"?old=1&new=2&old=3",
		"?known=1&known=2", "?known", "?flag", "?flag=", "?flag&flag=2", "?a%2Fb=1&c=2", "?a/b=%2F/&a/c=:",
		"?q=a+b%20c%2B",
		"?q=%41%zz%4&%=1", "?q=%C3%A4%00%ff", "?q=\xc3\xa4", "?q=a%26b%3Dc", "?q=!$'()*,-._~;:@[]{}|^`%22%5C%3C%3E",
		"?a=1;b=2", "?a=1&&b=2&", "?a==1", "?gone=?", "?nothing?", "?%61=1&a=2", "?a-b=1&a=2&ab=3&A=4&a.b=5",
	} {
		out = append(out, get(fmt.Sprintf("query %d %s", n, query), prod+"/x"+query, k))
	}
	for _, s := range slices.Concat(scripted.Transformed(), scripted.Cookies()) {
		out = append(out, get("answer "+s.Name, prod+scripted.Path+s.Name, with(k)...))
	}
	return out
}

// Headers of requests and responses are changed in the same way.
func TestConformanceTransforms(t *testing.T) {
	shapes, sent := transformShapes(), 0
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		t.Run(name, func(t *testing.T) {
			up := newUpstream(t)
			project, keys := sample.Fresh(up.url, sample.RequiresKeys())
			project.Versions[0].Transforms = shapes[name]
			folder := exportOf(t, project, keys, bundle.Options{Consumers: true})
			kong, _ := startKong(t, folder, up)
			cases := transformCases(key(keys["active"]))
			sent += len(cases)
			run(t, cases, declarations(t, folder), startPosternOf(t, up, project, keys), kong)
		})
	}
	if t.Logf("%d requests", sent); sent < 120 {
		t.Errorf("%d requests", sent)
	}
}
