package projects

import (
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
)

func TestCheckKeyPlaces(t *testing.T) {
	header := func(name string) contract.KeyPlace { return contract.KeyPlace{Header: name} }
	many := make([]contract.KeyPlace, contract.MostKeyPlaces+1)
	for i := range many {
		many[i] = header("X-Key-" + strings.Repeat("a", i+1))
	}
	for name, tc := range map[string]struct {
		in    []contract.KeyPlace
		wrong []string // pointer and code
	}{
		"left out":    {},
		"the default": {in: []contract.KeyPlace{header("x-api-key")}},
		"each kind": {in: []contract.KeyPlace{
			{Header: "Authorization", Prefix: "Bearer", PrefixOptional: true}, {Query: "api_key"}, {Cookie: "session"},
			{WebSocketProtocol: true},
		}},
		"as many as possible": {in: many[:contract.MostKeyPlaces]},
		"none":                {in: []contract.KeyPlace{}, wrong: []string{"/a/api_key/in required"}},
		"too many":            {in: many, wrong: []string{"/a/api_key/in too_many"}},
		"an empty entry":      {in: []contract.KeyPlace{{}}, wrong: []string{"/a/api_key/in/0 invalid_place"}},
		"two members": {
			in:    []contract.KeyPlace{header("apikey"), {Header: "a", Query: "b"}},
			wrong: []string{"/a/api_key/in/1 invalid_place"},
		},
		"a header twice": {
			in:    []contract.KeyPlace{header("api-key"), {Header: "API_Key", Prefix: "Token"}},
			wrong: []string{"/a/api_key/in/1 duplicate"},
		},
		"a protocol twice": {
			in:    []contract.KeyPlace{{WebSocketProtocol: true}, {WebSocketProtocol: true}},
			wrong: []string{"/a/api_key/in/1 duplicate"},
		},
		"names of which case counts": {in: []contract.KeyPlace{{Query: "key"}, {Query: "KEY"}, {Cookie: "key"}}},
		"headers of ours": {
			in: []contract.KeyPlace{header("X-Consumer-ID"), header("Cookie"), header("Content-Type")},
			wrong: []string{"/a/api_key/in/0/header invalid_header", "/a/api_key/in/1/header invalid_header",
				"/a/api_key/in/2/header invalid_header"},
		},
		"a header that isn't a token": {
			in: []contract.KeyPlace{header("a b")}, wrong: []string{"/a/api_key/in/0/header invalid_header"},
		},
		"a parameter": {
			in: []contract.KeyPlace{{Query: "a&b"}}, wrong: []string{"/a/api_key/in/0/query invalid_query"},
		},
		"cookies": {
			in: []contract.KeyPlace{{Cookie: "a=b"}, {Cookie: "postern"}},
			wrong: []string{
				"/a/api_key/in/0/cookie invalid_cookie", "/a/api_key/in/1/cookie invalid_cookie",
			},
		},
		"prefixes": {
			in: []contract.KeyPlace{
				{Header: "a", Prefix: "Bearer "}, {Header: "b", Prefix: `"`},
				{Header: "c", Prefix: strings.Repeat("a", 33)},
				{Query: "d", Prefix: "Bearer"}, {Header: "e", PrefixOptional: true},
			},
			wrong: []string{
				"/a/api_key/in/0/prefix invalid_prefix", "/a/api_key/in/1/prefix invalid_prefix",
				"/a/api_key/in/2/prefix invalid_prefix", "/a/api_key/in/3/prefix invalid_prefix",
				"/a/api_key/in/4/prefix_optional invalid_prefix",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			auth := contract.RequestsAuth{APIKey: contract.APIKeyAuth{In: tc.in}}
			var wrong []string
			for _, f := range checkKeyPlaces(&auth, "/a") {
				wrong = append(wrong, f.Pointer+" "+f.Code)
				if f.Detail == "" {
					t.Errorf("%s: no detail", f.Pointer)
				}
			}
			if !slices.Equal(wrong, tc.wrong) {
				t.Errorf("refused %q, want %q", wrong, tc.wrong)
			}
			if isDefault := name == "the default" || name == "left out"; (auth.APIKey.In == nil) != isDefault {
				t.Errorf("kept as %+v", auth.APIKey.In)
			}
		})
	}
}

func TestQueryWarning(t *testing.T) {
	v := contract.Version{Name: "1.0.0", RequestsAuth: contract.RequestsAuth{
		Methods: []string{contract.MethodAPIKey},
		APIKey:  contract.APIKeyAuth{In: []contract.KeyPlace{{Header: "apikey"}}},
	}}
	if got := queryWarning(v); got != "" {
		t.Errorf("a header: %q", got)
	}
	v.RequestsAuth.APIKey.In = append(v.RequestsAuth.APIKey.In, contract.KeyPlace{Query: "api_key"})
	if got := queryWarning(v); !strings.Contains(got, "(api_key)") || !strings.Contains(got, "1.0.0") {
		t.Errorf("a query: %q", got)
	}
	v.RequestsAuth.Methods = nil
	if got := queryWarning(v); got != "" {
		t.Errorf("without keys: %q", got)
	}
}

// A version that doesn't send metadata doesn't say so, and one without keys can't send it.
func TestSendMetadata(t *testing.T) {
	for name, tc := range map[string]struct {
		send    *bool
		methods []string
		kept    bool
		wrong   string
	}{
		"left out":      {methods: []string{"api_key"}},
		"false":         {send: new(false), methods: []string{"api_key"}},
		"true":          {send: new(true), methods: []string{"api_key"}, kept: true},
		"without keys":  {send: new(true), methods: []string{"jwt"}, kept: true, wrong: "/a/api_key/send_metadata"},
		"false, no key": {send: new(false), methods: []string{"jwt"}},
	} {
		t.Run(name, func(t *testing.T) {
			asked := contract.APIKeyAuth{SendMetadata: tc.send}
			auth := contract.RequestsAuth{Methods: tc.methods, APIKey: asked}
			var wrong []string
			for _, f := range append(checkKeyPlaces(&auth, "/a"), needsAPIKey(asked, auth, "/a")...) {
				wrong = append(wrong, f.Pointer)
			}
			if got := strings.Join(wrong, " "); got != tc.wrong {
				t.Errorf("errors at %q, want %q", got, tc.wrong)
			}
			if kept := auth.APIKey.SendMetadata != nil; kept != tc.kept {
				t.Errorf("it says whether metadata is sent: %t", kept)
			}
		})
	}
}
