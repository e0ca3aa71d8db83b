package projects_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/projects"
	"postern/testkit/state"
)

func corsUpdate(project, etag string, in contract.CORS) contract.CORSUpdate {
	return contract.CORSUpdate{
		ProjectPath: contract.ProjectPath{Project: project}, Condition: contract.Condition{IfMatch: etag}, Body: in,
	}
}

func TestCORS(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, owner := w.create(t, authenticated)
		id := created.Project.ID
		if served := w.project(t, id).CORS; served != nil {
			t.Errorf("at first: %+v", served)
		}
		before, err := w.CORS(t.Context(), owner, contract.ProjectPath{Project: id})
		if err != nil {
			t.Fatal(err)
		}
		want := contract.CORS{Origins: []string{"https://app.example"}, Credentials: true, MaxAge: new(600)}
		set, err := w.SetCORS(t.Context(), owner, corsUpdate(id, before.ETag, want))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(set.Methods, projects.CORSMethods) || set.ETag == before.ETag {
			t.Errorf("set: %+v", set)
		}
		served := w.project(t, id).CORS
		if served == nil || !slices.Equal(served.Allowed(), want.Origins) || *served.MaxAge != 600 ||
			!served.Credentials {
			t.Errorf("served: %+v", served)
		}
		again, err := w.CORS(t.Context(), owner, contract.ProjectPath{Project: id})
		if err != nil || again.ETag != set.ETag {
			t.Errorf("read again: %+v, %v", again, err)
		}
		changed := want
		changed.MaxAge = new(601)
		_, err = w.SetCORS(t.Context(), owner, corsUpdate(id, before.ETag, changed))
		if fault.KindOf(err) != fault.KindOf(access.Stale()) {
			t.Errorf("with an old ETag: %v", err)
		}
		aged, err := w.SetCORS(t.Context(), owner, corsUpdate(id, set.ETag, changed))
		if err != nil || aged.ETag == set.ETag {
			t.Errorf("another age: %+v, %v", aged, err)
		}
		if _, err := w.RemoveCORS(t.Context(), owner, contract.CORSRemoval{
			ProjectPath: contract.ProjectPath{Project: id},
		}); err != nil {
			t.Fatal(err)
		}
		if served := w.project(t, id).CORS; served != nil {
			t.Errorf("removed: %+v", served)
		}
	})
}

// Origins of apps and of extensions of browsers are served as they were written.
func TestCORS_apps(t *testing.T) {
	w := newWorld(t, state.OpenSQLite(t))
	created, owner := w.create(t, authenticated)
	apps := []string{
		"capacitor://localhost", "tauri://localhost", "ionic://localhost", "com.example.app://localhost:8100",
		"chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai", "moz-extension://5f0e4c3a-7d1b-4c5e-9a0e-6b1c2d3e4f50",
		"safari-web-extension://0A1B2C3D-0000-4000-8000-0123456789AB",
	}
	allowed := corsUpdate(created.Project.ID, "", contract.CORS{Origins: apps})
	if _, err := w.SetCORS(t.Context(), owner, allowed); err != nil {
		t.Fatal(err)
	}
	if served := w.project(t, created.Project.ID).CORS; !slices.Equal(served.Allowed(), apps) {
		t.Errorf("served: %v", served.Allowed())
	}
}

