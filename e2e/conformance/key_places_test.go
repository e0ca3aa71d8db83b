//go:build conformance

package conformance

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// placedVersions are versions whose keys travel elsewhere, by their names.
var placedVersions = []struct {
	name string
	in   []snapshot.KeyPlace
}{
	{"header", []snapshot.KeyPlace{{Header: "apikey"}}},
	{"underscore", []snapshot.KeyPlace{{Header: "api_key"}}},
	{"bearer", []snapshot.KeyPlace{{Header: "Authorization", Prefix: "Bearer"}}},
	{"either", []snapshot.KeyPlace{{Header: "Authorization", Prefix: "Bearer", PrefixOptional: true}}},
	{"touching", []snapshot.KeyPlace{{Header: "X-Key", Prefix: "key="}}},
	{"query", []snapshot.KeyPlace{{Query: "api_key"}}},
	{"changed", []snapshot.KeyPlace{{Query: "api_key"}, {Header: "apikey"}}}, // with transforms
	{"cookie", []snapshot.KeyPlace{{Cookie: "session"}}},
	{"protocol", []snapshot.KeyPlace{{WebSocketProtocol: true}}},
	{"several", []snapshot.KeyPlace{
		{Header: "apikey"}, {Query: "api_key"}, {Header: "Authorization", Prefix: "Bearer"},
	}},
}

func placedProject(target string) (*snapshot.Project, map[string]sample.Plain) {
	project, keys := sample.Fresh(target, sample.RequiresKeys())
	first := project.Versions[0]
	for i, one := range placedVersions {
		v := first
		v.ID, v.Name = fmt.Sprintf("ver_%d", 100+i), one.name
		v.Access.APIKey.In = one.in
		v.Environments = slices.Clone(first.Environments)
		for j := range v.Environments {
			v.Environments[j].ID = fmt.Sprintf("env_%d", 100+10*i+j)
			v.Environments[j].Domains = nil
		}
		if one.name == "changed" {
			v.Transforms = snapshot.Transforms{
				Query:   snapshot.Changes{Rename: []string{"api_key:stolen"}, Add: []string{"added:1"}},
				Request: snapshot.Changes{Rename: []string{"apikey:X-Stolen"}},
			}
		}
		project.Versions = append(project.Versions, v)
	}
	return project, keys
}

