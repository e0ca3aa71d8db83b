//go:build conformance

package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit/sample"
	"postern/testkit/scripted"
)

// bodyShapes are transforms of bodies, each operation alone, and all in their order.
func bodyShapes() map[string]snapshot.Transforms {
	both := func(c snapshot.Changes) snapshot.Transforms {
		return snapshot.Transforms{RequestBody: c, ResponseBody: snapshot.BodyChanges{Changes: c}}
	}
	typed := snapshot.BodyChanges{
		Changes: snapshot.Changes{
			Replace: []string{"known:2.50", "zero:true", "text:t"},
			Add:     []string{"flag:false", "n:-1e2", "s:1"},
			Append:  []string{"list:2", "list:true", "list:x"},
		},
		Types: snapshot.ChangeTypes{
			Replace: []string{"number", "boolean", "string"},
			Add:     []string{"boolean", "number", "string"},
			Append:  []string{"number", "boolean", "string"},
		},
	}
	return map[string]snapshot.Transforms{
		"remove": both(snapshot.Changes{Remove: []string{"gone", "null", "absent"}}),
		"rename": both(snapshot.Changes{
			Rename: []string{"old:new", "no:yes", "null:nothing", "zero:text", "absent:other"},
		}),
		"replace": both(snapshot.Changes{
			Replace: []string{"known:it's: <r>/ä", "no:r", "null:r", "absent:r", "list:r"},
		}),
		"add": both(snapshot.Changes{Add: []string{"known:a", "no:a", "null:a", "absent:a b/c", "empty:1"}}),
		"append": both(snapshot.Changes{Append: []string{
			"text:1", "list:2", "list:3", "object:4", "number:5", "no:6", "absent:7",
		}}),
		"all": both(snapshot.Changes{
			Remove:  []string{"gone"},
			Rename:  []string{"old:new", "known:text"},
			Replace: []string{"text:replaced", "new:replaced"},
			Add:     []string{"known:added", "gone:added"},
			Append:  []string{"gone:appended", "text:appended"},
		}),
		"typed": {ResponseBody: typed},
		"next to headers": {
			Request:      snapshot.Changes{Add: []string{"X-Added:1"}, Remove: []string{"X-Known"}},
			Query:        snapshot.Changes{Add: []string{"page:1"}},
			RequestBody:  snapshot.Changes{Add: []string{"a:1"}},
			Response:     snapshot.Changes{Add: []string{"X-Added:1"}},
			ResponseBody: snapshot.BodyChanges{Changes: snapshot.Changes{Add: []string{"a:1"}}},
		},
	}
}

const jsonType, formType = "application/json", "application/x-www-form-urlencoded"

// sentJSON are bodies that are said to be JSON.
var sentJSON = map[string]string{
	"object": `{"gone":1,"old":{"deep":[1,"x",null]},"known":"1","text":"a/b","list":[1],"object":{"a":1},"number":2,` +
		`"zero":0,"no":false,"null":null}`,
	"spaced":       " { \"gone\" : 1 ,\n\t\"known\" : [ ] , \"object\" : { } , \"list\": [ ]\r\n} ",
	"escaped":      `{"g\u006fne":1,"old":"\u00e4\ud83d\ude00\"\\\/","known":"ä","text":"\n"}`,
	"repeated":     `{"gone":1,"known":1,"gone":2,"known":2,"a":1,"a":2}`,
	"numbers":      `{"a":1.50,"b":-0.25,"c":1e3,"d":12345678901234,"e":1e-7,"known":0}`,
	"empty object": `{}`,
	"array":        `[{"gone":1},2]`,
	"empty array":  `[]`,
	"empty":        "",
	"blank":        " ",
	"invalid":      `{"gone":1`,
	"two":          `{"gone":1}{"gone":1}`,
	"surrogate":    `{"gone":"\ud800"}`,
	"deep":         strings.Repeat("[", 1001) + strings.Repeat("]", 1001),
	"coded":        "\x1f\x8b\x08\x00",
	"string":       `"a"`,
	"number":       " 1",
	"true":         "true",
	"null":         "null",
	"20 KB":        `{"gone":1,"a":"` + strings.Repeat("x", 20<<10) + `"}`,
	"1 MB":         `{"gone":1,"a":"` + strings.Repeat("x", 1<<20) + `"}`,
	"largest":      `{"gone":1,"a":"` + strings.Repeat("x", policy.MaxChangedBody-len(`{"gone":1,"a":""}`)) + `"}`,
	"too large":    `{"gone":1,"a":"` + strings.Repeat("x", policy.MaxChangedBody-len(`{"gone":1,"a":""}`)+1) + `"}`,
}

var sentForms = []string{
	"", "gone=1&old=2&known=3", "known=1&known=2&old=1&old=2", "gone&known&text",
	"text=1&list=1&list=2&z=%2F+%C3%A4&=x&&a",
	"old=1&new=2", strings.Repeat("a=1&", 999) + "b=1", strings.Repeat("a=1&", 1000) + "b=1",
}

