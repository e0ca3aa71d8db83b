package kong

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// requestSource is a request as policy.KeyPlaces searches it.
type requestSource struct{ *http.Request }

func (s requestSource) All(name string) []string { return s.Header.Values(name) }

func (s requestSource) First(name string) (string, int) {
	if all := s.All(name); len(all) > 0 {
		return all[0], len(all)
	}
	return "", 0
}

func (s requestSource) Query() string {
	if s.URL.RawQuery == "" {
		return ""
	}
	return "?" + s.URL.RawQuery
}

// placedInput is the sample project, in which keys of version 1.0.0 travel elsewhere.
func placedInput(in ...snapshot.KeyPlace) bundle.Input {
	out := sampleInput()
	out.Project.Versions[0].Access.APIKey.In = in
	return out
}

var placesOfScripts = map[string]snapshot.KeyPlace{
	"header": {Header: "apikey"},
	"prefix": {Header: "Authorization", Prefix: "Bearer"},
	"query":  {Query: "api_key"},
	"cookie": {Cookie: "session"},
}

// Routes have the places of their version, and the messages that name them; those of X-API-Key have neither.
func TestAPIKey_routes(t *testing.T) {
	in := placedInput(snapshot.KeyPlace{Header: "Authorization", Prefix: "Bearer", PrefixOptional: true},
		snapshot.KeyPlace{WebSocketProtocol: true})
	var doc struct {
		Plugins []struct {
			Config struct {
				Routes map[string]struct {
					Environment string
					APIKey      *apiKeyDoc `json:"api_key"`
				}
			}
		}
	}
	text := write(t, in)[gatewayFile]
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	placed := 0
	for id, route := range doc.Plugins[0].Config.Routes {
		if route.APIKey == nil {
			continue
		}
		placed++
		if !slices.Equal(route.APIKey.In, in.Project.Versions[0].Access.APIKey.In) {
			t.Errorf("%s: places %+v", id, route.APIKey.In)
		}
		const required = "Send an API key as Authorization: Bearer or as the WebSocket protocol postern.key.KEY, " +
			"with KEY in base64url."
		if got := route.APIKey.Messages["credentials_required"]; got != required {
			t.Errorf("%s: %q", id, got)
		}
		if route.APIKey.Challenge != `Bearer realm="postern"` || len(route.APIKey.Messages) != 4 {
			t.Errorf("%s: %+v", id, route.APIKey)
		}
	}
	if placed < 4 || placed == len(doc.Plugins[0].Config.Routes) {
		t.Errorf("%d of %d routes have places", placed, len(doc.Plugins[0].Config.Routes))
	}
	if strings.Contains(write(t, sampleInput())[gatewayFile], `"api_key": {`) {
		t.Error("routes say that keys travel in X-API-Key, which is the plugin's default")
	}
}

// verify.sh sends keys where the version reads them, and recognizes the refusals that name the place.
func TestVerifyScript_keyPlaces(t *testing.T) {
	key := sample.Keys()["active"].Plaintext
	for name, place := range placesOfScripts {
		t.Run(name, func(t *testing.T) {
			in := placedInput(place)
			places := policy.CompileKeyPlaces(in.Project.Versions[0].Access.APIKey)
			others, valid := recordedAnswers(t, key), 0
			code, out := replayOf(t, in, func(w http.ResponseWriter, r *http.Request) {
				if !ofPlaced(r) {
					others(w, r)
					return
				}
				found := places.Read(requestSource{r}, false)
				denial := places.Name(policy.CredentialsRequired)
				if found.Sure {
					found.Count, found.Text = found.Count+1, found.Authorization
				}
				switch {
				case found.Count == 1 && found.Text == key:
					valid++
					fmt.Fprint(w, `{"of":"upstream"}`)
					return
				case found.Count > 0:
					denial = policy.InvalidKey
				}
				w.WriteHeader(denial.Status)
				_, _ = w.Write(denial.Body())
			}, "--key", key)
			expect(t, code, 0, out, "0 different")
			if valid != 2 {
				t.Errorf("the key was presented %d times, want once for each form of the address", valid)
			}
		})
	}
}

// ofPlaced reports whether a probe is for version 1.0.0 of the sample project, and not for a path that only begins like
// its own. All custom domains but one lead to that version.
func ofPlaced(r *http.Request) bool {
	return strings.HasSuffix(r.Host, ".example") && r.Host != "open.shop.example" ||
		strings.Contains(r.URL.Path, "/1.0.0/") && !strings.HasSuffix(r.URL.Path, "x")
}

func TestVerifyScript_keyPlaceRefused(t *testing.T) {
	in := placedInput(snapshot.KeyPlace{Header: "apikey"})
	places := policy.CompileKeyPlaces(in.Project.Versions[0].Access.APIKey)
	others := recordedAnswers(t, "")
	code, out := replayOf(t, in, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/open/prod/") {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write(places.Name(policy.CredentialsRequired).Body())
			return
		}
		if ofPlaced(r) {
			denial := places.Name(policy.CredentialsRequired)
			if r.Header.Get("apikey") != "" {
				denial = policy.InvalidKey
			}
			w.WriteHeader(denial.Status)
			_, _ = w.Write(denial.Body())
			return
		}
		others(w, r)
	})
	expect(t, code, 1, out, "open~prod:no_credentials\n- upstream \n+ 401 credentials_required", "1 different")
}