// placedCases send a key to every version in every place.
func placedCases(k string) (out []Case) {
	encoded := base64.RawURLEncoding.EncodeToString([]byte(k))
	for _, v := range placedVersions {
		at := "/" + v.name + "/prod"
		add := func(name, query string, lines ...string) {
			out = append(out, get(v.name+", "+name, at+"/x"+query, lines...))
		}
		add("nothing", "")
		add("nothing with others", "?a=1&API_KEY=x", "Cookie: a=1; b=2", "Authorization: Basic eDp5", "X-Other: 1")
		add("X-API-Key", "", "X-API-Key: "+k)
		add("apikey", "", "apikey: "+k)
		add("apikey in capitals", "", "APIKEY:  "+k+" ")
		add("apikey twice", "", "apikey: "+k, "apikey: "+k)
		add("a wrong apikey", "", "apikey: none")
		add("an empty apikey", "", "apikey:")
		add("api_key", "", "api_key: "+k)
		add("api-key", "", "api-key: "+k)
		add("a prefix", "", "X-Key: KEY="+k)
		add("a prefix and a blank", "", "X-Key: key= "+k)
		add("no prefix", "", "X-Key: "+k)
		add("bearer", "", "Authorization: Bearer "+k)
		add("bearer in capitals with blanks", "", "Authorization: BEARER   "+k)
		add("bearer alone", "", "Authorization: Bearer")
		add("bearer and no blank", "", "Authorization: Bearer"+k)
		add("bearer of a token", "", "Authorization: Bearer a.b.c")
		add("authorization", "", "Authorization: "+k)
		add("another scheme with a key", "", "Authorization: ApiKey "+k)
		out = append(out, differs([]Case{
			get(v.name+", authorization twice", at+"/x", "Authorization: Bearer "+k, "Authorization: Bearer "+k),
		}, RefusedTwice)...)
		add("apikey and a foreign authorization", "", "apikey: "+k, "Authorization: Bearer a.b.c")
		add("apikey and the same in authorization", "", "apikey: "+k, "Authorization: Bearer "+k)
		add("X-API-Key and the same in authorization", "", "X-API-Key: "+k, "Authorization: "+k)
		add("apikey and the same in X-API-Key", "", "apikey: "+k, "X-API-Key: "+k)
		add("apikey and another X-API-Key", "", "apikey: "+k, "X-API-Key: of-the-upstream")
		add("X-API-Key after a scheme", "", "apikey: "+k, "X-API-Key: Key "+k)
		add("query and the same in X-API-Key", "?api_key="+k, "X-API-Key: "+k)
		add("cookie and the same in X-API-Key", "", "Cookie: session="+k, "X-API-Key: "+k)
		add("bearer and the same in X-API-Key", "", "Authorization: Bearer "+k, "X-API-Key: "+k)
		add("apikey and a parameter", "?api_key="+k, "apikey: "+k)
		add("apikey and a cookie", "", "apikey: "+k, "Cookie: session="+k)
		for n, query := range []string{
			"?api_key=KEY", "?api_key=KEY&a=%2f+b", "?a=1&api_key=KEY", "?a&api_key=KEY&b=&=c&&d=%zz&%41=1",
			"?api%5Fkey=KEY",
			"?api_key=KEY&api_key=KEY", "?api_key=", "?api_key", "?api_key=none", "?api_key=KEY?",
			"?api_key=KEY&?", "?",
			"?api_key=KEY&q=\xc3\xa4", "?q=!$'()*,-._~;:@[]{}|^`%22%5C&api_key=KEY", "?&api_key=KEY",
			"?api_key=KEY&", "?a=1;api_key=KEY", "?api_key[]=KEY", "?Api_Key=KEY",
		} {
			add(fmt.Sprintf("query %d", n), strings.ReplaceAll(query, "KEY", k))
		}
		for n, line := range []string{
			"Cookie: session=KEY", "Cookie: a=1; session=KEY", "Cookie: session=KEY; b=2",
			"Cookie: a=1; session=KEY; b=2",
			"Cookie: a=1;session=KEY;b=2", "Cookie: session=KEY; session=KEY", "Cookie: session=", "Cookie: session",
			"Cookie: session=\"KEY\"", "Cookie: SESSION=KEY", "Cookie: a=\"x; y\"; session=KEY",
		} {
			add(fmt.Sprintf("cookie %d", n), "", strings.ReplaceAll(line, "KEY", k))
		}
		add("cookies in two lines", "", "Cookie: a=1", "Cookie: session="+k)
		for n, offer := range []string{
			"postern, postern.key.KEY64", "postern.key.KEY64", "chat, postern.key.KEY64",
			"postern,chat,postern.key.KEY64",
			"postern.key.KEY64, postern.key.KEY64", "postern.key.none, postern", "postern.key.KEY64==, postern", "chat",
		} {
			line := "Sec-WebSocket-Protocol: " + strings.ReplaceAll(offer, "KEY64", encoded)
			add(fmt.Sprintf("protocol %d without an upgrade", n), "", line)
			out = append(out, websocket(fmt.Sprintf("%s, protocol %d", v.name, n), at+"/ws", line))
		}
		out = append(out, websocket(v.name+", a WebSocket with apikey", at+"/ws", "apikey: "+k))
	}
	return out
}

// Keys are read in the same places, refused in the same words, and never reach an upstream.
func TestConformanceKeyPlaces(t *testing.T) {
	up := newUpstream(t)
	project, keys := placedProject(up.url)
	folder := exportOf(t, project, keys, bundle.Options{Consumers: true})
	kong, _ := startKong(t, folder, up)
	cases := placedCases(keys["active"].Plaintext)
	if len(cases) < 500 {
		t.Errorf("%d requests", len(cases))
	}
	run(t, cases, declarations(t, folder), startPosternOf(t, up, project, keys), kong)
}