func sentParts() []string {
	part := func(name, value string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	const end = "--b--\r\n"
	return []string{
		end, part("gone", "1") + part("old", "2") + part("known", "3") + end,
		part("file\"; filename=\"a.bin", "\x00\x01--c") + part("text", "1") + part("known", "") + end,
		part("zero", "0") + part("text", "1") + part("null", "x") + end,
	}
}

// bodyCases are calls with bodies, and answers with some.
func bodyCases(k string) []Case {
	var out []Case
	send := func(name, method, contentType, body string, more ...string) {
		lines := append([]string{k, "Content-Type: " + contentType}, more...)
		sized := withBody(name, method, projectHost, prod+"/x", body,
			append(lines, fmt.Sprintf("Content-Length: %d", len(body)))...)
		out = append(out, sized)
		if body != "" && method == "POST" {
			out = append(out, withBody(name+", chunked", method, projectHost, prod+"/x",
				fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body), append(lines, "Transfer-Encoding: chunked")...))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sentJSON)) {
		send("JSON "+name, "POST", jsonType, sentJSON[name])
	}
	for i, body := range sentForms {
		send(fmt.Sprintf("form %d", i), "POST", formType, body)
	}
	for i, body := range sentParts() {
		send(fmt.Sprintf("parts %d", i), "POST", "multipart/form-data; boundary=b", body)
		send(fmt.Sprintf("parts %d, quoted", i), "POST", `multipart/form-data; boundary="b"`, body)
	}
	for _, contentType := range []string{
		"Application/JSON; charset=utf-8", "application/json-patch+json", "application/problem+json", "text/plain",
		"text/plain; a=application/json", "application/octet-stream",
		"application/x-www-form-urlencoded; charset=utf-8",
	} {
		send("type "+contentType, "POST", contentType, sentJSON["object"])
	}
	for _, method := range []string{"PUT", "PATCH", "DELETE", "GET"} {
		send(method, method, jsonType, sentJSON["object"])
		send(method+" empty", method, jsonType, "")
	}
	send("with a digest", "POST", jsonType, `{"gone":1}`, "Content-Digest: sha-256=:x:", "Digest: x", "Content-MD5: x")
	send("expecting 100", "POST", jsonType, `{"gone":1}`, "Expect: 100-continue")
	send("a large text", "POST", "text/plain", strings.Repeat("x", policy.MaxChangedBody+1))
	out = append(out,
		get("no body", prod+"/x", k), get("asking for gzip", prod+"/x", k, "Accept-Encoding: gzip, br"),
		get("refused", prod+"/x"), get("a wrong key", prod+"/x", "X-API-Key: none"),
		get("a hidden dot segment", prod+"/x%252f..%252fy", k),
		one("HEAD", "HEAD", projectHost, prod+scripted.Path+"json-object", k),
		one("HEAD text", "HEAD", projectHost, prod+scripted.Path+"json-text", k),
		websocket("websocket", prod+"/ws", k))
	for _, s := range slices.Concat(scripted.JSONAnswers(), scripted.Transformed()) {
		out = append(out, get("answer "+s.Name, prod+scripted.Path+s.Name, k))
	}
	return asValued(out)
}

func asValued(cases []Case) []Case {
	for i := range cases {
		cases[i].Values = true
	}
	return cases
}

// declaredBodies show what the ledger says of bodies that Kong writes otherwise.
func declaredBodies(k string) []Case {
	post := func(name, body string) Case {
		return withBody(name, "POST", projectHost, prod+"/x", body, k, "Content-Type: "+jsonType,
			fmt.Sprintf("Content-Length: %d", len(body)))
	}
	requests := []Case{
		post("a long number", `{"gone":1,"id":1234567890123456789}`), post("NaN", `{"gone":1,"n":NaN}`),
		post("hexadecimal", `{"gone":1,"n":0x10}`),
	}
	for digits := 15; digits <= 20; digits++ {
		number := "12345678912345678912"[:digits]
		requests = append(requests, post(fmt.Sprintf("%d digits", digits), `{"gone":1,"id":`+number+`}`),
			post(fmt.Sprintf("%d digits with a fraction", digits), `{"gone":1,"id":0.`+number+`}`))
	}
	var answers []Case
	for _, s := range slices.Concat(scripted.LongNumbers(), scripted.JSONScalars()) {
		answers = append(answers, get("answer "+s.Name, prod+scripted.Path+s.Name, k))
	}
	return asValued(append(differs(requests, RequestBodies), differs(answers, ResponseBodies)...))
}

// Bodies of requests and responses are changed in the same way; JSON and forms are compared by their values.
func TestConformanceBodies(t *testing.T) {
	shapes, sent := bodyShapes(), 0
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		t.Run(name, func(t *testing.T) {
			up := newUpstream(t)
			project, keys := sample.Fresh(up.url, sample.RequiresKeys())
			project.Versions[0].Transforms = shapes[name]
			folder := exportOf(t, project, keys, bundle.Options{Consumers: true})
			kong, _ := startKong(t, folder, up)
			cases := bodyCases(key(keys["active"]))
			if name == "remove" {
				cases = append(cases, declaredBodies(key(keys["active"]))...)
			}
			sent += len(cases)
			run(t, cases, declarations(t, folder), startPosternOf(t, up, project, keys), kong)
		})
	}
	if t.Logf("%d requests", sent); sent < 1200 {
		t.Errorf("only %d requests", sent)
	}
}
