package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/gateway"
)

func withCORS(c snapshot.CORS) rigOption {
	return withProject(func(p *snapshot.Project) { p.CORS = &c })
}

// corsOf returns the header of a response that CORS is about, in the order of their names.
func corsOf(got *http.Response) string {
	var lines []string
	for name, values := range got.Header {
		if strings.HasPrefix(name, "Access-Control-") || name == "Vary" {
			lines = append(lines, name+": "+strings.Join(values, " | "))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

const (
	appPage   = "Origin: https://app.example"
	otherPage = "Origin: https://other.example"
	adminPage = "Origin: https://admin.example:8443"
)

var (
	severalOrigins = snapshot.CORS{
		CORS: contract.CORS{
			Origins:        []string{"https://app.example"},
			AppOrigins:     true,
			Methods:        []string{"GET", "POST"},
			Headers:        []string{"Content-Type", "X-API-Key"},
			ExposedHeaders: []string{"ETag", "Retry-After"},
			Credentials:    true,
			MaxAge:         new(600),
		},
		FromApps: []string{"https://admin.example:8443"},
	}
	oneOrigin = snapshot.CORS{CORS: contract.CORS{Origins: []string{"https://app.example"}, Methods: []string{"GET"}}}
	oneApp    = snapshot.CORS{CORS: contract.CORS{Origins: []string{"capacitor://localhost"}, Methods: []string{"GET"}}}
	someApps  = snapshot.CORS{
		CORS: contract.CORS{
			Origins: []string{"capacitor://localhost", "chrome-extension://abc"},
			Methods: []string{"GET"},
		},
	}
	anyOrigin = snapshot.CORS{CORS: contract.CORS{Origins: []string{"*"}, Methods: []string{"GET"}, MaxAge: new(0)}}
)

func TestCORS(t *testing.T) {
	upstream := func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "https://upstream.example")
		h.Set("Access-Control-Allow-Credentials", "upstream")
		h.Set("Access-Control-Expose-Headers", "X-Upstream")
		h.Set("Vary", "Accept")
	}
	const passed = "Access-Control-Allow-Credentials: upstream\n"
	for _, tt := range []struct {
		name   string
		cors   snapshot.CORS
		lines  []string
		status int
		want   string
	}{
		{"allowed", severalOrigins, []string{appPage}, 200, "Access-Control-Allow-Credentials: true\n" +
			"Access-Control-Allow-Origin: https://app.example\nAccess-Control-Expose-Headers: ETag,Retry-After\n" +
			"Vary: Accept | Origin"},
		{"an app", oneApp, []string{"Origin: capacitor://localhost"}, 200, passed +
			"Access-Control-Allow-Origin: capacitor://localhost\nAccess-Control-Expose-Headers: X-Upstream\n" +
			"Vary: Accept | Origin"},
		{"an extension", someApps, []string{"Origin: chrome-extension://abc"}, 200, passed +
			"Access-Control-Allow-Origin: chrome-extension://abc\nAccess-Control-Expose-Headers: X-Upstream\n" +
			"Vary: Accept | Origin"},
		{"another port of an app", someApps, []string{"Origin: capacitor://localhost:80"}, 200, passed +
			"Access-Control-Expose-Headers: X-Upstream\nVary: Accept | Origin"},
		{"of an app client", severalOrigins, []string{adminPage}, 200, "Access-Control-Allow-Credentials: true\n" +
			"Access-Control-Allow-Origin: https://admin.example:8443\n" +
			"Access-Control-Expose-Headers: ETag,Retry-After\nVary: Accept | Origin"},
		{"not allowed", severalOrigins, []string{otherPage}, 200, "Access-Control-Allow-Credentials: true\n" +
			"Access-Control-Expose-Headers: ETag,Retry-After\nVary: Accept | Origin"},
		{"no page", severalOrigins, nil, 200, "Access-Control-Allow-Credentials: true\n" +
			"Access-Control-Expose-Headers: ETag,Retry-After\nVary: Accept | Origin"},
		{"refused", severalOrigins, []string{appPage, noKey}, 401, "Access-Control-Allow-Credentials: true\n" +
			"Access-Control-Allow-Origin: https://app.example\nAccess-Control-Expose-Headers: " +
			"ETag,Retry-After\nVary: Origin"},
		{"a default port", severalOrigins, []string{appPage + ":443"}, 200, "Access-Control-Allow-Credentials: true\n" +
			"Access-Control-Allow-Origin: https://app.example\nAccess-Control-Expose-Headers: ETag,Retry-After\n" +
			"Vary: Accept | Origin"},
		{"a prefix", severalOrigins, []string{appPage + ".evil.example"}, 200, "Access-Control-Allow-Credentials: " +
			"true\nAccess-Control-Expose-Headers: ETag,Retry-After\nVary: Accept | Origin"},
		{"one origin", oneOrigin, []string{appPage}, 200, passed +
			"Access-Control-Allow-Origin: https://app.example\nAccess-Control-Expose-Headers: X-Upstream\n" +
			"Vary: Accept | Origin"},
		{"one origin, another page", oneOrigin, []string{otherPage}, 200, passed +
			"Access-Control-Allow-Origin: https://app.example\nAccess-Control-Expose-Headers: X-Upstream\n" +
			"Vary: Accept | Origin"},
		{"any", anyOrigin, []string{otherPage}, 200, passed +
			"Access-Control-Allow-Origin: *\nAccess-Control-Expose-Headers: X-Upstream\nVary: Accept"},
		{"any, refused", anyOrigin, []string{otherPage, noKey}, 401, "Access-Control-Allow-Origin: *"},
		{"left to the upstream", snapshot.CORS{
			CORS: contract.CORS{AppOrigins: true},
		}, []string{otherPage}, 200, passed +
			"Access-Control-Allow-Origin: https://upstream.example\nAccess-Control-Expose-Headers: X-Upstream\nVary: " +
			"Accept"},
		{"left to the upstream, refused", snapshot.CORS{
			CORS: contract.CORS{AppOrigins: true},
		}, []string{otherPage, noKey}, 401, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onBothPaths(t, func(t *testing.T, path rigOption) {
				r := newRig(t, upstream, withCORS(tt.cors), path)
				got := r.get("/shop/1.0.0/prod/orders", tt.lines...)
				if have := corsOf(got.Response); got.StatusCode != tt.status || have != tt.want {
					t.Errorf("%d:\n%s\nwant %d:\n%s", got.StatusCode, have, tt.status, tt.want)
				}
			})
		})
	}
}

