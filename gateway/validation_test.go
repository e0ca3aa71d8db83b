package gateway_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/openapi/validate"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
)

const ordersDocument = `{"openapi":"3.1.0","info":{"title":"Orders","version":"1"},
	"servers":[{"url":"https://upstream.example/secret"}],"paths":{
	"/orders":{"servers":[{"url":"https://upstream.example/other"}],
		"get":{"parameters":[{"name":"limit","in":"query","schema":{"type":"integer"}},
			{"name":"X-Trace","in":"header","schema":{"type":"string","maxLength":4}}]},
		"post":{"requestBody":{"required":true,"content":{
			"application/json":{"schema":{"type":"object","required":["price"],
				"properties":{"price":{"type":"number"}}}},
			"application/octet-stream":{}}}}},
	"/orders/{id}":{"get":{"servers":[{"url":"https://upstream.example/third"}],
		"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}]}}}}`

// withDocument gives version 1.0.0 a document.
func withDocument(validation snapshot.Validation, publication snapshot.Publication) rigOption {
	return withProject(func(p *snapshot.Project) {
		v := &p.Versions[0]
		v.OpenAPI, v.Validation, v.Publication = []byte(ordersDocument), validation, publication
	})
}

func jsonRequest(path, host, body string, lines ...string) string {
	lines = append(lines, "Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(body)))
	return request("POST", path, host, lines...) + body
}

func TestValidation_enforced(t *testing.T) {
	for path, options := range map[string][]rigOption{
		"engine":   {withDocument(snapshot.ValidationEnforce, "")},
		"net/http": {withDocument(snapshot.ValidationEnforce, ""), onNetHTTP},
	} {
		t.Run(path, func(t *testing.T) {
			r := newRig(t, nil, options...)
			for _, tc := range []struct {
				name, path string
				lines      []string
				want       string // of errors; "": forwarded
			}{
				{"matches", "/orders?limit=5", nil, ""},
				{
					"a query", "/orders?limit=secret", nil,
					`[{"in":"query","name":"limit","detail":"must be an integer"}]`,
				},
				{"a header", "/orders", []string{"x-trace: secret"},
					`[{"in":"header","name":"X-Trace","detail":"must have at most 4 characters"}]`},
				{"a path", "/orders/secret", nil, `[{"in":"path","name":"id","detail":"must be an integer"}]`},
				{"an escape", "/orders/%37", nil, ""},
				{"not described", "/other?limit=x", nil, ""},
				{"parameters of a segment", "/orders;x?limit=5", nil, ""},
				{
					"a query behind parameters of a segment", "/orders;x?limit=secret", nil,
					`[{"in":"query","name":"limit","detail":"must be an integer"}]`,
				},
				{
					"an encoded slash", "/orders%2Fsecret", nil,
					`[{"in":"path","name":"id","detail":"must be an integer"}]`,
				},
				{
					"an escape of an escape", "/order%2573?limit=secret", nil,
					`[{"in":"query","name":"limit","detail":"must be an integer"}]`,
				},
			} {
				got := r.get("/shop/1.0.0/prod"+tc.path, tc.lines...)
				if tc.want == "" {
					r.wantCode(tc.name, got, 200, "")
					continue
				}
				r.wantCode(tc.name, got, 422, "invalid_request")
				if !strings.Contains(got.body, `"errors":`+tc.want) || strings.Contains(got.body, "secret") ||
					got.Header.Get("Content-Type") != "application/json" {
					t.Errorf("%s: %s", tc.name, got.body)
				}
			}
			r.wantCode("credentials first", r.get("/shop/1.0.0/prod/orders?limit=x", noKey), 401,
				"credentials_required")
			head := r.call("HEAD", "/shop/1.0.0/prod/orders?limit=x")
			if head.StatusCode != 422 || head.body != "" {
				t.Errorf("HEAD: %d %q", head.StatusCode, head.body)
			}
		})
	}
}

// Bodies are read before the upstream gets anything of the call, and arrive there as they were sent.
func TestValidation_bodies(t *testing.T) {
	for path, options := range map[string][]rigOption{
		"engine":   {withDocument(snapshot.ValidationEnforce, "")},
		"net/http": {withDocument(snapshot.ValidationEnforce, ""), onNetHTTP},
	} {
		t.Run(path, func(t *testing.T) {
			r := newRig(t, nil, options...)
			const at = "/shop/1.0.0/prod/orders"
			key := "X-API-Key: " + r.key
			packed := gzipped(t, `{"price":"secret"}`)
			good := gzipped(t, `{"price":1}`)
			large := `{"price":1,"note":"` + strings.Repeat("x", validate.MaxBody) + `"}`
			chunked := func(body string) string {
				return request("POST", at, r.addr, key, "Content-Type: application/json", "Transfer-Encoding: chunked",
					"Trailer: X-Sum") + fmt.Sprintf("%x\r\n%s\r\n0\r\nX-Sum: 1\r\n\r\n", len(body), body)
			}
			for _, tc := range []struct{ name, bytes, want, body string }{
				{"matches", jsonRequest(at, r.addr, `{"price":1}`, key), "", `{"price":1}`},
				{
					"a member", jsonRequest(at, r.addr, `{"price":"secret"}`, key),
					`"/price","detail":"must be a number"`, "",
				},
				{
					"a path that may be read as another", jsonRequest(at+";x", r.addr, `{"price":"secret"}`, key),
					`"/price","detail":"must be a number"`, "",
				},
				{"no JSON", jsonRequest(at, r.addr, `{"price":`, key), `"detail":"must be JSON"`, ""},
				{"none", jsonRequest(at, r.addr, ``, key), `"detail":"is required"`, ""},
				{
					"too large", jsonRequest(at, r.addr, large, key), `"detail":"must be at most 1 MB to be checked"`,
					"",
				},
				{"chunked", chunked(`{"price":1}`), "", `{"price":1}`},
				{"chunked and wrong", chunked(`{"price":"secret"}`), `"/price"`, ""},
				{"gzip", jsonRequest(at, r.addr, good, key, "Content-Encoding: gzip"), "", good},
				{"gzip and wrong", jsonRequest(at, r.addr, packed, key, "Content-Encoding: gzip"), `"/price"`, ""},
				{"another encoding", jsonRequest(at, r.addr, "x", key, "Content-Encoding: gzip",
					"Content-Encoding: br"),
					`{"in":"header","name":"Content-Encoding","detail":"must be gzip or absent"}`, ""},
				{"a type that is not checked",
					request("POST", at, r.addr, key, "Content-Type: application/octet-stream",
						"Content-Length: 3") + "abc", "", "abc"},
				{"another type", request("POST", at, r.addr, key, "Content-Type: text/plain", "Content-Length: 3") +
					"abc", `"Content-Type","detail":"must be one of application/json, application/octet-stream"`, ""},
			} {
				before := len(r.upstreamCalls())
				got := r.raw(tc.bytes)
				calls := r.upstreamCalls()[before:]
				if tc.want != "" {
					r.wantCode(tc.name, got, 422, "invalid_request")
					if !strings.Contains(got.body, tc.want) || strings.Contains(got.body, "secret") || len(calls) > 0 {
						t.Errorf("%s: %s, and the upstream got %v", tc.name, got.body, calls)
					}
					continue
				}
				r.wantCode(tc.name, got, 200, "")
				if len(calls) != 1 || calls[0].body != tc.body {
					t.Errorf("%s: the upstream got %+v", tc.name, calls)
				}
				if strings.HasPrefix(tc.name, "chunked") &&
					(calls[0].length != -1 || calls[0].trailer.Get("X-Sum") != "1") {
					t.Errorf("%s: length %d, trailers %v", tc.name, calls[0].length, calls[0].trailer)
				}
			}
		})
	}
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A caller that asks before it sends its body is told to only if the rest of the request is valid.
func TestValidation_expectContinue(t *testing.T) {
	r := newRig(t, nil, withDocument(snapshot.ValidationEnforce, ""))
	ask := func(media string) (*bufio.Reader, func(string)) {
		conn := r.dial()
		t.Cleanup(func() { _ = conn.Close() })
		send := func(text string) {
			if _, err := io.WriteString(conn, text); err != nil {
				t.Error(err)
			}
		}
		send(request("POST", "/shop/1.0.0/prod/orders", r.addr, "X-API-Key: "+r.key, "Content-Type: "+media,
			"Content-Length: 11", "Expect: 100-continue"))
		return bufio.NewReader(conn), send
	}
	answers, _ := ask("text/plain")
	if got := r.readReply(answers, "POST"); got.StatusCode != 422 {
		t.Errorf("another type: %d", got.StatusCode)
	}
	answers, send := ask("application/json")
	if line, err := answers.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("%q %v", line, err)
	}
	_, _ = answers.ReadString('\n')
	send(`{"price":1}`)
	if got := r.readReply(answers, "POST"); got.StatusCode != 200 || r.lastCall().body != `{"price":1}` {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

// The calls of a connection go on after one that was refused.
func TestValidation_keptConnections(t *testing.T) {
	r := newRig(t, nil, withDocument(snapshot.ValidationEnforce, ""))
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	answers := bufio.NewReader(conn)
	key := "X-API-Key: " + r.key
	for i, want := range []int{422, 200, 422, 200} {
		body := []string{`{"price":""}`, `{"price":1}`}[i%2]
		if _, err := io.WriteString(conn, jsonRequest("/shop/1.0.0/prod/orders", r.addr, body, key)); err != nil {
			t.Fatal(err)
		}
		if got := r.readReply(answers, "POST"); got.StatusCode != want {
			t.Errorf("call %d: %d %s", i, got.StatusCode, got.body)
		}
	}
}

func TestValidation_reported(t *testing.T) {
	for path, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(path, func(t *testing.T) {
			seen := make(chan gateway.Outcome, 10)
			options = append(options, withDocument(snapshot.ValidationReport, ""),
				func(_ *rig, o *gateway.Options) { o.Observer = outcomes{seen} })
			r := newRig(t, nil, options...)
			const at = "/shop/1.0.0/prod/orders"
			key := "X-API-Key: " + r.key
			large := `{"price":1,"note":"` + strings.Repeat("x", validate.MaxBody) + `"}`
			for _, tc := range []struct{ bytes, operation, why string }{
				{request("GET", at+"?limit=secret", r.addr, key), "GET /orders", "query limit must be an integer"},
				{request("GET", at, r.addr, key), "", ""},
				{jsonRequest(at, r.addr, `{"price":"secret"}`, key), "POST /orders", "body /price must be a number"},
				{jsonRequest(at, r.addr, large, key), "POST /orders", "body must be at most 1 MB to be checked"},
			} {
				r.wantCode(tc.why, r.raw(tc.bytes), 200, "")
				got := within(t, "observe", seen)
				if got.InvalidAt != tc.operation || got.InvalidWhy != tc.why {
					t.Errorf("%q %q, want %q %q", got.InvalidAt, got.InvalidWhy, tc.operation, tc.why)
				}
			}
			calls := r.upstreamCalls()
			if last := calls[len(calls)-1]; last.body != large {
				t.Errorf("the upstream got %d bytes of %d", len(last.body), len(large))
			}
		})
	}
}

func TestValidation_explained(t *testing.T) {
	r := newRig(t, nil, withDocument(snapshot.ValidationEnforce, snapshot.PublicationPublic),
		withMode(snapshot.Passthrough))
	q := policy.Question{ProjectID: "prj_shop", Version: "1.0.0", Environment: "prod", Method: "GET"}
	for path, want := range map[string]struct{ denial, step, by string }{
		"/orders/7":     {"", policy.OutcomeSkip, policy.ExplainForward},
		"/orders/x":     {"invalid_request", policy.OutcomeDeny, policy.ExplainValidate},
		"/other":        {"", policy.OutcomeSkip, policy.ExplainForward},
		"/openapi.json": {"", "", policy.ExplainDocument},
	} {
		q.Path = path
		got := r.gateway.Explain(q)
		step := ""
		for _, one := range got.Steps {
			if one.Step == policy.ExplainValidate {
				step = one.Outcome
			}
		}
		if got.Denial.Code != want.denial || step != want.step || got.DecidedBy != want.by ||
			got.Exported != (policy.Denial{}) {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
}

func TestPublishedDocument(t *testing.T) {
	for path, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(path, func(t *testing.T) {
			const at = "/shop/1.0.0/prod/openapi.json"
			public := newRig(t, nil, append(options, withDocument("", snapshot.PublicationPublic))...)
			got := public.get(at, noKey)
			if got.StatusCode != 200 || got.Header.Get("Content-Type") != "application/json" ||
				got.Header.Get("X-Content-Type-Options") != "nosniff" || got.Header.Get("Etag") == "" {
				t.Fatalf("%d %v %s", got.StatusCode, got.Header, got.body)
			}
			var document struct {
				Servers []struct{ URL string }
				Paths   map[string]any
			}
			if err := json.Unmarshal([]byte(got.body), &document); err != nil || len(document.Paths) != 2 {
				t.Fatalf("%v: %s", err, got.body)
			}
			if strings.Contains(got.body, "upstream.example") || len(document.Servers) != 1 ||
				document.Servers[0].URL != "http://"+public.addr+"/shop/1.0.0/prod" {
				t.Errorf("servers: %s", got.body)
			}
			own := public.raw(request("GET", "/openapi.json", ownHost+":8443"))
			if !strings.Contains(own.body, `"url":"http://`+ownHost+`:8443"`) {
				t.Errorf("at its own host: %s", own.body)
			}
			again := public.get(at, noKey, "If-None-Match: \"x\", "+got.Header.Get("Etag"))
			if again.StatusCode != 304 || again.body != "" {
				t.Errorf("unchanged: %d %s", again.StatusCode, again.body)
			}
			head := public.call("HEAD", at, noKey)
			if head.StatusCode != 200 || head.Header.Get("Content-Length") != fmt.Sprint(len(got.body)) {
				t.Errorf("HEAD: %d %v", head.StatusCode, head.Header)
			}
			if n := len(public.upstreamCalls()); n != 0 {
				t.Errorf("the upstream got %d calls", n)
			}
			public.wantCode("POST is the upstream's", public.call("POST", at), 200, "")
			public.wantCode("no other path is open", public.get("/shop/1.0.0/prod/openapi.json/", noKey), 401,
				"credentials_required")

			callers := newRig(t, nil, append(options, withDocument("", snapshot.PublicationCallers))...)
			callers.wantCode("without a key", callers.get(at, noKey), 401, "credentials_required")
			if got := callers.get(at); got.StatusCode != 200 || !strings.Contains(got.body, "Orders") {
				t.Errorf("with a key: %d %s", got.StatusCode, got.body)
			}
			off := newRig(t, nil, append(options, withDocument("", ""))...)
			if got := off.get(at); got.body != "up" {
				t.Errorf("off: %s", got.body)
			}
		})
	}
}

// A version without a document publishes a generated one.
func TestPublishedDocument_generated(t *testing.T) {
	r := newRig(t, nil, withProject(func(p *snapshot.Project) {
		p.DisplayName, p.Versions[0].Publication = "The shop", snapshot.PublicationPublic
		p.CORS = &snapshot.CORS{CORS: contract.CORS{Origins: []string{"https://app.example"}}}
	}))
	got := r.get("/shop/1.0.0/dev/openapi.json", noKey, "Origin: https://app.example")
	for _, want := range []string{`"title":"The shop"`, `/shop/1.0.0/dev"`, `"/{path}"`, `"api_key"`} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %s in %s", want, got.body)
		}
	}
	if got.Header.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("CORS: %v", got.Header)
	}
}