// start.sh checks keys where the version reads them.
func TestStartScript_keyPlaces(t *testing.T) {
	for name, place := range placesOfScripts {
		if place.Prefix != "" {
			continue // the server that plays the gateway reads Authorization as a token
		}
		t.Run(name, func(t *testing.T) {
			in := placedInput(place)
			r := newRigFor(t, in, sample.Keys()["active"].Plaintext, "docker")
			r.places.Store(policy.CompileKeyPlaces(in.Project.Versions[0].Access.APIKey))
			code, out := r.start(t, "ok", "--key", r.key)
			expect(t, code, 0, out, "ok    /1.0.0/prod/ with an unknown key: 401",
				"ok    /1.0.0/prod/ with your key: let through, and the upstream returned 200")
		})
	}
	t.Run("websocket", func(t *testing.T) {
		in := placedInput(snapshot.KeyPlace{WebSocketProtocol: true})
		r := newRigFor(t, in, sample.Keys()["active"].Plaintext, "docker")
		code, out := r.start(t, "ok", "--key", r.key)
		expect(t, code, 0, out, "note  did not check the key: it can only be "+
			"sent in a WebSocket handshake on /1.0.0/prod/")
	})
}

// Revoked keys are in gateway.yaml where Authorization could have one of them: unknown ones may be tokens.
func TestRevoked_export(t *testing.T) {
	revoked := sample.Keys()["revoked"].Hash
	bearer := snapshot.KeyPlace{Header: "authorization", Prefix: "Bearer"}
	withTokens := func(imported bool) bundle.Input {
		in := sampleInput()
		in.Project.ImportedKeys = imported
		in.Project.Versions[0].Access.Methods = []string{snapshot.APIKey, snapshot.JWT}
		return in
	}
	for name, tc := range map[string]struct {
		in   bundle.Input
		want bool
	}{
		"in Authorization":                {placedInput(bearer), true},
		"in another header":               {placedInput(snapshot.KeyPlace{Header: "apikey"}), false},
		"imported, with tokens":           {withTokens(true), true},
		"keys of our own form and tokens": {withTokens(false), false},
	} {
		text := write(t, tc.in)[gatewayFile]
		if has := strings.Contains(text, fmt.Sprintf("\"%x\": \"revoked\"", revoked)); has != tc.want {
			t.Errorf("%s: has the revoked key: %t, want %t", name, has, tc.want)
		}
	}
}

func TestExampleCall(t *testing.T) {
	const address = "http://127.0.0.1:8000/1.0.0/dev/"
	bearer := snapshot.KeyPlace{Header: "Authorization", Prefix: "Bearer"}
	for want, place := range map[string]snapshot.KeyPlace{
		"-H 'X-API-Key: KEY' " + address:                                    {Header: "X-API-Key"},
		"-H 'Authorization: Bearer KEY' " + address:                         bearer,
		"'" + address + "?api_key=KEY'":                                     {Query: "api_key"},
		"-H 'Cookie: session=KEY' " + address:                               {Cookie: "session"},
		"-H 'Sec-WebSocket-Protocol: postern, postern.key.S0VZ' " + address: {WebSocketProtocol: true},
	} {
		if text := write(t, placedInput(place))["gateway/README.md"]; !strings.Contains(text, "curl "+want+"\n") {
			t.Errorf("the README doesn't have %s", want)
		}
	}
}

// Routes of a version that sends metadata say so, and the entries of keys have it if there is such a version.
func TestSendMetadata_export(t *testing.T) {
	in := sampleInput()
	if text := write(t, in)[gatewayFile]; strings.Contains(text, "metadata") {
		t.Error("without the setting, gateway.yaml has metadata")
	}
	in.Project.Versions[0].Access.APIKey.SendMetadata = new(true)
	keys := in.Keys
	in.Keys = func(ctx context.Context) iter.Seq2[snapshot.Key, error] {
		return func(yield func(snapshot.Key, error) bool) {
			for k, err := range keys(ctx) {
				k.Metadata = `{"plan":"gold","city":"Zürich"}`
				if !yield(k, err) {
					return
				}
			}
		}
	}
	var doc struct {
		Plugins []struct {
			Config struct {
				Routes map[string]struct {
					SendMetadata bool `json:"send_metadata"`
				}
				Keys map[string]string
			}
		}
	}
	if err := json.Unmarshal([]byte(write(t, in)[gatewayFile]), &doc); err != nil {
		t.Fatal(err)
	}
	sends := 0
	for _, route := range doc.Plugins[0].Config.Routes {
		if route.SendMetadata {
			sends++
		}
	}
	if sends == 0 || sends == len(doc.Plugins[0].Config.Routes) {
		t.Errorf("%d of %d routes send metadata", sends, len(doc.Plugins[0].Config.Routes))
	}
	const want = " asmetadata=%7B%22plan%22:%22gold%22%2C%22city%22:%22Z%5Cu00fcrich%22%7D consumer="
	for hash, line := range doc.Plugins[0].Config.Keys {
		if !strings.Contains(line, want) {
			t.Errorf("%s: %s", hash, line)
		}
	}
	if len(doc.Plugins[0].Config.Keys) == 0 {
		t.Error("there are no keys")
	}
}
