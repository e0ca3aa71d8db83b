package domains_test

import (
	"errors"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/testkit/state"
)

func TestCreate_prefix(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p := w.team(t, "shop")
		for _, prefix := range []string{
			"", "/", "/orders", "/v1/orders", "/a-b._~c", "/$metadata", "/grpc.testing.TestService", "/a@b:c",
			"/" + strings.Repeat("a", 199),
		} {
			got, err := w.part(t, p, "shop", prefix)
			if err != nil || got.PathPrefix != strings.TrimSuffix(prefix, "/") || !got.StripPrefix {
				t.Errorf("%q: %v, %+v", prefix, err, got.DomainAddress)
				continue
			}
			if _, err := w.Delete(t.Context(), p, contract.DomainOf("shop", got.ID)); err != nil {
				t.Fatal(err)
			}
		}
		for prefix, want := range map[string]string{
			"orders":                            "Start the prefix with a slash",
			"*":                                 "Start the prefix with a slash",
			"/orders/":                          "Leave out the slash at the end: /orders",
			"/orders//new":                      "dot segments and repeated slashes",
			"//":                                "dot segments and repeated slashes",
			"/orders/../admin":                  "dot segments and repeated slashes",
			"/..":                               "dot segments and repeated slashes",
			"/.":                                "dot segments and repeated slashes",
			"/orders?x=1":                       "the query and the fragment",
			"/orders#x":                         "the query and the fragment",
			"/orders%2Fnew":                     "Percent-encoded",
			"/%6frders":                         "Percent-encoded",
			"/orders%":                          "Percent-encoded",
			"/..%2fadmin":                       "Percent-encoded",
			"/orders;x":                         "semicolons",
			"/orders\\new":                      "backslashes",
			"/b\u00fccher":                      "Percent-encoded",
			"/a b":                              "Use only letters",
			"/{id}":                             "Use only letters",
			"/a\x00":                            "Use only letters",
			"/a\r\nX: y":                        "Use only letters",
			"/" + strings.Repeat("a", 200):      "at most 200",
			"/orders/" + strings.Repeat("/", 3): "dot segments and repeated slashes",
		} {
			_, err := w.part(t, p, "shop", prefix)
			wantField(t, prefix, err, "/path_prefix", want)
		}
	})
}

func TestCreate_methods(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p := w.team(t, "shop")
		got, err := w.part(t, p, "shop", "", "PUT", "OPTIONS", "HEAD", "PURGE")
		if want := "api.example.com:HEAD,OPTIONS,PURGE,PUT"; err != nil || got.Key() != want {
			t.Errorf("%v, %s, want %s", err, got.Key(), want)
		}
		for method, want := range map[string]string{
			"get": "in uppercase letters", "": "in uppercase letters", "G ET": "in uppercase letters",
			"M-SEARCH": "in uppercase letters", "GET\r\n": "in uppercase letters", "GET,POST": "in uppercase letters",
			"*": "Leave out all methods", "CONNECT": "never forwarded", "TRACE": "never forwarded",
			strings.Repeat("A", 21): "in uppercase letters",
		} {
			_, err := w.part(t, p, "shop", "/x", "GET", method)
			wantField(t, method, err, "/methods/1", want)
		}
		_, err = w.part(t, p, "shop", "/x", "GET", "POST", "GET")
		wantField(t, "twice", err, "/methods/2", "listed twice")
		_, err = w.part(t, p, "shop", "/x", strings.Split(strings.Repeat("GET,", 20)+"GET", ",")...)
		wantField(t, "too many", err, "/methods", "at most 20")
	})
}

// wantField requires a refusal of one field that says what to do.
func wantField(t *testing.T, of string, err error, pointer, want string) {
	t.Helper()
	var fields []fault.Field
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		fields = refused.Fields
	}
	if len(fields) != 1 || fields[0].Pointer != pointer || !strings.Contains(fields[0].Detail, want) {
		t.Errorf("%q: %v with %+v, want %s to say %q", of, err, fields, pointer, want)
	}
}