func TestPublish_unknownValidation(t *testing.T) {
	r := newRig(t, nil)
	for name, edit := range testkit.ByName(map[string]func(*snapshot.Version){
		"validation":  func(v *snapshot.Version) { v.Validation = "later" },
		"publication": func(v *snapshot.Version) { v.Publication = "later" },
	}) {
		other := *r.project
		other.Versions = []snapshot.Version{r.project.Versions[0]}
		edit(&other.Versions[0])
		if err := r.gateway.Publish([]*snapshot.Project{&other}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.wantCode("what was published before", r.get("/shop/1.0.0/prod/x"), http.StatusOK, "")
}

// A document is compiled by the first call, not while a table is published. One that cannot be compiled is published
// like any other, and matches no request.
func TestValidation_compiledByCalls(t *testing.T) {
	broken := strings.Replace(ordersDocument, `"maxLength":4`,
		`"pattern":"`+strings.Repeat("a{1000}", 20)+`"`, 1)
	for path, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(path, func(t *testing.T) {
			r := newRig(t, nil, append(options, withProject(func(p *snapshot.Project) {
				v := &p.Versions[0]
				v.OpenAPI, v.Validation = []byte(broken), snapshot.ValidationEnforce
			}))...)
			for _, call := range []string{"/orders", "/not/described"} {
				r.wantCode(call, r.get("/shop/1.0.0/prod"+call), 422, "invalid_request")
			}
		})
	}
}