func TestCORS_refused(t *testing.T) {
	w := newWorld(t, state.OpenSQLite(t))
	created, owner := w.create(t, authenticated)
	origins := func(list ...string) contract.CORS { return contract.CORS{Origins: list} }
	with := func(change func(*contract.CORS)) contract.CORS {
		c := origins("https://app.example")
		change(&c)
		return c
	}
	many := slices.Repeat([]string{"https://app.example"}, 101)
	const first, want, here = "/origins/0 invalid_origin", "https://app.example.com", "send it: https://app.example."
	for name, tt := range map[string]struct {
		in           contract.CORS
		want, detail string
	}{
		"no scheme":         {origins("app.example"), first, want},
		"a path":            {origins("https://app.example/x"), first, here},
		"a slash":           {origins("https://app.example/"), first, here},
		"the second":        {origins("https://a.example", "https://app.example/"), "/origins/1 invalid_origin", here},
		"upper case":        {origins("https://App.Example"), first, here},
		"a default port":    {origins("https://app.example:443"), first, here},
		"a trailing dot":    {origins("https://app.example."), first, here},
		"letters of others": {origins("https://bücher.example"), first, "send it: https://xn--bcher-kva.example."},
		"a user":            {origins("https://me@app.example"), first, here},
		"null":              {origins("null"), first, "sandboxed"},
		"an IPv6 address":   {origins("http://[::1]:3000"), first, "IPv6"},
		"a file":            {origins("file://localhost"), first, want},
		"a web socket":      {origins("wss://app.example"), first, want},
		"an app's scheme":   {origins("com.example.app:/cb"), first, want},
		"an app's path":     {origins("capacitor://localhost/x"), first, "send it: capacitor://localhost."},
		"port 0":            {origins("https://a.example:0"), first, "from 1 to 65535"},
		"a port too large":  {origins("capacitor://localhost:65536"), first, "from 1 to 65535"},
		"filesystem":        {origins("filesystem://localhost"), first, "Use an origin as browsers send it"},
		"an app's user":     {origins("capacitor://me@localhost"), first, "send it: capacitor://localhost."},
		"an app's pattern":  {origins("chrome-extension://*"), first, want},
		"a scheme with +":   {origins("web+app://localhost"), first, want},
		"a pattern":         {origins("https://*.example"), first, want},
		"an underscore":     {origins("https://a_b.example"), first, want},
		"a line break":      {origins("https://app.example\r\nX: y"), first, want},
		"empty":             {origins(""), first, want},
		"twice":             {origins("https://a.example", "https://a.example"), "/origins/1 duplicate", ""},
		"too many":          {origins(many...), "/origins too_many", "100"},
		"any and one":       {origins("*", "https://a.example"), "/origins/0 any_origin", ""},
		"any and apps": {
			contract.CORS{Origins: []string{"*"}, AppOrigins: true}, "/origins/0 any_origin", "",
		},
		"any with cookies": {
			contract.CORS{Origins: []string{"*"}, Credentials: true}, "/origins/0 any_origin_with_credentials", "",
		},
		"no origins": {contract.CORS{Credentials: true}, "/origins required", ""},
		"a method": {
			with(func(c *contract.CORS) { c.Methods = []string{"GET", "get"} }), "/methods/1 invalid_method", "GET",
		},
		"TRACE": {with(func(c *contract.CORS) { c.Methods = []string{"TRACE"} }), "/methods/0 invalid_method", "GET"},
		"a method twice": {
			with(func(c *contract.CORS) { c.Methods = []string{"GET", "GET"} }), "/methods/1 duplicate", "",
		},
		"a header": {with(func(c *contract.CORS) { c.Headers = []string{"a b"} }), "/headers/0 invalid_header", ""},
		"a header twice": {
			with(func(c *contract.CORS) { c.ExposedHeaders = []string{"ETag", "etag"} }),
			"/exposed_headers/1 duplicate", "",
		},
		"any header and one": {
			with(func(c *contract.CORS) { c.Headers = []string{"*", "A"} }), "/headers/0 any_header", "",
		},
		"any header with cookies": {
			with(func(c *contract.CORS) { c.Headers, c.Credentials = []string{"*"}, true }),
			"/headers/0 any_header_with_credentials", "",
		},
		"an age":       {with(func(c *contract.CORS) { c.MaxAge = new(-1) }), "/max_age out_of_range", "86,400"},
		"too long age": {with(func(c *contract.CORS) { c.MaxAge = new(86401) }), "/max_age out_of_range", "86,400"},
	} {
		_, err := w.SetCORS(t.Context(), owner, corsUpdate(created.Project.ID, "", tt.in))
		refusal, ok := errors.AsType[*fault.Error](err)
		if !ok || len(refusal.Fields) == 0 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := refusal.Fields[0]
		if got.Pointer+" "+got.Code != tt.want || !strings.Contains(got.Detail, tt.detail) {
			t.Errorf("%s: %+v, want %s with %q", name, got, tt.want, tt.detail)
		}
	}
}
