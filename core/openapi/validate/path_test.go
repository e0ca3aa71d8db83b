package validate_test

import (
	"fmt"
	"strings"
	"testing"
)

// A call is for the operation that a rule for the same path and method would be for.
func TestFind_mostSpecific(t *testing.T) {
	t.Parallel()
	v := compile(t, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{
		"/items/new":{"get":{}}, "/items/{id}":{"get":{},"post":{}}, "/x/{a}.json":{"get":{}}, "/x/ab{c}":{"get":{}},
		"/x/{a}.tar.gz":{"get":{}}, "/x/{a}.gz":{"get":{}}}}`)
	for call, want := range map[string]string{
		"GET /items/new":  "GET /items/new",
		"HEAD /items/new": "GET /items/new",
		"POST /items/new": "POST /items/{id}",
		"PUT /items/new":  "",
		"GET /items/new/": "GET /items/new",
		"GET /x/abc.json": "GET /x/ab{c}",
		"GET /x/1.json":   "GET /x/{a}.json",
		"GET /x/1.tar.gz": "GET /x/{a}.tar.gz",
	} {
		method, path, _ := strings.Cut(call, " ")
		m, found := v.Find(method, path)
		if found != (want != "") || found && m.Name != want {
			t.Errorf("%s: %+v %v, want %q", call, m.Operation, found, want)
		}
	}
}

// A path that takes too long to compare with the document's is not let through unchecked.
func TestFind_bounded(t *testing.T) {
	t.Parallel()
	var paths []string
	for i := range 2000 {
		paths = append(paths, fmt.Sprintf(`"/{a}%s%d{b}%d":{"get":{}}`, strings.Repeat("x", 80), i, i))
	}
	v := compile(t, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{`+strings.Join(paths, ",")+`}}`)
	long := "/" + strings.Repeat("x", 15_000)
	m, found := v.Find("GET", long+"y")
	if got := said(m.Path(newWork(t))); !found || !strings.Contains(got, "too long") {
		t.Errorf("%v %q, want that it is too long", found, got)
	}
	if _, found := v.Find("GET", "/short"); found {
		t.Error("/short is described")
	}
}