func TestPreflights(t *testing.T) {
	const asked, headers = "Access-Control-Request-Method: PUT", "Access-Control-Request-Headers: x-one,x-two"
	for _, tt := range []struct {
		name  string
		cors  snapshot.CORS
		path  string
		lines []string
		want  string // "": it goes to the upstream, or is refused
	}{
		{"allowed", severalOrigins, "/orders", []string{appPage, asked, headers}, "Access-Control-Allow-Credentials: " +
			"true\nAccess-Control-Allow-Headers: Content-Type,X-API-Key\nAccess-Control-Allow-Methods: GET,POST\n" +
			"Access-Control-Allow-Origin: https://app.example\nAccess-Control-Max-Age: 600\nVary: Origin"},
		{"not allowed", severalOrigins, "/orders", []string{otherPage, asked}, "Access-Control-Allow-Credentials: " +
			"true\nAccess-Control-Allow-Headers: Content-Type,X-API-Key\nAccess-Control-Allow-Methods: GET,POST\n" +
			"Access-Control-Max-Age: 600\nVary: Origin"},
		{"one origin", oneOrigin, "/orders", []string{appPage, asked, headers},
			"Access-Control-Allow-Headers: x-one,x-two\nAccess-Control-Allow-Methods: GET\n" +
				"Access-Control-Allow-Origin: https://app.example\nVary: Origin"},
		{"one origin without headers", oneOrigin, "/orders", []string{appPage, asked},
			"Access-Control-Allow-Methods: GET\nAccess-Control-Allow-Origin: https://app.example\nVary: Origin"},
		{"any", anyOrigin, "/orders", []string{otherPage, asked},
			"Access-Control-Allow-Methods: GET\nAccess-Control-Allow-Origin: *\nAccess-Control-Max-Age: 0"},
		{"a path that is refused", anyOrigin, "/x%2f..%2forders", []string{otherPage, asked},
			"Access-Control-Allow-Methods: GET\nAccess-Control-Allow-Origin: *\nAccess-Control-Max-Age: 0"},
		{"without an origin", anyOrigin, "/orders", []string{asked}, ""},
		{"without a method", anyOrigin, "/orders", []string{otherPage}, ""},
		{"left to the upstream", snapshot.CORS{
			CORS: contract.CORS{AppOrigins: true},
		}, "/orders", []string{otherPage, asked}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onBothPaths(t, func(t *testing.T, path rigOption) {
				seen := outcomes{make(chan gateway.Outcome, 1)}
				r := newRig(t, nil, withCORS(tt.cors), path, func(_ *rig, o *gateway.Options) { o.Observer = seen })
				got := r.call("OPTIONS", "/shop/1.0.0/prod"+tt.path, append(tt.lines, noKey)...)
				outcome := within(t, "the outcome", seen.got)
				if tt.want == "" {
					r.wantCode("the call", got, 401, "credentials_required")
					return
				}
				if have := corsOf(got.Response); got.StatusCode != 200 || got.ContentLength != 0 || have != tt.want {
					t.Errorf("%d, %d bytes:\n%s\nwant:\n%s", got.StatusCode, got.ContentLength, have, tt.want)
				}
				if len(r.upstreamCalls()) > 0 {
					t.Error("it reached the upstream")
				}
				if outcome.Step != gateway.StepCORS || outcome.Status != 200 || outcome.Owner != "" ||
					outcome.Code != "" {
					t.Errorf("observed %+v", outcome)
				}
			})
		})
	}
}

// A preflight of a project that has ended is refused, and a page can read why.
func TestPreflights_deletedProject(t *testing.T) {
	r := newRig(t, nil, withCORS(severalOrigins), withProject(func(p *snapshot.Project) { p.Deleted = true }))
	got := r.call("OPTIONS", "/shop/1.0.0/prod/x", appPage, "Access-Control-Request-Method: PUT", noKey)
	r.wantCode("the call", got, 410, "deleted")
	if origin := got.Header.Get("Access-Control-Allow-Origin"); origin != "https://app.example" {
		t.Errorf("origin %q", origin)
	}
}

// Kong answers an empty Access-Control-Request-Headers with an empty line.
func TestPreflights_emptyHeaders(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		r := newRig(t, nil, withCORS(anyOrigin), path)
		got := r.call("OPTIONS", "/shop/1.0.0/prod/x", otherPage, "Access-Control-Request-Method: PUT",
			"Access-Control-Request-Headers:")
		lines := got.Header["Access-Control-Allow-Headers"]
		if got.StatusCode != 200 || len(lines) != 1 || lines[0] != "" {
			t.Errorf("%d, headers %q", got.StatusCode, lines)
		}
	})
}
